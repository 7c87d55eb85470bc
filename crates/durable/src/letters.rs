//! Messages that earlier processes have left, and those that could not be delivered.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coact_core::Promise;
use coact_core::runtime::spawn_future;
use coact_persist::{EntityId, Event, Note, NoteKey, NoteKind, Notes, Refusal, StoreError};

use crate::access::{Access, ask};
use crate::journal::Journal;
use crate::outbox::Outbox;
use crate::outgoing::{StoredMessage, now, rank_of};

impl Journal {
    /// Goes on with what earlier processes have left: has messages delivered that wait for that, and timers set. To be called once, when a
    /// program has made its journal; where several processes use a store, in the one that is to deliver. Tells how many there
    /// are. What is left to be delivered by decisions from this call on comes behind that.
    ///
    /// # Errors
    /// What the store says. [`StoreError::CorruptNote`] names the first one that was damaged: messages of its entity behind it stay where they are,
    /// and all else is gone on with. (A store that cannot be reached is waited for.)
    pub fn resume(&self) -> Promise<Result<Resumed, StoreError>> {
        let (access, outbox) = (Arc::clone(&self.0.access), Arc::clone(&self.0.outbox));
        // From now on, not only when it is its turn.
        let resuming = outbox.begin_resuming();
        spawn_future(async move {
            let resumed = read_all(&access, &outbox).await;
            resuming.end();
            resumed
        })
    }

    /// Reads messages that could not be delivered, the oldest first: those that have failed [too often](crate::JournalBuilder::attempts), and those that cannot be
    /// read.
    ///
    /// # Errors
    /// What the store says.
    pub fn dead_letters(&self, most: usize) -> Promise<Result<Vec<DeadLetter>, StoreError>> {
        let access = Arc::clone(&self.0.access);
        spawn_future(async move {
            let which = Notes::Ranked { kind: NoteKind::DeadLetter, after: None, up_to: u64::MAX };
            let notes = ask(|done| access.store().notes(which, most, done)).await?;
            Ok(notes.into_iter().filter_map(DeadLetter::of).collect())
        })
    }

    /// Has a dead letter delivered once more.
    ///
    /// # Errors
    /// [`Refusal::Gone`], if that was done already, or it was [discarded](Self::discard); or what the store says.
    pub fn redeliver(&self, letter: &DeadLetter) -> Promise<Result<(), Refusal>> {
        let (outbox, dead) = (Arc::clone(&self.0.outbox), letter.note.clone());
        let outgoing = Note { kind: NoteKind::Outgoing, rank: rank_of(now()), ..dead.clone() };
        spawn_future(async move {
            outbox.exchange(vec![dead.id()], vec![outgoing.clone()]).await?;
            outbox.add(outgoing);
            Ok(())
        })
    }

    /// Removes a dead letter.
    ///
    /// # Errors
    /// As [`redeliver`](Self::redeliver).
    pub fn discard(&self, letter: &DeadLetter) -> Promise<Result<(), Refusal>> {
        let (outbox, dead) = (Arc::clone(&self.0.outbox), letter.note.id());
        spawn_future(async move { outbox.exchange(vec![dead], Vec::new()).await })
    }
}

/// Damage is told when all else was taken over: what is sound of others does not wait for it.
async fn read_all(access: &Access, outbox: &Arc<Outbox>) -> Result<Resumed, StoreError> {
    let mut resumed = Resumed { messages: 0, timers: 0, unknown: Vec::new() };
    let mut damage = None;
    for kind in [NoteKind::Outgoing, NoteKind::Timer] {
        let (mut after, mut most) = (None, PAGE);
        // Of these a message is damaged: those behind it keep their order, and stay as well.
        let mut held_up = HashSet::new();
        loop {
            let which = Notes::Ranked { kind, after: after.clone(), up_to: u64::MAX };
            let read = |done| access.store().notes(which.clone(), most, done);
            let page = match access.ask_again(read).await {
                // One by one, up to the damaged one, ..
                Err(StoreError::CorruptNote { .. }) if most > 1 => {
                    most = 1;
                    continue;
                }
                // .. and from behind that on.
                Err(StoreError::CorruptNote { note, why }) => {
                    let place = place_of(&note);
                    // It is not where it says, so that nothing is known of what is behind it.
                    if after.as_ref().is_some_and(|before| *before >= place) {
                        return Err(damage.unwrap_or(StoreError::CorruptNote { note, why }));
                    }
                    tracing::error!(entity = %note.entity, key = ?note.key, "a message is damaged, and stays: {why}");
                    (after, most) = (Some(place), PAGE);
                    held_up.insert(note.entity.clone());
                    damage.get_or_insert(StoreError::CorruptNote { note, why });
                    continue;
                }
                page => page?,
            };
            let Some(last) = page.last() else { break };
            after = Some(place_of(last));
            let is_held_up =
                |note: &Note| kind == NoteKind::Outgoing && held_up.contains(&note.entity);
            for note in page.into_iter().filter(|note| !is_held_up(note)) {
                match kind {
                    NoteKind::Timer => resumed.timers += 1,
                    _ => resumed.messages += 1,
                }
                let unknown = outbox.unknown(&note).filter(|name| !resumed.unknown.contains(name));
                resumed.unknown.extend(unknown);
                outbox.resume(note);
            }
        }
    }
    damage.map_or(Ok(resumed), Err)
}

/// By what notes of a kind are ordered.
fn place_of(note: &Note) -> (u64, EntityId, NoteKey) {
    (note.rank, note.entity.clone(), note.key.clone())
}

/// How many notes are read at once.
const PAGE: usize = 256;

/// What earlier processes have left.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Resumed {
    /// How many messages are to be delivered.
    pub messages: usize,
    /// How many timers are set.
    pub timers: usize,
    /// The names of those messages which this journal was not told who [receives](crate::JournalBuilder::receives), or how to
    /// [publish](crate::JournalBuilder::publishes): they stay where they are.
    pub unknown: Vec<String>,
}

/// A message that could not be delivered.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The entity that has left it.
    pub from: EntityId,
    /// The one that was to receive it; `None` if it was to be [published](crate::Durable::publish).
    pub to: Option<EntityId>,
    /// The message, which [`read`](crate::read) reads.
    pub message: Event,
    /// Why it could not be delivered the last time.
    pub why: String,
    /// When that was.
    pub since: SystemTime,
    note: Note,
}

impl DeadLetter {
    fn of(note: Note) -> Option<Self> {
        let stored = StoredMessage::of(&note).ok()?;
        let (from, to, message) = (note.entity.clone(), stored.to(), stored.message());
        let since = UNIX_EPOCH + Duration::from_millis(note.rank);
        Some(Self { from, to, message, why: stored.why().into(), since, note })
    }
}

//! Messages that earlier processes have left, and those that could not be delivered.

use std::collections::HashSet;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coact_core::Promise;
use coact_core::runtime::spawn_future;
use coact_persist::{
    CommitRefusal, EntityId, Event, Note, NoteId, NoteKind, Position, StoreError, date,
};

use crate::journal::Journal;
use crate::ordered_notes::{DamagedNote, OrderedNotes, PAGE};
use crate::outbox::{Outbox, PendingMessage};
use crate::store_client::StoreClient;
use crate::stored_message::{StoredMessage, present_rank};

impl Journal {
    /// Goes on with what earlier processes have left: has messages delivered that wait for that,
    /// and timers set. To be called once, when a program has made its journal; where several
    /// processes use a store, in the one that is to deliver. Tells how many there are. What is left
    /// to be delivered by decisions from this call on comes behind that.
    ///
    /// # Errors
    /// What the store says. [`StoreError::CorruptNote`] names the first message or timer that is
    /// damaged, or cannot be read; others are logged. Each stays in the store as it is, and so do
    /// messages of the same entity behind a damaged one. Everything else goes on. (A store that
    /// cannot be reached is waited for, as long as there is a handle of the journal, or an address
    /// of one of its actors.)
    pub fn resume(&self) -> Promise<Result<ResumeReport, StoreError>> {
        let (client, outbox) = (Arc::clone(&self.0.client), Arc::clone(&self.0.outbox));
        // From now on, not only when it is its turn.
        let resuming = outbox.begin_resuming();
        spawn_future(async move {
            let resumed = read_all(&client, &outbox).await;
            resuming.end();
            resumed
        })
    }

    /// Reads messages that could not be delivered, the oldest first, and `most` at most: those that
    /// have failed [too often](crate::JournalBuilder::attempts), and those that cannot be read. One
    /// that was damaged in the store is told by itself, and can be [discarded](Self::discard).
    ///
    /// ```
    /// use coact::durable::{Journal, MemoryStore};
    ///
    /// let journal = Journal::new(MemoryStore::new());
    /// for letter in journal.dead_letters(100).wait()?? {
    ///     match letter {
    ///         Ok(letter) => journal.redeliver(&letter).wait()??,
    ///         Err(damaged) => eprintln!("{damaged}"),
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What the store says.
    pub fn dead_letters(
        &self,
        most: usize,
    ) -> Promise<Result<Vec<Result<DeadLetter, DamagedLetter>>, StoreError>> {
        let client = Arc::clone(&self.0.client);
        spawn_future(async move {
            let mut notes = OrderedNotes::new(&client, NoteKind::DeadLetter, false);
            let mut letters = Vec::new();
            while letters.len() < most {
                let found = notes.next(most - letters.len()).await?;
                if found.is_empty() {
                    break;
                }
                letters.extend(found.into_iter().map(DeadLetter::of));
            }
            Ok(letters)
        })
    }

    /// Delivers a dead letter once more.
    ///
    /// # Errors
    /// [`CommitRefusal::Gone`], if that was done already, or it was [discarded](Self::discard); or
    /// what the store says.
    pub fn redeliver(&self, letter: &DeadLetter) -> Promise<Result<(), CommitRefusal>> {
        let (outbox, dead) = (Arc::clone(&self.0.outbox), letter.note.clone());
        let outgoing = Note { kind: NoteKind::Outgoing, rank: present_rank(), ..dead.clone() };
        let client = Arc::clone(&self.0.client);
        spawn_future(async move {
            client.open_store().map_err(CommitRefusal::Store)?;
            let message = PendingMessage::new(&outbox, outgoing.clone());
            outbox.exchange(vec![dead.id()], vec![outgoing]).await?;
            message.deliver();
            Ok(())
        })
    }

    /// Removes a dead letter, or a damaged one.
    ///
    /// # Errors
    /// As [`redeliver`](Self::redeliver).
    pub fn discard(&self, letter: &impl AsRef<NoteId>) -> Promise<Result<(), CommitRefusal>> {
        let (outbox, dead) = (Arc::clone(&self.0.outbox), letter.as_ref().clone());
        let client = Arc::clone(&self.0.client);
        spawn_future(async move {
            client.open_store().map_err(CommitRefusal::Store)?;
            outbox.exchange(vec![dead], Vec::new()).await.map(drop)
        })
    }
}

/// Takes over what is sound. Damage is told when that is done: what is sound of others does not
/// wait for it.
async fn read_all(client: &StoreClient, outbox: &Arc<Outbox>) -> Result<ResumeReport, StoreError> {
    let mut resumed = ResumeReport { messages: 0, timers: 0, unknown: Vec::new() };
    let mut damage = None;
    for kind in [NoteKind::Outgoing, NoteKind::Timer] {
        let read = read_kind(client, outbox, kind, &mut resumed).await;
        damage = damage.or(read.err());
    }
    damage.map_or(Ok(resumed), Err)
}

/// Takes over the messages, or the timers. Fails with the first damage when it has.
async fn read_kind(
    client: &StoreClient,
    outbox: &Arc<Outbox>,
    kind: NoteKind,
    resumed: &mut ResumeReport,
) -> Result<(), StoreError> {
    // Before they are read: what they say is of this position, or newer.
    let position = client.ask_again(|store, done| store.position(done)).await?;
    let mut notes = OrderedNotes::new(client, kind, true);
    let mut damage = None;
    // Of these a message is damaged: those behind it keep their order, and stay as well.
    let mut held_up = HashSet::new();
    loop {
        let found = match notes.next(PAGE).await {
            Ok(found) if found.is_empty() => break,
            Ok(found) => found,
            Err(error) => return Err(damage.unwrap_or(error)),
        };
        for found in found {
            match found.and_then(|note| parse_message_note(note).map(|(note, _)| note)) {
                Ok(note) if held_up.contains(&note.entity) => {}
                Ok(note) => resumed.take_over(note, position, outbox),
                Err(DamagedNote { note, why }) => {
                    tracing::error!(entity = %note.entity, key = ?note.key, "a message is damaged, and stays: {why}");
                    if kind == NoteKind::Outgoing {
                        held_up.insert(note.entity.clone());
                    }
                    damage.get_or_insert(StoreError::CorruptNote { note, why });
                }
            }
        }
    }
    damage.map_or(Ok(()), Err)
}

/// Reads the message in a note.
fn parse_message_note(note: Note) -> Result<(Note, StoredMessage), DamagedNote> {
    match StoredMessage::of(&note) {
        Ok(message) => Ok((note, message)),
        Err(error) => Err(DamagedNote { note: Box::new(note), why: error.to_string() }),
    }
}

/// What earlier processes have left.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ResumeReport {
    /// How many messages are to be delivered.
    pub messages: usize,
    /// How many timers are set.
    pub timers: usize,
    /// The names of those messages which this journal was not told who
    /// [receives](crate::JournalBuilder::receives), or how to
    /// [publish](crate::JournalBuilder::publishes): they stay where they are.
    pub unknown: Vec<String>,
}

impl ResumeReport {
    fn take_over(&mut self, note: Note, position: Position, outbox: &Arc<Outbox>) {
        match note.kind {
            NoteKind::Timer => self.timers += 1,
            _ => self.messages += 1,
        }
        let unknown = outbox.unknown(&note).filter(|name| !self.unknown.contains(name));
        self.unknown.extend(unknown);
        match note.kind {
            NoteKind::Timer => outbox.resume_timer(note, position),
            _ => outbox.resume_message(note),
        }
    }
}

impl Display for ResumeReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { messages, timers, unknown } = self;
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (s, t) = (plural(*messages), plural(*timers));
        write!(f, "earlier processes have left {messages} message{s} and {timers} timer{t}")?;
        for (at, name) in unknown.iter().enumerate() {
            write!(f, "{}`{name}`", if at == 0 { "; this journal does not know " } else { ", " })?;
        }
        Ok(())
    }
}

/// A message that could not be delivered.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The entity that has left it.
    pub from: EntityId,
    /// The one that was to receive it; `None` if it was to be [published](crate::Durable::publish).
    pub to: Option<EntityId>,
    /// The message, which [`read`](crate::store::read) reads.
    pub message: Event,
    /// Why it could not be delivered the last time.
    pub why: String,
    /// When that was.
    pub since: SystemTime,
    note: Note,
    id: NoteId,
}

impl DeadLetter {
    fn of(found: Result<Note, DamagedNote>) -> Result<Self, DamagedLetter> {
        let (note, stored) = found.and_then(parse_message_note)?;
        let (from, to, message) = (note.entity.clone(), stored.to(), stored.message());
        let since = UNIX_EPOCH + Duration::from_millis(note.rank);
        let id = note.id();
        Ok(Self { from, to, message, why: stored.why().into(), since, note, id })
    }
}

impl AsRef<NoteId> for DeadLetter {
    fn as_ref(&self) -> &NoteId {
        &self.id
    }
}

impl Display for DeadLetter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { from, to, message, why, since, .. } = self;
        write!(f, "the message `{}` of `{from}` ", &*message.name)?;
        match to {
            Some(to) => write!(f, "to `{to}`"),
            None => f.write_str("to be published"),
        }?;
        write!(f, " is a dead letter since {}: {why}", UtcTime(*since))
    }
}

/// A dead letter that was damaged in the store, so that it is not known what it was. It stays there
/// until it is restored, or [discarded](Journal::discard).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DamagedLetter {
    /// The entity that has left it.
    pub from: EntityId,
    /// What is wrong with it.
    pub why: String,
    id: NoteId,
}

impl From<DamagedNote> for DamagedLetter {
    fn from(DamagedNote { note, why }: DamagedNote) -> Self {
        Self { from: note.entity.clone(), why, id: note.id() }
    }
}

impl AsRef<NoteId> for DamagedLetter {
    fn as_ref(&self) -> &NoteId {
        &self.id
    }
}

impl Display for DamagedLetter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { from, why, id } = self;
        write!(f, "the dead letter {:?} of `{from}` is damaged: {why}", id.key)
    }
}

impl Error for DamagedLetter {}

/// A time, in seconds, by the calendar.
struct UtcTime(SystemTime);

impl Display for UtcTime {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let seconds = self.0.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (year, month, day) = date(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
    }
}

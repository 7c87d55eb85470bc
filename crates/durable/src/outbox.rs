//! Delivers what decisions have left to be delivered, and what timers are due, when that is stored.
//!
//! Each message is a note of the entity that has left it, until the commit that takes it: that of its receiver's decision, or one of its own behind what
//! was published. So a receiver decides on it once, and a program that ends in between goes on with what is there.
//!
//! Messages of one entity to one receiver form a *lane*, in which they go one after the other.

use std::collections::{HashMap, VecDeque};
use std::mem::replace;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use coact_core::internals::catch;
use coact_core::promise::Resolver;
use coact_core::runtime::spawn_future;
use coact_core::time::{after, sleep};
use coact_core::{Cown, Promise};
use coact_persist::{
    Commit, CommitId, EntityId, Note, NoteId, NoteKey, NoteKind, Position, Refusal,
};

use crate::access::{Access, Alarm, Tell, lock};
use crate::outgoing::{StoredMessage, name_of, named, now, rank_of};
use crate::ranked::ByRank;

/// Hands messages over, by the types that a program has said it receives.
pub(crate) trait Post: Send + Sync {
    /// Whether it knows entities of this kind to receive messages of this name, or, without a kind, who publishes them.
    fn knows(&self, kind: Option<&str>, name: &str) -> bool;

    /// Hands a message over. `None` if the journal is gone, or does not know the message.
    fn hand(&self, parcel: Parcel) -> Option<Handing>;
}

/// A message that is handed over.
pub(crate) struct Parcel {
    pub(crate) note: NoteId,
    pub(crate) message: StoredMessage,
    /// Who receives it. `None` for one that is published.
    pub(crate) to: Option<EntityId>,
    /// How often that was tried before.
    pub(crate) failures: u32,
}

pub(crate) type Handing = Pin<Box<dyn Future<Output = Handed> + Send>>;

/// What has become of it.
pub(crate) enum Handed {
    /// It was received, and is taken, or was before.
    Received,
    /// It was published, and is to be taken.
    Published,
    /// It was not; `is_final` if it never will be, as it cannot be read.
    Failed { why: String, is_final: bool },
    /// The store cannot be reached.
    Later,
}

/// What waits to be delivered.
pub(crate) struct Outbox {
    access: Arc<Access>,
    post: OnceLock<Box<dyn Post>>,
    attempts: u32,
    work: Mutex<Work>,
}

#[derive(Default)]
struct Work {
    lanes: HashMap<Lane, Letters>,
    /// How many are reading what earlier processes have left: until they have, lanes wait, so that what is old comes first.
    resuming: usize,
    /// Whether what they have left is taken over, or it was told that it is not.
    is_resumed_or_told: bool,
    /// How many with this identity are in lanes. (A timer may be set again for the same time while it is delivered.)
    known: HashMap<NoteId, usize>,
    timers: HashMap<EntityId, HashMap<String, Armed>>,
    next: u64,
    /// How many answers were stored since old ones were removed.
    answers: usize,
}

/// After how many answers old ones are removed, and how many at most.
const ANSWERS: usize = 1_024;

/// A timer that is not due yet.
struct Armed {
    /// It grows from each to the next.
    number: u64,
    /// The rank of its note.
    due: u64,
    /// Cancelled when it is dropped.
    _alarm: Option<Alarm>,
}

/// From whom, and to whom: an entity, or those who are told of a message of this name. Each timer has one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Lane {
    from: EntityId,
    to: Option<EntityId>,
    name: String,
}

/// What is in a lane, in order.
#[derive(Default)]
struct Letters {
    queue: VecDeque<Letter>,
    /// Whether a future delivers them.
    is_running: bool,
    /// Whether the first one has no receiver in this program: those behind it stay in the store as well.
    is_stuck: bool,
}

impl Letters {
    /// Adds a letter in the order in which they were left: that of their keys, which the clock has nothing to do with. Timers come one
    /// behind the other.
    fn add(&mut self, letter: Letter) {
        let is_before = |other: &Letter| {
            letter.note.kind == NoteKind::Timer || other.note.key <= letter.note.key
        };
        // (The first is being delivered.)
        let first = usize::from(self.is_running).min(self.queue.len());
        let behind =
            self.queue.range(first..).rposition(is_before).map_or(first, |at| first + at + 1);
        self.queue.insert(behind, letter);
    }
}

#[derive(Clone)]
struct Letter {
    note: Note,
    message: StoredMessage,
}

/// After how many failures a message is a dead letter, unless it is set.
pub(crate) const ATTEMPTS: u32 = 16;

/// How long a timer sleeps at most before it looks at the clock, which may be set.
const NAP: Duration = Duration::from_secs(60);

impl Work {
    fn forget_timer(&mut self, entity: &EntityId, name: &str) -> Option<Armed> {
        let names = self.timers.get_mut(entity)?;
        let forgotten = names.remove(name);
        if names.is_empty() {
            self.timers.remove(entity);
        }
        forgotten
    }

    fn timer(&mut self, entity: &EntityId, name: &str) -> Option<&mut Armed> {
        self.timers.get_mut(entity)?.get_mut(name)
    }

    /// Returns whether a future is to be started for a lane, and takes note that it is.
    fn starts(&mut self, lane: &Lane) -> bool {
        if self.resuming > 0 {
            return false;
        }
        let Some(letters) = self.lanes.get_mut(lane) else { return false };
        !letters.queue.is_empty() && !letters.is_stuck && !replace(&mut letters.is_running, true)
    }

    /// One with this identity is not in a lane any more.
    fn is_gone(&mut self, id: &NoteId) {
        if let Some(count) = self.known.get_mut(id) {
            *count -= 1;
            if *count == 0 {
                self.known.remove(id);
            }
        }
    }
}

impl Outbox {
    pub(crate) fn new(access: Arc<Access>, attempts: u32) -> Arc<Self> {
        Arc::new(Self { access, post: OnceLock::new(), attempts, work: Mutex::default() })
    }

    /// Says who hands over.
    pub(crate) fn connect(&self, post: Box<dyn Post>) {
        let is_first = self.post.set(post).is_ok();
        debug_assert!(is_first, "it is connected once");
    }

    pub(crate) fn knows(&self, kind: Option<&str>, name: &str) -> bool {
        self.post.get().is_some_and(|post| post.knows(kind, name))
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        lock(&self.work)
    }

    /// Returns the name of a message that the journal does not know.
    pub(crate) fn unknown(&self, note: &Note) -> Option<String> {
        let message = StoredMessage::of(note).ok()?;
        let to =
            if note.kind == NoteKind::Timer { Some(note.entity.clone()) } else { message.to() };
        let is_known = self.knows(to.as_ref().map(EntityId::kind), message.name());
        (!is_known).then(|| message.name().to_owned())
    }

    /// Has lanes wait until what is returned is dropped.
    pub(crate) fn begin_resuming(self: &Arc<Self>) -> Resuming {
        let mut work = self.work();
        work.resuming += 1;
        work.is_resumed_or_told = true;
        drop(work);
        Resuming(Arc::clone(self))
    }

    /// Takes over what an earlier process has stored, unless it has that.
    pub(crate) fn resume(self: &Arc<Self>, note: Note) {
        let is_known = {
            let mut work = self.work();
            // One that is set for that time is set again: its alarm may have been of a runtime that has ended.
            let is_another = note.kind == NoteKind::Timer
                && work
                    .timer(&note.entity, &name_of(&note.key))
                    .is_some_and(|armed| armed.due != note.rank);
            is_another || work.known.contains_key(&note.id())
        };
        if !is_known {
            self.add(note);
        }
    }

    /// Takes over what was stored: outgoing messages, and timers.
    pub(crate) fn add(self: &Arc<Self>, note: Note) {
        // It stays in the store.
        if self.access.is_closing() {
            return;
        }
        let message = match StoredMessage::of(&note) {
            Ok(message) => message,
            Err(error) => {
                tracing::error!(entity = %note.entity, key = ?note.key, "a message cannot be read, and stays: {error}");
                return;
            }
        };
        match note.kind {
            NoteKind::Timer => self.set_timer(note, message),
            _ => self.deliver(note, message),
        }
        let is_told = replace(&mut self.work().is_resumed_or_told, true);
        if !is_told {
            tracing::warn!(
                "`Journal::resume` was not called: messages and timers that earlier processes have left stay where they are"
            );
        }
    }

    /// Whether a timer that has this identity is set, or delivered.
    pub(crate) fn has_timer(&self, id: &NoteId) -> bool {
        let mut work = self.work();
        let is_set = |armed: &mut Armed| armed.due == id.rank;
        work.timer(&id.entity, &name_of(&id.key)).is_some_and(is_set) || work.known.contains_key(id)
    }

    /// Has a timer of an entity forgotten.
    pub(crate) fn forget_timer(&self, entity: &EntityId, name: &str) {
        let forgotten = self.work().forget_timer(entity, name);
        drop(forgotten);
    }

    /// Has all timers of an entity forgotten.
    pub(crate) fn forget_timers(&self, entity: &EntityId) {
        let forgotten = self.work().timers.remove(entity);
        drop(forgotten);
    }

    fn set_timer(self: &Arc<Self>, note: Note, message: StoredMessage) {
        let (entity, name) = (note.entity.clone(), name_of(&note.key));
        let left = Duration::from_millis(note.rank.saturating_sub(rank_of(now())));
        if left.is_zero() {
            self.forget_timer(&entity, &name);
            return self.deliver(note, message);
        }
        let (number, before) = {
            let mut work = self.work();
            work.next += 1;
            let number = work.next;
            let names = work.timers.entry(entity.clone()).or_default();
            (number, names.insert(name.clone(), Armed { number, due: note.rank, _alarm: None }))
        };
        drop(before);
        let (this, its) = (Arc::downgrade(self), (entity.clone(), name.clone()));
        let is_it = move |armed: &Armed| armed.number == number;
        // Without the lock: this schedules.
        let alarm = Alarm::new(after(left.min(NAP), (), move |()| {
            if let Some(this) = this.upgrade()
                && this.work().timer(&its.0, &its.1).is_some_and(|armed| is_it(armed))
            {
                this.set_timer(note, message);
            }
        }));
        let mut work = self.work();
        match work.timer(&entity, &name).filter(|armed| is_it(armed)) {
            Some(armed) => armed._alarm = Some(alarm),
            None => {
                // It was forgotten meanwhile.
                drop(work);
                drop(alarm);
            }
        }
    }

    fn deliver(self: &Arc<Self>, note: Note, message: StoredMessage) {
        let lane = match note.kind {
            NoteKind::Timer => Lane {
                from: note.entity.clone(),
                to: Some(note.entity.clone()),
                name: name_of(&note.key),
            },
            _ => {
                let to = message.to();
                let name = if to.is_some() { String::new() } else { message.name().into() };
                Lane { from: note.entity.clone(), to, name }
            }
        };
        let starts = {
            let mut work = self.work();
            let letters = work.lanes.entry(lane.clone()).or_default();
            if letters.is_stuck {
                return;
            }
            letters.add(Letter { note: note.clone(), message });
            *work.known.entry(note.id()).or_default() += 1;
            work.starts(&lane)
        };
        if starts {
            drop(spawn_future(Arc::clone(self).run(lane)));
        }
    }

    /// Delivers what is in a lane, until it is empty.
    async fn run(self: Arc<Self>, lane: Lane) {
        let _open = self.access.deliveries.begin();
        // (A shutdown drops this future: what is left in the lane waits for the next one.)
        let mut running = Running { outbox: &self, lane: &lane, is_over: false };
        while let Some(letter) = self.first(&lane) {
            let is_stuck = !self.deliver_one(&lane, letter.clone()).await;
            if is_stuck {
                self.get_stuck(&lane);
                break;
            }
            self.remove(&lane, &letter);
        }
        running.is_over = true;
    }

    fn first(&self, lane: &Lane) -> Option<Letter> {
        let mut work = self.work();
        let first = work.lanes.get(lane).and_then(|letters| letters.queue.front().cloned());
        if first.is_none() {
            work.lanes.remove(lane);
        }
        first
    }

    fn remove(&self, lane: &Lane, letter: &Letter) {
        let mut work = self.work();
        work.is_gone(&letter.note.id());
        let removed = work.lanes.get_mut(lane).and_then(|letters| letters.queue.pop_front());
        drop(work);
        drop(removed);
    }

    /// Leaves what is in a lane, and what comes, in the store.
    fn get_stuck(&self, lane: &Lane) {
        let mut work = self.work();
        let stuck = Letters { is_stuck: true, ..Letters::default() };
        let left = work.lanes.insert(lane.clone(), stuck);
        let left = left.map(|letters| letters.queue).unwrap_or_default();
        left.iter().for_each(|letter| work.is_gone(&letter.note.id()));
        drop(work);
        drop(left);
    }

    /// Tries until it is received, or is a dead letter. Returns false if this program has no receiver.
    async fn deliver_one(self: &Arc<Self>, lane: &Lane, letter: Letter) -> bool {
        let Letter { note, message } = letter;
        let (mut failures, mut outages) = (0, 0);
        loop {
            if self.access.is_closing() {
                return false;
            }
            let (to, id) = (lane.to.clone(), note.id());
            let parcel = Parcel { note: id.clone(), message: message.clone(), to, failures };
            // (It runs code of the program, which reads the message.)
            let handed = match catch(|| self.post.get().and_then(|post| post.hand(parcel))) {
                Ok(Some(handing)) => handing.await,
                Ok(None) => {
                    tracing::warn!(entity = %note.entity, message = message.name(),
                        "a message waits: the journal was not told who receives it, or is gone");
                    return false;
                }
                Err(broken) => Handed::Failed { why: broken.to_string(), is_final: false },
            };
            match handed {
                Handed::Received => return true,
                Handed::Published => {
                    self.take(&id, Vec::new()).await;
                    return true;
                }
                Handed::Later => {
                    self.pause(outages).await;
                    outages += 1;
                }
                Handed::Failed { why, is_final } => {
                    failures += 1;
                    if is_final || failures >= self.attempts {
                        tracing::warn!(entity = %note.entity, message = message.name(), why,
                            "a message could not be delivered, and is a dead letter");
                        self.bury(lane, &note, &message, &why).await;
                        return true;
                    }
                    self.pause(failures).await;
                }
            }
        }
    }

    /// Makes a message a dead letter. A timer with a period goes on.
    async fn bury(self: &Arc<Self>, lane: &Lane, note: &Note, message: &StoredMessage, why: &str) {
        let letter = Note {
            kind: NoteKind::DeadLetter,
            key: dead_key(note),
            rank: rank_of(now()),
            value: message.clone().failed(lane.to.as_ref(), why).to_event(),
            ..note.clone()
        };
        let next = message.due_after(note.rank, rank_of(now()));
        let next = next.map(|due| Note { rank: due, ..note.clone() });
        let left = std::iter::once(letter).chain(next.clone()).collect();
        if self.take(&note.id(), left).await {
            next.into_iter().for_each(|next| self.add(next));
        }
    }

    /// Takes note of one more answer. Now and then, those are removed that are too old.
    pub(crate) fn has_answered(self: &Arc<Self>) {
        let is_enough = {
            let mut work = self.work();
            work.answers += 1;
            work.answers.is_multiple_of(ANSWERS)
        };
        if is_enough {
            let this = Arc::clone(self);
            drop(spawn_future(async move { this.forget_answers().await }));
        }
    }

    async fn forget_answers(&self) {
        let notes = ByRank::new(&self.access, NoteKind::ClientAnswer, false);
        let mut notes = notes.up_to(rank_of(now()));
        let mut old = Vec::new();
        while old.len() < 2 * ANSWERS {
            // What fails is tried again with the next ones.
            match notes.next(2 * ANSWERS - old.len()).await {
                Ok(found) if found.is_empty() => break,
                // (Those that are damaged stay.)
                Ok(found) => old.extend(found.into_iter().flatten().map(|note| note.id())),
                Err(error) => {
                    tracing::warn!("old answers are not forgotten: {error}");
                    break;
                }
            }
        }
        let _ = self.exchange(old, Vec::new()).await;
    }

    /// Takes a note away, and leaves others. Waits until that has happened, or another has taken it, or the journal is gone: then it returns
    /// false.
    async fn take(&self, note: &NoteId, left: Vec<Note>) -> bool {
        let mut failures = 0;
        loop {
            match self.exchange(vec![note.clone()], left.clone()).await {
                Ok(()) => return true,
                Err(Refusal::Gone(_)) => return false,
                // The store was away, or the commit was settled as aborted, as its outcome was unknown.
                Err(_) if self.access.is_gone() => return false,
                Err(_) => {
                    self.pause(failures).await;
                    failures += 1;
                }
            }
        }
    }

    /// Waits before it is tried again, unless the journal is gone.
    async fn pause(&self, failures: u32) {
        self.access.pause(pin!(pause(failures))).await;
    }

    /// Forgets all timers: they stay in the store.
    pub(crate) fn close(&self) {
        let timers = std::mem::take(&mut self.work().timers);
        drop(timers);
    }

    /// Takes notes away, if all are there, and leaves others, in a commit.
    pub(crate) async fn exchange(
        &self,
        taken: Vec<NoteId>,
        left: Vec<Note>,
    ) -> Result<(), Refusal> {
        let mut commit = Commit::new();
        taken.into_iter().for_each(|note| commit.take_note(note));
        left.into_iter().for_each(|note| commit.leave_note(note));
        let (resolver, told) = Promise::channel();
        let (access, place) = (Arc::clone(&self.access), Cown::new(()));
        self.access.commit(commit, Exchanged { access, place, resolver });
        told.await.unwrap_or(Err(Refusal::Aborted))
    }
}

/// Is owed the outcome of an exchange.
struct Exchanged {
    access: Arc<Access>,
    place: Cown<()>,
    resolver: Resolver<Result<(), Refusal>>,
}

impl Tell for Exchanged {
    fn home(&self) -> (&Access, &Cown<()>) {
        (&self.access, &self.place)
    }

    fn tell(self, outcome: Result<Position, Refusal>) {
        self.resolver.resolve(outcome.map(drop));
    }
}

/// The key of a dead letter: that of a timer may be one of another by now.
fn dead_key(note: &Note) -> NoteKey {
    match note.kind {
        NoteKind::Timer => {
            // (Several may be due at the same time, one behind the other.)
            let unique = CommitId::unique();
            named(&format!("{} @{} {unique}", name_of(&note.key), note.rank))
        }
        _ => note.key.clone(),
    }
}

/// Waits before it is tried again: from 10 ms on twice as long each time, up to a minute.
async fn pause(failures: u32) {
    let delay = Duration::from_millis(10 << failures.min(13)).min(Duration::from_secs(60));
    // It fails at the end of the runtime, which drops this future.
    let _ = sleep(delay).await;
}

/// Who runs a lane. However it ends, the lane is not taken for one that is run.
struct Running<'a> {
    outbox: &'a Outbox,
    lane: &'a Lane,
    /// Whether the lane was found empty, and is gone, or is stuck.
    is_over: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if let Some(letters) = self.outbox.work().lanes.get_mut(self.lane) {
            letters.is_running = false;
        }
    }
}

/// As long as it is read what earlier processes have left.
pub(crate) struct Resuming(Arc<Outbox>);

impl Resuming {
    /// Has the lanes go on.
    pub(crate) fn end(self) {
        let outbox = Arc::clone(&self.0);
        drop(self);
        let lanes: Vec<Lane> = {
            let mut work = outbox.work();
            let lanes: Vec<_> = work.lanes.keys().cloned().collect();
            lanes.into_iter().filter(|lane| work.starts(lane)).collect()
        };
        // Without the lock: this schedules.
        lanes.into_iter().for_each(|lane| drop(spawn_future(Arc::clone(&outbox).run(lane))));
    }
}

impl Drop for Resuming {
    fn drop(&mut self) {
        self.0.work().resuming -= 1;
    }
}

//! Delivers what decisions have left to be delivered, and what timers are due, when that is stored.
//!
//! Each message is a note of the entity that has left it, until the commit that takes it: that of its receiver's decision, or one of its own behind what
//! was published. So a receiver decides on it once, and a program that ends in between goes on with what is there.
//!
//! Messages of one entity to one receiver form a *lane*, in which they go one after the other.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use coact_core::runtime::spawn_future;
use coact_core::time::{after, sleep};
use coact_core::{Cown, Promise};
use coact_persist::{Commit, EntityId, Note, NoteId, NoteKind, Notes, Refusal};

use crate::access::{Access, Alarm, ask, lock};
use crate::outgoing::{StoredMessage, named, now, rank_of};

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
    lanes: HashMap<Lane, VecDeque<Letter>>,
    /// How many with this identity are in lanes. (A timer may be set again for the same time while it is delivered.)
    known: HashMap<NoteId, usize>,
    timers: HashMap<(EntityId, String), Armed>,
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

#[derive(Clone)]
struct Letter {
    note: Note,
    message: StoredMessage,
}

/// After so many failures a message is a dead letter.
pub(crate) const ATTEMPTS: u32 = 16;

/// How long a timer sleeps at most before it looks at the clock, which may be set.
const NAP: Duration = Duration::from_secs(60);

impl Work {
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

fn timer_name(note: &Note) -> String {
    String::from_utf8_lossy(note.key.as_bytes()).into_owned()
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

    /// Takes over what an earlier process has stored, unless it has that.
    pub(crate) fn resume(self: &Arc<Self>, note: Note) {
        let is_known = {
            let work = self.work();
            let is_set = || work.timers.contains_key(&(note.entity.clone(), timer_name(&note)));
            work.known.contains_key(&note.id()) || note.kind == NoteKind::Timer && is_set()
        };
        if !is_known {
            self.add(note);
        }
    }

    /// Takes over what was stored: outgoing messages, and timers.
    pub(crate) fn add(self: &Arc<Self>, note: Note) {
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
    }

    /// Has a timer of an entity forgotten.
    pub(crate) fn forget_timer(&self, entity: &EntityId, name: &str) {
        let forgotten = self.work().timers.remove(&(entity.clone(), name.to_owned()));
        drop(forgotten);
    }

    fn set_timer(self: &Arc<Self>, note: Note, message: StoredMessage) {
        let place = (note.entity.clone(), timer_name(&note));
        let left = Duration::from_millis(note.rank.saturating_sub(rank_of(now())));
        if left.is_zero() {
            self.forget_timer(&place.0, &place.1);
            return self.deliver(note, message);
        }
        let (number, before) = {
            let mut work = self.work();
            work.next += 1;
            let armed = Armed { number: work.next, _alarm: None };
            (work.next, work.timers.insert(place.clone(), armed))
        };
        drop(before);
        let (this, its) = (Arc::downgrade(self), place.clone());
        let is_it = move |armed: &Armed| armed.number == number;
        // Without the lock: this schedules.
        let alarm = Alarm::new(after(left.min(NAP), (), move |()| {
            if let Some(this) = this.upgrade()
                && this.work().timers.get(&its).is_some_and(is_it)
            {
                this.set_timer(note, message);
            }
        }));
        let mut work = self.work();
        match work.timers.get_mut(&place).filter(|armed| is_it(armed)) {
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
                name: timer_name(&note),
            },
            _ => {
                let to = message.to();
                let name = if to.is_some() { String::new() } else { message.name().into() };
                Lane { from: note.entity.clone(), to, name }
            }
        };
        let is_new = {
            let mut work = self.work();
            *work.known.entry(note.id()).or_default() += 1;
            let letters = work.lanes.entry(lane.clone()).or_default();
            letters.push_back(Letter { note, message });
            letters.len() == 1
        };
        if is_new {
            drop(spawn_future(Arc::clone(self).run(lane)));
        }
    }

    /// Delivers what is in a lane, until it is empty.
    async fn run(self: Arc<Self>, lane: Lane) {
        // (A shutdown drops this future: the lane must not be left without one then.)
        let mut running = Running { outbox: &self, lane: &lane, is_over: false };
        while let Some(letter) = self.first(&lane) {
            self.deliver_one(&lane, letter.clone()).await;
            self.remove(&lane, &letter);
        }
        running.is_over = true;
    }

    fn first(&self, lane: &Lane) -> Option<Letter> {
        let mut work = self.work();
        let first = work.lanes.get(lane).and_then(|letters| letters.front().cloned());
        if first.is_none() {
            work.lanes.remove(lane);
        }
        first
    }

    fn remove(&self, lane: &Lane, letter: &Letter) {
        let mut work = self.work();
        work.is_gone(&letter.note.id());
        let removed = work.lanes.get_mut(lane).and_then(VecDeque::pop_front);
        drop(work);
        drop(removed);
    }

    /// Tries until it is received, or is a dead letter.
    async fn deliver_one(self: &Arc<Self>, lane: &Lane, letter: Letter) {
        let Letter { note, message } = letter;
        let (mut failures, mut outages) = (0, 0);
        loop {
            let (to, id) = (lane.to.clone(), note.id());
            let parcel = Parcel { note: id.clone(), message: message.clone(), to, failures };
            let Some(handing) = self.post.get().and_then(|post| post.hand(parcel)) else {
                tracing::warn!(entity = %note.entity, message = message.name(),
                    "a message waits: the journal has not been told who receives it");
                return;
            };
            match handing.await {
                Handed::Received => return,
                Handed::Published => return self.take(&id, Vec::new()).await,
                Handed::Later => {
                    pause(outages).await;
                    outages += 1;
                }
                Handed::Failed { why, is_final } => {
                    failures += 1;
                    if is_final || failures >= self.attempts {
                        tracing::warn!(entity = %note.entity, message = message.name(), why,
                            "a message could not be delivered, and is a dead letter");
                        return self.bury(lane, &note, &message, &why).await;
                    }
                    pause(failures).await;
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
        self.take(&note.id(), left).await;
        next.into_iter().for_each(|next| self.add(next));
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
        let up_to = rank_of(now());
        let which = Notes::Ranked { kind: NoteKind::ClientAnswer, after: None, up_to };
        // What fails is tried again with the next ones.
        let old = ask(|done| self.access.store().notes(which, 2 * ANSWERS, done)).await;
        let old = old.unwrap_or_default().iter().map(Note::id).collect();
        let _ = self.exchange(old, Vec::new()).await;
    }

    /// Takes a note away, and leaves others. Waits until that has happened, or another has done it.
    async fn take(&self, note: &NoteId, left: Vec<Note>) {
        let mut failures = 0;
        loop {
            match self.exchange(vec![note.clone()], left.clone()).await {
                Err(Refusal::Store(_)) => {
                    pause(failures).await;
                    failures += 1;
                }
                _ => return,
            }
        }
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
        let done = Box::new(move |outcome| resolver.resolve(outcome));
        self.access.commit(commit, Cown::new(()), done);
        told.await.unwrap_or(Err(Refusal::Aborted))
    }
}

/// The key of a dead letter: that of a timer may be one of another by now.
fn dead_key(note: &Note) -> coact_persist::NoteKey {
    match note.kind {
        NoteKind::Timer => {
            let key = [note.key.as_bytes(), b" @", note.rank.to_string().as_bytes()].concat();
            named(&String::from_utf8_lossy(&key))
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

/// Who runs a lane. Its end, however it comes, leaves none behind that nothing runs: what is in it is stored.
struct Running<'a> {
    outbox: &'a Outbox,
    lane: &'a Lane,
    /// Whether the lane was found empty, and is gone.
    is_over: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut work = self.outbox.work();
        let left = work.lanes.remove(self.lane);
        for letter in left.iter().flatten() {
            work.is_gone(&letter.note.id());
        }
        drop(work);
        drop(left);
    }
}

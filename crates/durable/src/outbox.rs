//! Delivers what decisions have left to be delivered, and what timers are due, when that is stored.
//!
//! A message is stored as a note of its sender. The commit of the receiver's decision removes the
//! note. For a published message, a separate commit removes it after publishing. So a receiver
//! decides on it once, and a program that ends in between goes on with what is there.
//!
//! Messages of one entity to one receiver form a *lane*, in which they go one after the other.

use std::collections::{HashMap, HashSet, VecDeque};
use std::mem::{replace, take};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use coact_core::internals::{beside_decision, catch};
use coact_core::promise::Resolver;
use coact_core::runtime::{RuntimeHandle, spawn_future};
use coact_core::time::{after, sleep};
use coact_core::{Cown, Promise};
use coact_persist::{
    Commit, CommitId, CommitRefusal, EntityId, Event, Note, NoteId, NoteKey, NoteKind, Position,
};

use crate::commit_request::{CommitObserver, CommitRequest};
use crate::message_delivery::{AttemptResult, DeliveryRequest, MessageDelivery};
use crate::ordered_notes::OrderedNotes;
use crate::store_client::{StoreClient, TimeoutGuard, lock};
use crate::stored_message::{StoredMessage, name_of, named, present_rank, time_until};
use crate::timer_table::{TimerKey, TimerTable};

/// What waits to be delivered.
pub(crate) struct Outbox {
    client: Arc<StoreClient>,
    post: OnceLock<Box<dyn MessageDelivery>>,
    attempts: u32,
    work: Mutex<OutboxState>,
}

#[derive(Default)]
struct OutboxState {
    lanes: HashMap<LaneId, MessageLane>,
    /// How many are reading what earlier processes have left: until they have, lanes wait, so that
    /// what is old comes first.
    resuming: usize,
    /// Whether what they have left is taken over, or it was told that it is not.
    is_resumed_or_told: bool,
    /// How many with this identity are in lanes. (A dead letter may be redelivered before its lane
    /// is done with it.)
    known: HashMap<NoteId, usize>,
    /// Those whose commit is pending: they come by [`PendingMessage::deliver`], and in order, so
    /// that a resume that reads them leaves them alone.
    pending: HashSet<NoteId>,
    /// Those that have left lanes while a resume reads what earlier processes have left, and may
    /// have been read before.
    left_lanes: HashSet<NoteId>,
    timers: TimerTable<SetMessage>,
    /// How many answers were stored since old ones were removed.
    answers: usize,
}

/// After how many answers old ones are removed, and how many at most.
const ANSWERS: usize = 1_024;

/// From whom, and to whom: an entity, or those who are told of a message of this name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LaneId {
    from: EntityId,
    to: Option<EntityId>,
    name: String,
}

/// What is in a lane, in order.
#[derive(Default)]
struct MessageLane {
    queue: VecDeque<OutboxMessage>,
    /// Whether a future delivers them.
    is_running: bool,
    /// Whether the first one has no receiver in this program: those behind it stay in the store as
    /// well.
    is_stuck: bool,
}

impl MessageLane {
    /// Adds a letter in the order in which they were left: that of their keys, which the clock has
    /// nothing to do with.
    fn add(&mut self, letter: OutboxMessage) {
        let is_before = |other: &OutboxMessage| other.note.key <= letter.note.key;
        // (The first is being delivered.)
        let first = usize::from(self.is_running).min(self.queue.len());
        let behind =
            self.queue.range(first..).rposition(is_before).map_or(first, |at| first + at + 1);
        self.queue.insert(behind, letter);
    }
}

#[derive(Clone)]
struct OutboxMessage {
    note: Note,
    message: StoredMessage,
}

impl OutboxMessage {
    /// Reads the message in a note.
    fn read(note: Note) -> Option<Self> {
        match StoredMessage::of(&note) {
            Ok(message) => Some(Self { note, message }),
            Err(error) => {
                tracing::error!(entity = %note.entity, key = ?note.key, "a message cannot be read, and stays: {error}");
                None
            }
        }
    }
}

/// After how many failures a message is a dead letter, unless it is set.
pub(crate) const ATTEMPTS: u32 = 16;

impl OutboxState {
    /// Adds an outgoing message to its lane. Returns that, unless the message stays in the store,
    /// as those before it do.
    fn add(&mut self, letter: OutboxMessage) -> Option<LaneId> {
        let to = letter.message.to();
        let name = if to.is_some() { String::new() } else { letter.message.name().into() };
        let lane = LaneId { from: letter.note.entity.clone(), to, name };
        let letters = self.lanes.entry(lane.clone()).or_default();
        if letters.is_stuck {
            return None;
        }
        *self.known.entry(letter.note.id()).or_default() += 1;
        letters.add(letter);
        Some(lane)
    }

    /// Whether a message is to be delivered, or was, or comes when its commit is told.
    fn knows(&self, id: &NoteId) -> bool {
        self.known.contains_key(id) || self.left_lanes.contains(id) || self.pending.contains(id)
    }

    /// Returns whether a future is to be started for a lane, and marks it as running.
    fn starts(&mut self, lane: &LaneId) -> bool {
        if self.resuming > 0 {
            return false;
        }
        let Some(letters) = self.lanes.get_mut(lane) else { return false };
        !letters.queue.is_empty() && !letters.is_stuck && !replace(&mut letters.is_running, true)
    }

    /// One with this identity is not in a lane any more.
    fn note_left_lane(&mut self, id: &NoteId) {
        if self.resuming > 0 {
            self.left_lanes.insert(id.clone());
        }
        if let Some(count) = self.known.get_mut(id) {
            *count -= 1;
            if *count == 0 {
                self.known.remove(id);
            }
        }
    }
}

impl Outbox {
    pub(crate) fn new(client: Arc<StoreClient>, attempts: u32) -> Arc<Self> {
        Arc::new(Self { client, post: OnceLock::new(), attempts, work: Mutex::default() })
    }

    /// Sets what delivers messages.
    pub(crate) fn connect(&self, post: Box<dyn MessageDelivery>) {
        let is_first = self.post.set(post).is_ok();
        debug_assert!(is_first, "it is connected once");
    }

    pub(crate) fn knows(&self, kind: Option<&str>, name: &str) -> bool {
        self.post.get().is_some_and(|post| post.knows(kind, name))
    }

    fn work(&self) -> MutexGuard<'_, OutboxState> {
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

    /// Makes lanes and timers wait until the result is dropped.
    pub(crate) fn begin_resuming(self: &Arc<Self>) -> ResumeGuard {
        let mut work = self.work();
        work.resuming += 1;
        work.is_resumed_or_told = true;
        let read = work.timers.open_read();
        drop(work);
        ResumeGuard { outbox: Arc::clone(self), read }
    }

    /// Takes over a message that an earlier process has stored, unless it has that.
    pub(crate) fn resume_message(&self, note: Note) {
        let Some(letter) = OutboxMessage::read(note) else { return };
        let mut work = self.work();
        let id = letter.note.id();
        if !work.knows(&id) {
            work.add(letter);
        }
    }

    /// Takes over a timer that an earlier process has stored, and that was read behind this
    /// position, unless it knows of something newer.
    pub(crate) fn resume_timer(self: &Arc<Self>, note: Note, position: Position) {
        // (One that it knows is set anew: its alarm may have been of a runtime that has ended.)
        self.set_timer(TimerKey::of(&note.id()), note, position, None);
    }

    /// Delivers a message that was stored.
    fn add(self: &Arc<Self>, note: Note) {
        // It stays in the store.
        if self.client.is_closing() {
            return;
        }
        let Some(letter) = OutboxMessage::read(note) else { return };
        let lane = {
            let mut work = self.work();
            let lane = work.add(letter);
            lane.filter(|lane| work.starts(lane))
        };
        lane.into_iter().for_each(|lane| self.start(lane));
        self.say_if_not_resumed();
    }

    /// Warns once if what earlier processes have left is not taken over.
    fn say_if_not_resumed(&self) {
        let is_told = replace(&mut self.work().is_resumed_or_told, true);
        if !is_told {
            tracing::warn!(
                "`Journal::resume` was not called: messages and timers that earlier processes have left stay where they are"
            );
        }
    }

    /// Starts to deliver what is in a lane.
    fn start(self: &Arc<Self>, lane: LaneId) {
        let run = LaneCourier { outbox: Arc::clone(self), lane, is_over: false };
        drop(spawn_future(run.run()));
    }

    fn first(&self, lane: &LaneId) -> Option<OutboxMessage> {
        let mut work = self.work();
        let first = work.lanes.get(lane).and_then(|letters| letters.queue.front().cloned());
        if first.is_none() {
            work.lanes.remove(lane);
        }
        first
    }

    fn remove(&self, lane: &LaneId, letter: &OutboxMessage) {
        let mut work = self.work();
        work.note_left_lane(&letter.note.id());
        let removed = work.lanes.get_mut(lane).and_then(|letters| letters.queue.pop_front());
        drop(work);
        drop(removed);
    }

    /// Leaves what is in a lane, and what comes, in the store.
    fn get_stuck(&self, lane: &LaneId) {
        let mut work = self.work();
        let stuck = MessageLane { is_stuck: true, ..MessageLane::default() };
        let left = work.lanes.insert(lane.clone(), stuck);
        let left = left.map(|letters| letters.queue).unwrap_or_default();
        left.iter().for_each(|letter| work.note_left_lane(&letter.note.id()));
        drop(work);
        drop(left);
    }

    /// Tries until a message is received, or is a dead letter.
    async fn deliver_one(
        self: &Arc<Self>,
        to: Option<&EntityId>,
        letter: &OutboxMessage,
    ) -> LaneStep {
        let OutboxMessage { note, message } = letter;
        let id = note.id();
        let (mut failures, mut outages) = (0, 0);
        loop {
            if self.client.is_closing() {
                return LaneStep::NoReceiver;
            }
            if note.kind == NoteKind::Timer && !self.is_current_timer(&id) {
                return LaneStep::Over;
            }
            let (note, stored) = (id.clone(), message.clone());
            let attempt = DeliveryRequest { note, message: stored, to: to.cloned(), failures };
            // (It runs code of the program, which reads the message.)
            let handed = match catch(|| self.post.get().and_then(|post| post.deliver(attempt))) {
                Ok(Some(handing)) => handing.await,
                Ok(None) => {
                    tracing::warn!(entity = %id.entity, message = message.name(),
                        "a message waits: the journal was not told who receives it, or is gone");
                    return LaneStep::NoReceiver;
                }
                Err(broken) => AttemptResult::Failed { why: broken.to_string(), is_final: false },
            };
            match handed {
                AttemptResult::Received => return LaneStep::Over,
                AttemptResult::Gone => return LaneStep::Gone,
                AttemptResult::Published => {
                    self.take(&id, Vec::new()).await;
                    return LaneStep::Gone;
                }
                AttemptResult::Later => {
                    self.pause(outages).await;
                    outages += 1;
                }
                AttemptResult::Failed { why, is_final } => {
                    failures += 1;
                    if is_final || failures >= self.attempts {
                        tracing::warn!(entity = %id.entity, message = message.name(), why,
                            "a message could not be delivered, and is a dead letter");
                        self.bury(to, letter, &why).await;
                        return LaneStep::Gone;
                    }
                    self.pause(failures).await;
                }
            }
        }
    }

    /// Makes a message a dead letter. A timer with a period goes on.
    async fn bury(self: &Arc<Self>, to: Option<&EntityId>, letter: &OutboxMessage, why: &str) {
        let OutboxMessage { note, message } = letter;
        let dead = Note {
            kind: NoteKind::DeadLetter,
            key: dead_key(note),
            rank: present_rank(),
            value: message.clone().failed(to, why).to_event(),
            ..note.clone()
        };
        let id = note.id();
        let timer = (note.kind == NoteKind::Timer).then(|| {
            let key = TimerKey::of(&id);
            match message.due_after(note.rank, present_rank()) {
                Some(due) => TimerChange::setting(self, key, due, note.value.clone()),
                None => TimerChange::removal(self, key),
            }
        });
        let next = timer.as_ref().and_then(|timer| timer.note().cloned());
        let left = std::iter::once(dead).chain(next).collect();
        if let (Some(position), Some(timer)) = (self.take(&id, left).await, timer) {
            timer.apply(position);
        }
    }

    /// Counts an answer that was stored. Now and then, those that are too old are removed.
    pub(crate) fn count_answer(self: &Arc<Self>) {
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
        let notes = OrderedNotes::new(&self.client, NoteKind::ClientAnswer, false);
        let mut notes = notes.up_to(present_rank());
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

    /// Takes a note away, and leaves others. Waits until that is stored, and returns its position;
    /// or until another has taken the note, or the journal is gone.
    async fn take(&self, note: &NoteId, left: Vec<Note>) -> Option<Position> {
        let mut failures = 0;
        loop {
            match self.exchange(vec![note.clone()], left.clone()).await {
                Ok(position) => return Some(position),
                Err(CommitRefusal::Gone(_)) => return None,
                // The store was away, or the commit was settled as aborted, as its outcome was
                // unknown.
                Err(_) if self.client.is_gone() => return None,
                Err(_) => {
                    self.pause(failures).await;
                    failures += 1;
                }
            }
        }
    }

    /// Waits before it is tried again, unless the journal is gone.
    async fn pause(&self, failures: u32) {
        self.client.pause(pin!(pause(failures))).await;
    }

    /// Forgets all timers: they stay in the store.
    pub(crate) fn close(&self) {
        let timers = self.work().timers.clear();
        drop(timers);
    }

    /// Takes notes away, if all are there, and leaves others, in a commit.
    pub(crate) async fn exchange(
        &self,
        taken: Vec<NoteId>,
        left: Vec<Note>,
    ) -> Result<Position, CommitRefusal> {
        let mut commit = Commit::new();
        taken.into_iter().for_each(|note| commit.take_note(note));
        left.into_iter().for_each(|note| commit.leave_note(note));
        let (resolver, told) = Promise::channel();
        let (client, place) = (Arc::clone(&self.client), Cown::new(()));
        CommitRequest::send(&self.client, commit, ExchangeReceipt { client, place, resolver });
        told.await.unwrap_or(Err(CommitRefusal::Aborted))
    }
}

/// Learns the outcome of an exchange.
struct ExchangeReceipt {
    client: Arc<StoreClient>,
    place: Cown<()>,
    resolver: Resolver<Result<Position, CommitRefusal>>,
}

impl CommitObserver for ExchangeReceipt {
    fn home(&self) -> (&StoreClient, &Cown<()>) {
        (&self.client, &self.place)
    }

    fn answered(self, answer: Result<Position, CommitRefusal>) {
        self.resolver.resolve(answer);
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

/// What comes of delivering the first message of a lane.
enum LaneStep {
    /// It was received; or it is a timer that is not set any more.
    Over,
    /// It is not in the store any more.
    Gone,
    /// This program has no receiver, or the journal is closed. It stays in the store.
    NoReceiver,
}

/// Delivers what is in a lane. However it ends, the lane is not taken for one that is run.
struct LaneCourier {
    outbox: Arc<Outbox>,
    lane: LaneId,
    /// Whether the lane was found empty, and is gone, or is stuck.
    is_over: bool,
}

impl LaneCourier {
    /// Delivers what is in the lane, until it is empty.
    async fn run(mut self) {
        // (A shutdown drops this future, perhaps before it begins: what is left in the lane waits
        // for the next one.)
        let (outbox, lane) = (Arc::clone(&self.outbox), self.lane.clone());
        let _open = outbox.client.active_lanes.begin();
        while let Some(letter) = outbox.first(&lane) {
            match outbox.deliver_one(lane.to.as_ref(), &letter).await {
                LaneStep::Over | LaneStep::Gone => outbox.remove(&lane, &letter),
                LaneStep::NoReceiver => {
                    outbox.get_stuck(&lane);
                    break;
                }
            }
        }
        self.is_over = true;
    }
}

impl Drop for LaneCourier {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if let Some(letters) = self.outbox.work().lanes.get_mut(&self.lane) {
            letters.is_running = false;
        }
    }
}

/// A message whose commit is pending. It is dropped if that stores nothing.
pub(crate) struct PendingMessage {
    outbox: Arc<Outbox>,
    note: Note,
}

impl PendingMessage {
    pub(crate) fn new(outbox: &Arc<Outbox>, note: Note) -> Self {
        outbox.work().pending.insert(note.id());
        Self { outbox: Arc::clone(outbox), note }
    }

    /// Delivers it: the commit has stored it.
    pub(crate) fn deliver(self) {
        self.outbox.add(self.note.clone());
    }
}

impl Drop for PendingMessage {
    fn drop(&mut self) {
        // (Behind `add`, so that there is no moment at which it is not known.)
        self.outbox.work().pending.remove(&self.note.id());
    }
}

/// How long an alarm sleeps at most before it looks at the clock, which may be set.
const NAP: Duration = Duration::from_secs(60);

/// The message of a timer, and its alarm.
struct SetMessage {
    letter: Arc<OutboxMessage>,
    /// Cancelled when it is dropped. `None` if the timer is due.
    alarm: Option<TimeoutGuard>,
}

impl TimerKey {
    pub(crate) fn of(note: &NoteId) -> Self {
        Self { entity: note.entity.clone(), name: note.key.clone() }
    }
}

/// A change of timers, which is open until it is applied, or dropped.
pub(crate) struct TimerChange {
    outbox: Arc<Outbox>,
    home: RuntimeHandle,
    number: u64,
    what: ChangeKind,
}

enum ChangeKind {
    Setting(TimerKey, Note),
    Removal(TimerKey),
    Deletion(EntityId),
    /// It was applied.
    Applied,
}

impl TimerChange {
    /// Sets a timer. Its [note](Self::note) has the time at which it is due, which may be a
    /// millisecond later.
    pub(crate) fn setting(outbox: &Arc<Outbox>, key: TimerKey, due: u64, value: Event) -> Self {
        let (number, rank) = outbox.work().timers.open_set(&key, due);
        let (entity, name) = (key.entity.clone(), key.name.clone());
        let note = Note { entity, kind: NoteKind::Timer, key: name, rank, value };
        Self::new(outbox, number, ChangeKind::Setting(key, note))
    }

    /// Removes a timer.
    pub(crate) fn removal(outbox: &Arc<Outbox>, key: TimerKey) -> Self {
        let number = outbox.work().timers.open_change(&key);
        Self::new(outbox, number, ChangeKind::Removal(key))
    }

    /// Removes a timer that is due, and was delivered. `None` if it is another one by now, or none,
    /// or about to be.
    pub(crate) fn taking(outbox: &Arc<Outbox>, note: &NoteId) -> Option<Self> {
        let key = TimerKey::of(note);
        let number = outbox.work().timers.open_taking(&key, note.rank)?;
        Some(Self::new(outbox, number, ChangeKind::Removal(key)))
    }

    /// Removes the timers of an entity.
    pub(crate) fn deletion(outbox: &Arc<Outbox>, entity: EntityId) -> Self {
        let number = outbox.work().timers.open_deletion(&entity);
        Self::new(outbox, number, ChangeKind::Deletion(entity))
    }

    fn new(outbox: &Arc<Outbox>, number: u64, what: ChangeKind) -> Self {
        let (outbox, home) = (Arc::clone(outbox), RuntimeHandle::current());
        Self { outbox, home, number, what }
    }

    /// The note that is to be stored, of one that sets a timer.
    pub(crate) fn note(&self) -> Option<&Note> {
        match &self.what {
            ChangeKind::Setting(_, note) => Some(note),
            _ => None,
        }
    }

    /// Applies it: the commit at this position has stored it.
    pub(crate) fn apply(mut self, position: Position) {
        let (outbox, number) = (Arc::clone(&self.outbox), self.number);
        match replace(&mut self.what, ChangeKind::Applied) {
            ChangeKind::Setting(key, note) => {
                outbox.set_timer(key, note, position, Some(number));
                outbox.say_if_not_resumed();
            }
            ChangeKind::Removal(key) => {
                let mut work = outbox.work();
                let removed = work.timers.remove(&key, position);
                work.timers.close(number);
                drop(work);
                drop(removed);
            }
            ChangeKind::Deletion(entity) => {
                let mut work = outbox.work();
                let removed = work.timers.delete(&entity, position);
                work.timers.close(number);
                drop(work);
                drop(removed);
            }
            ChangeKind::Applied => {}
        }
        outbox.start_couriers();
    }
}

impl Drop for TimerChange {
    /// It was not stored, or is lost with its runtime.
    fn drop(&mut self) {
        if matches!(self.what, ChangeKind::Applied) {
            return;
        }
        self.outbox.work().timers.close(self.number);
        // Otherwise whatever comes next starts those that have waited for this.
        if RuntimeHandle::current() == self.home && !self.home.is_cancelled() {
            beside_decision(|| self.outbox.start_couriers());
        }
    }
}

impl Outbox {
    /// Sets a timer as a note says, which is stored at a position, or was read behind that. Closes
    /// a change.
    fn set_timer(
        self: &Arc<Self>,
        key: TimerKey,
        note: Note,
        position: Position,
        change: Option<u64>,
    ) {
        let due = note.rank;
        // It stays in the store if the journal is closed.
        let letter =
            if self.client.is_closing() { None } else { OutboxMessage::read(note).map(Arc::new) };
        let is_due = due <= present_rank();
        let mut work = self.work();
        let Some(letter) = letter else {
            return change.into_iter().for_each(|change| work.timers.close(change));
        };
        let payload = SetMessage { letter, alarm: None };
        let (number, unused) = work.timers.set(&key, (due, is_due), position, payload);
        change.into_iter().for_each(|change| work.timers.close(change));
        drop(work);
        drop(unused);
        if let Some(number) = number
            && !is_due
        {
            self.set_alarm(key, number, due);
        }
    }

    /// Sets the alarm of a timer.
    fn set_alarm(self: &Arc<Self>, key: TimerKey, number: u64, due: u64) {
        let (this, its) = (Arc::downgrade(self), key.clone());
        // Without the lock: this schedules.
        let alarm = TimeoutGuard::new(after(time_until(due).min(NAP), (), move |()| {
            if let Some(this) = this.upgrade() {
                this.ring(its, number);
            }
        }));
        let mut work = self.work();
        let Some(waiting) = work.timers.waiting(&key, number) else {
            // It was replaced, or removed, or has rung.
            drop(work);
            return drop(alarm);
        };
        let before = waiting.alarm.replace(alarm);
        drop(work);
        drop(before);
    }

    fn ring(self: &Arc<Self>, key: TimerKey, number: u64) {
        let mut work = self.work();
        let alarm = work.timers.waiting(&key, number).and_then(|waiting| waiting.alarm.take());
        let later = work.timers.ring(&key, number, present_rank());
        drop(work);
        drop(alarm);
        match later {
            Some(due) => self.set_alarm(key, number, due),
            None => self.start_couriers(),
        }
    }

    /// Starts couriers for timers that are due, unless a resume is under way.
    fn start_couriers(self: &Arc<Self>) {
        let ready = {
            let mut work = self.work();
            if work.resuming > 0 { Vec::new() } else { work.timers.take_ready() }
        };
        // Without the lock: this schedules.
        for key in ready {
            let courier = TimerCourier { outbox: Arc::clone(self), key, is_over: false };
            drop(spawn_future(courier.run()));
        }
    }

    /// Whether a timer that is delivered is still the one that is set.
    fn is_current_timer(&self, id: &NoteId) -> bool {
        self.work().timers.is_current(&TimerKey::of(id), id.rank)
    }
}

/// Delivers one timer, as long as it is due.
struct TimerCourier {
    outbox: Arc<Outbox>,
    key: TimerKey,
    is_over: bool,
}

impl TimerCourier {
    async fn run(mut self) {
        let outbox = Arc::clone(&self.outbox);
        let _open = outbox.client.active_lanes.begin();
        while let Some((due, letter)) = self.next() {
            let receiver = Some(self.key.entity.clone());
            let delivery = outbox.deliver_one(receiver.as_ref(), &letter).await;
            // What is received is removed by then. (What has no receiver is not tried again, and
            // stays in the store.)
            let is_gone = !matches!(delivery, LaneStep::Over);
            let gone = outbox.work().timers.end_delivery(&self.key, due, is_gone);
            drop(gone);
        }
        self.is_over = true;
    }

    fn next(&self) -> Option<(u64, Arc<OutboxMessage>)> {
        let mut work = self.outbox.work();
        let (due, payload) = work.timers.begin_delivery(&self.key)?;
        Some((due, Arc::clone(&payload.letter)))
    }
}

impl Drop for TimerCourier {
    /// A shutdown has dropped it, perhaps before it has begun: whatever comes next starts another.
    fn drop(&mut self) {
        if !take(&mut self.is_over) {
            self.outbox.work().timers.abandon_delivery(&self.key);
        }
    }
}

/// Held while a resume reads what earlier processes have left.
pub(crate) struct ResumeGuard {
    outbox: Arc<Outbox>,
    /// The number of the read of timers.
    read: u64,
}

impl ResumeGuard {
    /// Lets lanes and timers go on.
    pub(crate) fn end(self) {
        let outbox = Arc::clone(&self.outbox);
        drop(self);
        let lanes: Vec<LaneId> = {
            let mut work = outbox.work();
            let mut lanes: Vec<_> = work.lanes.keys().cloned().collect();
            // So that a simulation always does this in the same order.
            lanes.sort_unstable();
            lanes.into_iter().filter(|lane| work.starts(lane)).collect()
        };
        // Without the lock: this schedules.
        lanes.into_iter().for_each(|lane| outbox.start(lane));
        outbox.start_couriers();
    }
}

impl Drop for ResumeGuard {
    fn drop(&mut self) {
        let mut work = self.outbox.work();
        work.timers.close(self.read);
        work.resuming -= 1;
        if work.resuming == 0 {
            work.left_lanes = HashSet::new();
        }
    }
}

//! The queue of writes behind: those that wait for the store, by key.
//!
//! It belongs to the settings of a cache, not to the state of its actor, so a restart loses
//! nothing, and the new state sees what waits. The [flusher](crate::write_flusher) writes it to the
//! store.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::mem::{replace, take};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use coact_actor::actor::Reply;
use coact_core::internals::{CatchDrop, catch, drop_quietly};
use slab::Slab;

use crate::backing::{DynBacking, Write};
use crate::counts::CacheCounts;
use crate::errors::WriteError;
use crate::key_value::{Key, Value};
use crate::keyed_slab::KeyedSlab;
use crate::write_behind::{LostWrite, WriteBehind};

/// An event of the queue for its caches.
pub(crate) enum QueueEvent<K> {
    /// There is room for writes again.
    Room,
    /// What was written of a key is lost.
    Lost(CatchDrop<K>),
}

/// Tells a cache, unless it has ended.
type QueueListener<K> = Arc<dyn Fn(QueueEvent<K>) + Send + Sync>;

/// The right of a cache to be told of news, until this is dropped.
pub(crate) struct QueueSubscription<K, V> {
    queue: Arc<WriteQueue<K, V>>,
    at: usize,
}

pub(crate) struct WriteQueue<K, V> {
    pub(crate) store: Arc<dyn DynBacking<K, V>>,
    pub(crate) settings: WriteBehind<K, V>,
    /// While it is locked, the only user code that runs is `Eq` and `Clone` of keys, and `Clone` of
    /// values.
    state: Mutex<QueueState<K, V>>,
}

struct QueueState<K, V> {
    pending: KeyedSlab<K, KeyWrites<V>>,
    /// The keys with a write that waits, oldest first.
    order: VecDeque<usize>,
    next: u64,
    /// The number of the oldest write of the batch that is under way, if there is one.
    in_flight: Option<u64>,
    has_flusher: bool,
    /// Whether the next batch does not wait for more writes.
    hurries: bool,
    /// Whether to try again at once, though the store has failed.
    tries_again: bool,
    flusher: Option<Waker>,
    /// In the order in which they were asked for.
    flushes: VecDeque<FlushRequest>,
    listeners: Slab<QueueListener<K>>,
    /// The listeners that want to be told of room.
    room_wanted: BTreeSet<usize>,
    writes: u64,
    failures: u64,
    lost: u64,
}

/// The writes of a key.
struct KeyWrites<V> {
    /// In the batch that the store has.
    in_flight: Option<QueuedWrite<V>>,
    /// Behind that.
    waiting: Option<QueuedWrite<V>>,
}

struct QueuedWrite<V> {
    value: CatchDrop<Option<V>>,
    number: u64,
    since: Duration,
}

/// A flush, answered once the writes before it are stored.
struct FlushRequest {
    /// The first number behind those that it waits for.
    before: u64,
    /// How many of these are lost.
    lost: u64,
    reply: Reply<Result<(), WriteError>>,
}

/// When the next batch is due.
pub(crate) enum BatchDue {
    Nothing,
    In(Duration),
}

/// The outcome of a push.
pub(crate) enum PushOutcome<V> {
    /// It waits.
    Queued,
    /// It waits, and there is no flusher.
    First,
    /// There is no room for another key: here is the value.
    Full(CatchDrop<Option<V>>),
}

impl<K: Key, V: Value> WriteQueue<K, V> {
    pub(crate) fn new(store: Arc<dyn DynBacking<K, V>>, settings: WriteBehind<K, V>) -> Arc<Self> {
        Arc::new(Self { store, settings, state: Mutex::new(QueueState::default()) })
    }

    fn state(&self) -> MutexGuard<'_, QueueState<K, V>> {
        // It is changed in one go: what may panic comes before.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn max_waiting(&self) -> usize {
        self.settings.max_waiting
    }

    /// Registers what tells a cache of news.
    pub(crate) fn listen(self: &Arc<Self>, listener: QueueListener<K>) -> QueueSubscription<K, V> {
        let at = self.state().listeners.insert(listener);
        QueueSubscription { queue: Arc::clone(self), at }
    }

    /// Returns the newest write of a key that is not stored yet. Calls `Eq` and `Clone`, which may
    /// panic.
    pub(crate) fn latest(&self, hash: u64, key: &K) -> Option<Option<V>> {
        let state = self.state();
        let pending = state.pending.get(state.pending.find(hash, key)?);
        let latest = pending.waiting.as_ref().or(pending.in_flight.as_ref());
        latest.map(|written| (*written.value).clone())
    }

    /// Whether a write of a key is not stored yet. Calls the program's `Eq`, which may panic.
    pub(crate) fn has_pending(&self, hash: u64, key: &K) -> bool {
        self.state().pending.find(hash, key).is_some()
    }

    /// Queues a write of a cache, whose listener is told of room if there is none now. Calls the
    /// program's `Eq`, which may panic: then nothing is queued.
    pub(crate) fn push(
        &self,
        listener: Option<usize>,
        (hash, key): (u64, CatchDrop<K>),
        value: CatchDrop<Option<V>>,
        since: Duration,
    ) -> PushOutcome<V> {
        let mut state = self.state();
        let (at, unused_key) = match state.pending.find(hash, &*key) {
            Some(at) => (at, Some(key)),
            None if state.pending.len() >= self.settings.max_waiting => {
                state.room_wanted.extend(listener);
                let waker = state.flusher.take();
                drop(state);
                wake(waker);
                return PushOutcome::Full(value);
            }
            None => (state.pending.insert(hash, key.into_inner(), KeyWrites::default()), None),
        };
        let replaced = state.push(at, value, since);
        let is_full = state.order.len() >= self.settings.max_batch;
        let waker = if is_full { state.flusher.take() } else { None };
        let starts = !replace(&mut state.has_flusher, true);
        drop(state);
        drop((unused_key, replaced));
        wake(waker);
        if starts { PushOutcome::First } else { PushOutcome::Queued }
    }

    /// Answers when all that was written before is stored, or lost.
    pub(crate) fn flush(&self, reply: Reply<Result<(), WriteError>>) {
        let mut state = self.state();
        if state.pending.is_empty() {
            drop(state);
            return reply.send(Ok(()));
        }
        let before = state.next;
        state.flushes.push_back(FlushRequest { before, lost: 0, reply });
        drop(state);
        self.hurry();
    }

    /// Writes what waits without delay. After a failure of the store, it is tried again once before
    /// its time.
    pub(crate) fn hurry(&self) {
        let mut state = self.state();
        state.hurries = !state.pending.is_empty();
        state.tries_again = state.hurries;
        let waker = state.flusher.take();
        drop(state);
        wake(waker);
    }

    pub(crate) fn count(&self, counts: &mut CacheCounts) {
        let state = self.state();
        counts.writes += state.writes;
        counts.write_failures += state.failures;
        counts.lost_writes = state.lost;
        counts.waiting_writes = state.pending.len();
    }

    /// Reports a lost write.
    pub(crate) fn lose(&self, lost: LostWrite<K, V>) {
        self.state().lost += 1;
        self.tell(lost);
    }

    fn tell(&self, lost: LostWrite<K, V>) {
        drop_quietly(|| match &self.settings.on_lost {
            Some(tell) => tell(lost),
            None => {
                let types = std::any::type_name::<(K, V)>();
                tracing::error!(types, why = %lost.why, "a write behind of a cache is lost");
                drop(lost);
            }
        });
    }

    /// Tells the caches, each in its turn, that what was written of a key is lost.
    fn tell_caches(&self, key: &K) {
        // Without the lock: telling schedules.
        let listeners: Vec<_> =
            self.state().listeners.iter().map(|(_, listener)| Arc::clone(listener)).collect();
        for listener in listeners {
            if let Ok(key) = catch(|| CatchDrop::new(key.clone())) {
                listener(QueueEvent::Lost(key));
            }
        }
    }

    /// Takes the writes that have waited longest.
    pub(crate) fn take_batch(&self, most: usize) -> (Vec<usize>, Vec<Write<K, V>>) {
        let (mut batch, mut writes, mut broken) = (Vec::new(), Vec::new(), Vec::new());
        let mut state = self.state();
        (state.in_flight, state.tries_again) = (None, false);
        while batch.len() < most {
            let Some(at) = state.order.pop_front() else { break };
            let QueueState { pending, in_flight, .. } = &mut *state;
            let (_, key) = pending.key(at);
            let Some(waiting) = &pending.get(at).waiting else { continue };
            match catch(|| (CatchDrop::new(key.clone()), (*waiting.value).clone())) {
                Ok((key, value)) => {
                    in_flight.get_or_insert(waiting.number);
                    writes.push(Write { key: key.into_inner(), value });
                    batch.push(at);
                }
                Err(panic) => broken.push((at, WriteError::from(panic))),
            }
            let pending = pending.get_mut(at);
            pending.in_flight = pending.waiting.take();
        }
        drop(state);
        if !broken.is_empty() {
            self.give_up(broken);
        }
        (batch, writes)
    }

    pub(crate) fn stored(&self, batch: &[usize]) {
        let mut state = self.state();
        state.writes += batch.len() as u64;
        state.in_flight = None;
        let gone: Vec<_> = batch.iter().map(|at| state.end_in_flight(*at)).collect();
        self.go_on(state);
        drop(gone);
    }

    /// Gives up a write, the only one of its batch, that the store will never take.
    pub(crate) fn refused(&self, at: usize, why: WriteError) {
        self.state().in_flight = None;
        self.give_up(vec![(at, why)]);
    }

    /// Gives up writes that were taken from those that wait, and are not under way.
    fn give_up(&self, writes: Vec<(usize, WriteError)>) {
        let mut state = self.state();
        state.failures += writes.len() as u64;
        let mut lost = Vec::new();
        for (at, why) in writes {
            // What is written behind it stands for it.
            if let (Some(key), Some(written)) = state.end_in_flight(at) {
                state.lost += 1;
                let behind = state.flushes.iter_mut().rev();
                behind
                    .take_while(|flush| flush.before > written.number)
                    .for_each(|flush| flush.lost += 1);
                lost.push((key, written.value, why));
            }
        }
        drop(state);
        for (key, value, why) in lost {
            self.tell_caches(&key);
            let (key, value) = (key.into_inner(), value.into_inner());
            self.tell(LostWrite { key, value, why });
        }
        self.go_on(self.state());
    }

    /// Answers the flushes that wait for nothing more, and tells the caches of room.
    fn go_on(&self, mut state: MutexGuard<'_, QueueState<K, V>>) {
        // What is under way is not done either.
        let waiting = state.oldest().map(|oldest| oldest.number);
        let first = state.in_flight.into_iter().chain(waiting).min().unwrap_or(state.next);
        let mut done = Vec::new();
        while state.flushes.front().is_some_and(|flush| flush.before <= first) {
            done.extend(state.flushes.pop_front());
        }
        let wanting = if state.pending.len() < self.settings.max_waiting {
            state.take_room_wanted()
        } else {
            Vec::new()
        };
        drop(state);
        for FlushRequest { lost, reply, .. } in done {
            reply.send(if lost == 0 { Ok(()) } else { Err(WriteError::Lost(lost)) });
        }
        wanting.into_iter().for_each(|listener| listener(QueueEvent::Room));
    }

    /// Puts a failed batch back in front of all that waits. Newer writes of its keys take its
    /// places.
    pub(crate) fn put_back(&self, batch: &[usize]) {
        let mut state = self.state();
        state.failures += 1;
        state.in_flight = None;
        let (mut replaced, mut moved) = (Vec::new(), HashSet::new());
        for at in batch {
            let pending = state.pending.get_mut(*at);
            let Some(mut in_flight) = pending.in_flight.take() else { continue };
            if let Some(waiting) = pending.waiting.take() {
                // In its place, so that those who wait for it wait for this one.
                replaced.push(replace(&mut in_flight.value, waiting.value));
                moved.insert(*at);
            }
            pending.waiting = Some(in_flight);
        }
        if !moved.is_empty() {
            state.order.retain(|at| !moved.contains(at));
        }
        batch.iter().rev().for_each(|at| state.order.push_front(*at));
        drop(state);
    }

    /// Gives up all that waits, since the runtime has ended. Caches of other runtimes go on.
    pub(crate) fn abandon(&self) {
        let mut state = self.state();
        let (pending, flushes) = (take(&mut state.pending), take(&mut state.flushes));
        state.order.clear();
        state.in_flight = None;
        (state.has_flusher, state.hurries, state.tries_again) = (false, false, false);
        state.lost += pending.len() as u64;
        let wanting = state.take_room_wanted();
        drop(state);
        for (key, KeyWrites { in_flight, waiting }) in pending.into_entries() {
            let Some(QueuedWrite { value, .. }) = waiting.or(in_flight) else { continue };
            self.tell_caches(&key);
            let (key, value) = (key.into_inner(), value.into_inner());
            self.tell(LostWrite { key, value, why: WriteError::Cancelled });
        }
        flushes.into_iter().for_each(|flush| flush.reply.send(Err(WriteError::Cancelled)));
        wanting.into_iter().for_each(|listener| listener(QueueEvent::Room));
    }

    /// Returns when the next batch is due. If nothing waits, the flusher ends.
    pub(crate) fn next(&self, now: Duration) -> BatchDue {
        let mut state = self.state();
        let Some(oldest) = state.oldest() else {
            (state.has_flusher, state.hurries, state.tries_again) = (false, false, false);
            // It holds the memory of the flusher.
            let waker = state.flusher.take();
            drop(state);
            drop(waker);
            return BatchDue::Nothing;
        };
        let waits_since = oldest.since;
        if state.is_urgent(self.settings.max_batch) {
            return BatchDue::In(Duration::ZERO);
        }
        BatchDue::In(self.settings.delay.saturating_sub(now.saturating_sub(waits_since)))
    }

    /// Whether the next batch is due, whatever the time is. Otherwise the flusher is woken later.
    pub(crate) fn is_due(&self, waker: &Waker) -> bool {
        self.watch(waker, |state| state.is_urgent(self.settings.max_batch))
    }

    /// Whether the store is to be tried again before its time. Otherwise, the flusher is woken when
    /// it is.
    pub(crate) fn is_tried_again(&self, waker: &Waker) -> bool {
        self.watch(waker, |state| state.tries_again)
    }

    fn watch(&self, waker: &Waker, is_true: impl Fn(&QueueState<K, V>) -> bool) -> bool {
        let waker = waker.clone();
        let mut state = self.state();
        let is_true = is_true(&state);
        let before = if is_true { state.flusher.take() } else { state.flusher.replace(waker) };
        drop(state);
        drop(before);
        is_true
    }
}

impl<K, V> QueueSubscription<K, V> {
    /// Returns the place of the listener.
    pub(crate) fn listener(&self) -> usize {
        self.at
    }
}

impl<K, V> Drop for QueueSubscription<K, V> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.room_wanted.remove(&self.at);
        let listener = state.listeners.try_remove(self.at);
        drop(state);
        drop(listener);
    }
}

fn wake(waker: Option<Waker>) {
    waker.into_iter().for_each(|waker| drop_quietly(|| waker.wake()));
}

impl<K, V> Default for QueueState<K, V> {
    fn default() -> Self {
        Self {
            pending: KeyedSlab::default(),
            order: VecDeque::new(),
            next: 0,
            in_flight: None,
            has_flusher: false,
            hurries: false,
            tries_again: false,
            flusher: None,
            flushes: VecDeque::new(),
            listeners: Slab::new(),
            room_wanted: BTreeSet::new(),
            writes: 0,
            failures: 0,
            lost: 0,
        }
    }
}

impl<V> Default for KeyWrites<V> {
    fn default() -> Self {
        Self { in_flight: None, waiting: None }
    }
}

impl<K: Key, V: Value> QueueState<K, V> {
    /// Returns the oldest write that waits.
    fn oldest(&self) -> Option<&QueuedWrite<V>> {
        let waiting = self.order.iter().map(|at| self.pending.get(*at).waiting.as_ref());
        waiting.flatten().next()
    }

    /// Adds a write of a key. Returns the value of one that it replaces, whose place it takes.
    fn push(
        &mut self,
        at: usize,
        value: CatchDrop<Option<V>>,
        since: Duration,
    ) -> Option<CatchDrop<Option<V>>> {
        let pending = self.pending.get_mut(at);
        if let Some(waiting) = &mut pending.waiting {
            return Some(replace(&mut waiting.value, value));
        }
        pending.waiting = Some(QueuedWrite { value, number: self.next, since });
        self.next += 1;
        self.order.push_back(at);
        None
    }

    fn is_urgent(&self, max_batch: usize) -> bool {
        let is_waited_for = !self.flushes.is_empty() || !self.room_wanted.is_empty();
        self.hurries || is_waited_for || self.order.len() >= max_batch
    }

    /// Takes the listeners that wait for room.
    fn take_room_wanted(&mut self) -> Vec<QueueListener<K>> {
        let wanted = take(&mut self.room_wanted);
        wanted.into_iter().filter_map(|at| self.listeners.get(at).map(Arc::clone)).collect()
    }

    /// Takes a write out of its batch, and its key if no newer write waits.
    fn end_in_flight(&mut self, at: usize) -> (Option<CatchDrop<K>>, Option<QueuedWrite<V>>) {
        let pending = self.pending.get_mut(at);
        let written = pending.in_flight.take();
        let is_last = pending.waiting.is_none();
        (is_last.then(|| self.pending.remove(at).0), written)
    }
}

#[cfg(test)]
mod tests;

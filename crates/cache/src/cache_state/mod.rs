//! The decisions of a cache, as a state machine: messages, ends of loads and writes, and the time
//! go in; commands come out.
//!
//! It knows neither actors nor clocks nor futures, and sends no answer, so it can be tested
//! directly. `cache.rs` drives it. Of user code it runs `Hash`, `Eq`, `Clone`, the weigher and the
//! expiry function, all under [`catch`] and before it changes anything, and destructors and the
//! removal listener, once it has changed everything.
//!
//! A key is in one of three states. *Idle*: it has no activity, and a request is decided at once.
//! *Loading*: gets join the current load, and a write, put or invalidation makes that load stale.
//! *Blocked*: a write through is in flight, or a write behind waits for room; requests queue behind
//! it in order, and [`CacheState::resume`] takes them from there.

mod command;
mod gets;
mod invalidations;
mod loads;
#[cfg(test)]
mod tests;
mod writes;

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use coact_core::Broken;
use coact_core::internals::{CatchDrop, catch};

use crate::builder::CacheSettings;
use crate::counts::{CacheCounts, LookupCounter};
use crate::entry_table::{EntryContent, EntryTable};
use crate::key_activity::{KeyActivity, LoadInFlight, QueuedRequest, WriteReply};
use crate::key_value::{Key, Value};
use crate::keyed_slab::KeyedSlab;

pub(crate) use command::{
    CacheCommand, CacheTurn, EntryUpdate, LoadCommand, OperationId, QueueCommand, WriteCommand,
};
pub(crate) use gets::GetLookup;

/// The state of one cache.
pub(crate) struct CacheState<K: Key, V: Value> {
    settings: Arc<CacheSettings<K, V>>,
    entries: EntryTable<K, V>,
    /// Never locked: it makes the state `Sync`, whose parallel readers only look at entries.
    activities: Mutex<KeyedSlab<K, KeyActivity<K, V>>>,
    /// The place of this cache among the listeners of the write queue.
    listener: Option<usize>,
    /// The keys whose first write waits for room in the write queue, in order.
    waiting_for_room: VecDeque<usize>,
    /// The numbers of the writes that wait for room, or behind such a write of their key.
    admitted_writes: BTreeSet<u64>,
    /// The flushes that wait until no write up to this number is held, in order.
    held_flushes: VecDeque<(u64, WriteReply)>,
    /// The activities of writes that the state before this one began, by number.
    adopted_writes: HashMap<u64, usize>,
    /// Writes requested so far.
    requested_writes: u64,
    loading: usize,
    hits: LookupCounter,
    misses: LookupCounter,
    loads: u64,
    refreshes: u64,
    load_failures: u64,
    refused_loads: u64,
    writes: u64,
    write_failures: u64,
}

/// Where a key is: its hash, and its activity if it has one.
#[derive(Clone, Copy)]
pub(crate) struct KeyPlace {
    hash: u64,
    activity: Option<usize>,
}

impl<K: Key, V: Value> CacheState<K, V> {
    pub(crate) fn new(settings: Arc<CacheSettings<K, V>>) -> Self {
        Self {
            entries: EntryTable::new(Arc::clone(&settings.limits), settings.listener.clone()),
            settings,
            activities: Mutex::default(),
            listener: None,
            waiting_for_room: VecDeque::new(),
            admitted_writes: BTreeSet::new(),
            held_flushes: VecDeque::new(),
            adopted_writes: HashMap::new(),
            requested_writes: 0,
            loading: 0,
            hits: LookupCounter::default(),
            misses: LookupCounter::default(),
            loads: 0,
            refreshes: 0,
            load_failures: 0,
            refused_loads: 0,
            writes: 0,
            write_failures: 0,
        }
    }

    /// Returns the value of a key that has an entry, and marks the entry as used. For parallel
    /// readers.
    #[inline]
    pub(crate) fn cached<Q>(&self, key: &Q, now: Duration) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let at = self.entries.find(self.settings.hasher.hash_one(key), key);
        match at.filter(|at| !self.entries.is_over(*at, now)).map(|at| (at, self.entries.get(at))) {
            Some((at, EntryContent::Value(value))) => {
                self.entries.mark(at, now);
                self.hits.raise_shared();
                Some(value)
            }
            _ => {
                self.misses.raise_shared();
                None
            }
        }
    }

    /// Returns the counts of this state; those of the write queue are not among them.
    pub(crate) fn counts(&self) -> CacheCounts {
        let mut counts = CacheCounts {
            hits: self.hits.get(),
            misses: self.misses.get(),
            loads: self.loads,
            refreshes: self.refreshes,
            load_failures: self.load_failures,
            refused_loads: self.refused_loads,
            writes: self.writes,
            write_failures: self.write_failures,
            loading: self.loading,
            ..CacheCounts::default()
        };
        self.entries.count(&mut counts);
        counts
    }

    #[inline]
    fn activities(&mut self) -> &mut KeyedSlab<K, KeyActivity<K, V>> {
        self.activities.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the place of a key. Calls `Hash` and `Eq` of the key.
    #[inline(always)]
    fn locate(&mut self, key: &K) -> KeyPlace {
        let hash = self.settings.hasher.hash_one(key);
        let activities = self.activities();
        let activity = if activities.is_empty() { None } else { activities.find(hash, key) };
        KeyPlace { hash, activity }
    }

    /// Returns the activity of a key behind which requests have to queue.
    #[inline(always)]
    fn blocking_activity(&mut self, place: KeyPlace) -> Option<usize> {
        place.activity.filter(|at| self.activities().get(*at).is_blocked())
    }

    /// Returns the activity of a key, which begins here if the key has none.
    fn activity_at(&mut self, place: KeyPlace, key: CatchDrop<K>) -> usize {
        place.activity.unwrap_or_else(|| {
            self.activities().insert(place.hash, key.into_inner(), KeyActivity::default())
        })
    }

    /// Makes the current load of a key stale, and aborts the stale loads that nothing waits for.
    fn supersede_load(&mut self, at: usize, turn: &mut CacheTurn<K, V>) {
        let aborted = self.activities().get_mut(at).supersede();
        let handles = aborted.into_iter().map(LoadInFlight::into_abort_handle);
        turn.commands.extend(handles.map(CacheCommand::AbortLoad));
    }

    /// Takes requests from the queue of a key until one blocks it again. Drops an activity that
    /// has ended.
    ///
    /// The queue may be long: nothing that this calls may call it in turn.
    fn resume(&mut self, at: usize, turn: &mut CacheTurn<K, V>) {
        loop {
            let Some(activity) = self.activities().try_get_mut(at) else { return };
            if activity.is_waiting() {
                return;
            }
            let Some(request) = activity.queue.pop_front() else { break };
            let (hash, key) = self.activities().key(at);
            let place = KeyPlace { hash, activity: Some(at) };
            let key = catch(|| CatchDrop::new(key.clone()));
            self.resume_with(place, key, request, turn);
        }
        self.drop_ended(at);
    }

    fn resume_with(
        &mut self,
        place: KeyPlace,
        key: Result<CatchDrop<K>, Broken>,
        request: QueuedRequest<K, V>,
        turn: &mut CacheTurn<K, V>,
    ) {
        match request {
            QueuedRequest::Get(request) => match key {
                Ok(key) => self.get_unblocked(place, key, request, turn),
                Err(panic) => turn.answer_get(request.reply, Err(panic)),
            },
            QueuedRequest::Write(request) => {
                self.admitted_writes.remove(&request.number);
                match key {
                    Ok(key) => self.write_unblocked(place, key, request, turn),
                    Err(panic) => turn.answer_write(request.reply, Err(panic)),
                }
            }
            QueuedRequest::Invalidate(reply) => {
                let forgotten = key.and_then(|key| self.forget_entry(place, &key, turn));
                turn.commands.push(CacheCommand::AnswerInvalidation(reply, forgotten));
            }
        }
    }

    /// Drops the activity of a key that has neither loads nor requests any more.
    fn drop_ended(&mut self, at: usize) {
        if self.activities().try_get(at).is_some_and(KeyActivity::is_over) {
            drop(self.activities().remove(at));
        }
    }
}

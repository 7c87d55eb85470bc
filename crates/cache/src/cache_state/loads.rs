//! Loads: begun by gets and refreshes, kept if they are current when they end.

use std::mem::take;
use std::time::Duration;

use coact_core::internals::{CatchDrop, catch};

use super::command::{CacheCommand, CacheTurn, LoadCommand, OperationId};
use super::{CacheState, KeyPlace};
use crate::backing::{CacheLoader, LoadResult, OnceLoader};
use crate::builder::{EntryMeasure, WriteMode};
use crate::entry_table::{EntryContent, NewEntry};
use crate::errors::LoadError;
use crate::key_activity::{GetReply, LoadInFlight, LoadKind};
use crate::key_value::{Key, Value};
use crate::removal::RemovalCause;

impl<K: Key, V: Value> CacheState<K, V> {
    /// Returns the limit on loads if as many are in flight.
    pub(super) fn exhausted_load_limit(&self) -> Option<usize> {
        self.settings.max_loads.filter(|most| self.loading >= *most)
    }

    /// Begins a load of a key that has no current one.
    pub(super) fn start_load(
        &mut self,
        at: usize,
        key: CatchDrop<K>,
        loader: Option<CatchDrop<OnceLoader<K, V>>>,
        asker: Option<GetReply<V>>,
        turn: &mut CacheTurn<K, V>,
    ) {
        let blocks = self.settings.loader.as_ref().is_some_and(CacheLoader::blocks);
        let kind = match &loader {
            None if blocks => LoadKind::Blocking,
            _ => LoadKind::Future,
        };
        let (number, abort) = self.activities().get_mut(at).begin_load(turn.now, kind, asker);
        self.loads += 1;
        self.loading += 1;
        let id = OperationId { at, number };
        turn.commands.push(CacheCommand::StartLoad(LoadCommand { id, key, loader, abort }));
    }

    /// Loads the value of a hit again, unless a newer one is loading or waits to be stored.
    pub(super) fn refresh(
        &mut self,
        place: KeyPlace,
        key: CatchDrop<K>,
        turn: &mut CacheTurn<K, V>,
    ) {
        let is_loading = place.activity.is_some_and(|at| {
            let activity = self.activities().get(at);
            activity.load.is_some() || activity.is_overdue()
        });
        if is_loading || self.exhausted_load_limit().is_some() {
            return;
        }
        let own_key = catch(|| {
            let is_stored = match &self.settings.writing {
                WriteMode::Behind(queue) => !queue.has_pending(place.hash, &key),
                _ => true,
            };
            is_stored.then(|| CatchDrop::new((*key).clone()))
        });
        // A panic is reported by now, and the hit answered.
        let Ok(Some(own_key)) = own_key else { return };
        let at = self.activity_at(place, own_key);
        self.refreshes += 1;
        self.start_load(at, key, None, None, turn);
    }

    /// Fails the gets that wait for a load on a blocking thread, which goes on.
    pub(crate) fn load_overdue(
        &mut self,
        OperationId { at, number }: OperationId,
        limit: Duration,
        turn: &mut CacheTurn<K, V>,
    ) {
        let activity = self.activities().try_get_mut(at);
        let Some(load) = activity.and_then(|activity| activity.load_mut(number)) else { return };
        load.is_overdue = true;
        let waiters = take(&mut load.waiters);
        self.load_failures += 1;
        for reply in waiters {
            turn.answer_get(reply, Ok(Err(LoadError::TimedOut(limit))));
        }
    }

    /// Ends a load: keeps the result of the current one, and answers those who wait for it.
    /// `None`: it was aborted.
    pub(crate) fn load_ended(
        &mut self,
        OperationId { at, number }: OperationId,
        result: Option<LoadResult<V>>,
        turn: &mut CacheTurn<K, V>,
    ) {
        self.loading -= 1;
        let Some(result) = result.map(CatchDrop::new) else { return };
        let Some(activity) = self.activities().try_get_mut(at) else { return };
        let Some((load, is_current)) = activity.take_load(number) else { return };
        if let (Err(error), false) = (&*result, load.is_overdue) {
            self.load_failures += 1;
            if is_current && load.waiters.is_empty() {
                turn.commands.push(CacheCommand::ReportFailedRefresh(error.clone()));
            }
        }
        if is_current {
            self.keep_loaded(at, &result, load.since, turn.now);
        }
        Self::answer_waiters(load, result, turn);
        self.resume(at, turn);
    }

    fn answer_waiters(
        load: LoadInFlight<V>,
        result: CatchDrop<LoadResult<V>>,
        turn: &mut CacheTurn<K, V>,
    ) {
        let mut waiters = load.waiters;
        let last = waiters.pop();
        for reply in waiters {
            let copy = catch(|| (*result).clone());
            turn.answer_get(reply, copy);
        }
        if let Some(reply) = last {
            turn.answer_get(reply, Ok(result.into_inner()));
        }
    }

    /// Makes an entry of a load's result, or drops the entry of a key without a value.
    fn keep_loaded(&mut self, at: usize, result: &LoadResult<V>, since: Duration, now: Duration) {
        let changed = catch(|| {
            let (hash, key) = self.activities().key(at);
            let key = CatchDrop::new(key.clone());
            let before = self.entries.find(hash, &*key);
            let is_usable = before.is_some_and(|before| self.entries.is_usable(before, now));
            // A refresh that fails changes nothing.
            if result.is_err() && is_usable {
                return None;
            }
            Some((hash, before, self.entry_of(&key, result), key))
        });
        // A result that panics is not kept. It was reported.
        match changed {
            Ok(Some((hash, before, Some(entry), key))) => {
                self.entries.insert((hash, key), before, entry, since, now);
            }
            Ok(Some((_, Some(before), None, _))) if result.is_ok() => {
                self.entries.forget(before, RemovalCause::Explicit);
            }
            _ => {}
        }
    }

    /// Returns the entry that a load's result makes, if any. Calls the weigher, the expiry function
    /// and `Clone`.
    fn entry_of(&self, key: &K, result: &LoadResult<V>) -> Option<NewEntry<V>> {
        let keeps_failures = self.settings.limits.negative_time_to_live.is_some();
        let mut measure = EntryMeasure { weight: 1, time_to_live: None };
        let content = match result {
            Ok(Some(value)) => {
                measure = self.settings.measure(key, value);
                EntryContent::Value(CatchDrop::new(value.clone()))
            }
            Ok(None) if keeps_failures => EntryContent::Absent,
            Err(error) if keeps_failures => EntryContent::Failed(error.clone()),
            Ok(None) | Err(_) => return None,
        };
        Some(NewEntry::new(content, measure))
    }
}

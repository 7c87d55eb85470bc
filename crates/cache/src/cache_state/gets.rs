//! Gets: answered from an entry or the write queue, or left to a load.

use std::time::Duration;

use coact_core::Broken;
use coact_core::internals::{CatchDrop, catch};

use super::command::CacheTurn;
use super::{CacheState, KeyPlace};
use crate::backing::LoadResult;
use crate::builder::WriteMode;
use crate::entry_table::EntryContent;
use crate::errors::LoadError;
use crate::key_activity::{GetRequest, QueuedRequest};
use crate::key_value::{Key, Value};

/// What the cache knows of a key at once.
pub(crate) enum GetLookup<V> {
    /// The answer: nothing else is to be done.
    Hit(LoadResult<V>),
    /// The answer, and the value is old enough to be refreshed.
    RefreshDue(LoadResult<V>, KeyPlace),
    Miss(KeyPlace),
    /// The get queues behind a write of its key.
    Blocked(usize),
}

impl<K: Key, V: Value> CacheState<K, V> {
    /// Looks a key up for a get. Only [`GetLookup::Hit`] is an answer by itself; the others go to
    /// [`get`](Self::get).
    ///
    /// # Errors
    /// Returns a panic of user code. Nothing has changed then but the order of use.
    #[inline]
    pub(crate) fn look_up(&mut self, key: &K, now: Duration) -> Result<GetLookup<V>, Broken> {
        catch(|| {
            let place = self.locate(key);
            match self.blocking_activity(place) {
                Some(at) => GetLookup::Blocked(at),
                None => self.look_up_counted(place, key, now),
            }
        })
    }

    /// Does a get whose lookup has come to this.
    pub(crate) fn get(
        &mut self,
        lookup: GetLookup<V>,
        key: CatchDrop<K>,
        request: GetRequest<K, V>,
        turn: &mut CacheTurn<K, V>,
    ) {
        match lookup {
            GetLookup::Hit(answer) => turn.answer_get(request.reply, Ok(answer)),
            GetLookup::RefreshDue(answer, place) => {
                turn.answer_get(request.reply, Ok(answer));
                self.refresh(place, key, turn);
            }
            GetLookup::Miss(place) => self.load_for(place, key, request, turn),
            GetLookup::Blocked(at) => {
                self.activities().get_mut(at).queue.push_back(QueuedRequest::Get(request));
            }
        }
    }

    /// Does a get that nothing blocks any more: one from the queue of its key.
    pub(super) fn get_unblocked(
        &mut self,
        place: KeyPlace,
        key: CatchDrop<K>,
        request: GetRequest<K, V>,
        turn: &mut CacheTurn<K, V>,
    ) {
        match catch(|| self.look_up_counted(place, &key, turn.now)) {
            Ok(lookup) => self.get(lookup, key, request, turn),
            Err(panic) => turn.answer_get(request.reply, Err(panic)),
        }
    }

    /// Returns the value of a key that is known, without a load.
    ///
    /// # Errors
    /// Returns a panic of user code.
    pub(crate) fn get_cached(&mut self, key: &K, now: Duration) -> Result<Option<V>, Broken> {
        let value = catch(|| {
            let place = self.locate(key);
            if self.blocking_activity(place).is_some() {
                return None;
            }
            match self.look_up_at(place, key, now) {
                GetLookup::Hit(answer) | GetLookup::RefreshDue(answer, _) => answer.ok().flatten(),
                GetLookup::Miss(_) | GetLookup::Blocked(_) => None,
            }
        })?;
        let counter = if value.is_some() { &mut self.hits } else { &mut self.misses };
        counter.raise();
        Ok(value)
    }

    /// Looks up a key that is not blocked, and counts a hit or a miss.
    #[inline(always)]
    fn look_up_counted(&mut self, place: KeyPlace, key: &K, now: Duration) -> GetLookup<V> {
        let lookup = self.look_up_at(place, key, now);
        match lookup {
            GetLookup::Miss(_) => self.misses.raise(),
            _ => self.hits.raise(),
        }
        lookup
    }

    /// Looks up a key that is not blocked. May panic before it changes anything but the order of
    /// use.
    #[inline(always)]
    fn look_up_at(&mut self, place: KeyPlace, key: &K, now: Duration) -> GetLookup<V> {
        if let Some(at) = self.entries.find(place.hash, key) {
            if !self.entries.is_over(at, now) {
                let answer = match self.entries.get(at) {
                    EntryContent::Value(value) => Ok(Some((**value).clone())),
                    EntryContent::Absent => Ok(None),
                    EntryContent::Failed(error) => Err(error.clone()),
                };
                self.entries.touch(at, now);
                let refreshes = self.settings.limits.refresh_after_write.is_some();
                if refreshes && self.entries.is_refresh_due(at, now) {
                    return GetLookup::RefreshDue(answer, place);
                }
                return GetLookup::Hit(answer);
            }
            self.entries.expire(at);
        }
        let queued = match &self.settings.writing {
            WriteMode::Behind(queue) => queue.latest(place.hash, key),
            _ => None,
        };
        queued.map_or(GetLookup::Miss(place), |value| GetLookup::Hit(Ok(value)))
    }

    /// Leaves a get to a load, which it begins or joins.
    fn load_for(
        &mut self,
        place: KeyPlace,
        key: CatchDrop<K>,
        GetRequest { reply, load }: GetRequest<K, V>,
        turn: &mut CacheTurn<K, V>,
    ) {
        if load.is_none() && self.settings.loader.is_none() {
            return turn.answer_get(reply, Ok(Ok(None)));
        }
        if let Some(at) = place.activity {
            let limit = self.settings.load_timeout.unwrap_or_default();
            let activity = self.activities().get_mut(at);
            if activity.is_overdue() {
                return turn.answer_get(reply, Ok(Err(LoadError::TimedOut(limit))));
            }
            if let Some(load) = &mut activity.load {
                return load.waiters.push(reply);
            }
        }
        if let Some(most) = self.exhausted_load_limit() {
            self.refused_loads += 1;
            return turn.answer_get(reply, Ok(Err(LoadError::Full(most))));
        }
        let at = match place.activity {
            Some(at) => at,
            None => match catch(|| CatchDrop::new((*key).clone())) {
                Ok(own_key) => self.activity_at(place, own_key),
                Err(panic) => return turn.answer_get(reply, Err(panic)),
            },
        };
        self.start_load(at, key, load, Some(reply), turn);
    }
}

//! Invalidations: entries are forgotten, and loads that began before are not kept.

use coact_actor::actor::Reply;
use coact_core::Broken;
use coact_core::internals::catch;

use super::command::{CacheCommand, CacheTurn};
use super::{CacheState, KeyPlace};
use crate::key_activity::QueuedRequest;
use crate::key_value::{Key, Value};
use crate::removal::RemovalCause;

impl<K: Key, V: Value> CacheState<K, V> {
    /// Forgets a key whose value has changed elsewhere, or queues that behind a write of the key.
    pub(crate) fn invalidate(&mut self, key: &K, reply: Reply<()>, turn: &mut CacheTurn<K, V>) {
        let forgotten = match catch(|| self.locate(key)) {
            Ok(place) => {
                if let Some(at) = self.blocking_activity(place) {
                    let queue = &mut self.activities().get_mut(at).queue;
                    return queue.push_back(QueuedRequest::Invalidate(reply));
                }
                self.forget_at(place, key, turn)
            }
            Err(panic) => Err(panic),
        };
        turn.commands.push(CacheCommand::AnswerInvalidation(reply, forgotten));
    }

    /// Forgets all keys, those with a write in flight once that has ended.
    pub(crate) fn invalidate_all(&mut self, turn: &mut CacheTurn<K, V>) {
        self.entries.clear();
        for at in self.activities().places().collect::<Vec<_>>() {
            self.supersede_load(at, turn);
            let activity = self.activities().get_mut(at);
            if activity.is_blocked() {
                activity.queue.push_back(QueuedRequest::Invalidate(Reply::unwanted()));
            }
            self.drop_ended(at);
        }
    }

    /// Forgets a key whose value in the store is not known any more.
    pub(crate) fn write_lost(&mut self, key: &K, turn: &mut CacheTurn<K, V>) {
        // Nothing waits for this; a panic was reported.
        if let Ok(place) = catch(|| self.locate(key)) {
            let _ = self.forget_at(place, key, turn);
        }
    }

    fn forget_at(
        &mut self,
        place: KeyPlace,
        key: &K,
        turn: &mut CacheTurn<K, V>,
    ) -> Result<(), Broken> {
        let forgotten = self.forget_entry(place, key, turn);
        place.activity.into_iter().for_each(|at| self.drop_ended(at));
        forgotten
    }

    /// Drops the entry of a key, and makes its current load stale.
    pub(super) fn forget_entry(
        &mut self,
        place: KeyPlace,
        key: &K,
        turn: &mut CacheTurn<K, V>,
    ) -> Result<(), Broken> {
        if let Some(at) = catch(|| self.entries.find(place.hash, key))? {
            self.entries.forget(at, RemovalCause::Explicit);
        }
        if let Some(at) = place.activity {
            self.supersede_load(at, turn);
        }
        Ok(())
    }
}

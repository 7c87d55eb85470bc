//! Writes through in flight: the state after a restart blocks their keys.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use coact_actor::actor::ActorId;
use coact_core::internals::{CatchDrop, catch};

/// The writes of all caches of one specification, by actor and number.
pub(crate) struct PendingWrites<K>(Mutex<WritesByActor<K>>);

type WritesByActor<K> = HashMap<ActorId, HashMap<u64, PendingWrite<K>>>;

struct PendingWrite<K> {
    hash: u64,
    /// `None` while it is cloned, which happens outside of the lock.
    key: Option<CatchDrop<K>>,
}

/// One of them, until this is dropped.
pub(crate) struct PendingWriteGuard<K> {
    all: Arc<PendingWrites<K>>,
    actor: ActorId,
    number: u64,
}

impl<K> PendingWrites<K> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::default()))
    }

    fn lock(&self) -> MutexGuard<'_, WritesByActor<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(
        self: &Arc<Self>,
        number: u64,
        actor: ActorId,
        (hash, key): (u64, CatchDrop<K>),
    ) -> PendingWriteGuard<K> {
        let write = PendingWrite { hash, key: Some(key) };
        self.lock().entry(actor).or_default().insert(number, write);
        PendingWriteGuard { all: Arc::clone(self), actor, number }
    }

    /// Returns the number, hash and key of each write of an actor.
    pub(crate) fn of(&self, actor: ActorId) -> Vec<(u64, u64, CatchDrop<K>)>
    where
        K: Clone,
    {
        let mut keys = Vec::new();
        if let Some(own) = self.lock().get_mut(&actor) {
            let key_of = |(number, write): (&u64, &mut PendingWrite<K>)| {
                Some((*number, write.hash, write.key.take()?))
            };
            keys.extend(own.iter_mut().filter_map(key_of));
        }
        // In order of their numbers: a simulation repeats itself, and a hash map has no order.
        keys.sort_unstable_by_key(|(number, ..)| *number);
        let copy = |(number, hash, key): &(u64, u64, CatchDrop<K>)| {
            let copy = catch(|| CatchDrop::new((**key).clone())).ok()?;
            Some((*number, *hash, copy))
        };
        let copies = keys.iter().filter_map(copy).collect();
        let mut ended = Vec::new();
        let mut all = self.lock();
        let mut own = all.get_mut(&actor);
        for (number, _, key) in keys {
            match own.as_mut().and_then(|own| own.get_mut(&number)) {
                Some(write) => write.key = Some(key),
                None => ended.push(key),
            }
        }
        drop(all);
        drop(ended);
        copies
    }
}

impl<K> Drop for PendingWriteGuard<K> {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        let Some(own) = all.get_mut(&self.actor) else { return };
        let ended = own.remove(&self.number);
        if own.is_empty() {
            all.remove(&self.actor);
        }
        drop(all);
        drop(ended);
    }
}

#[cfg(test)]
mod tests;

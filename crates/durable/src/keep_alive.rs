//! Actors that are kept active though no one has their addresses.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use coact_persist::EntityId;

/// Actors that are kept, though no one else may have their addresses: those that were asked for
/// last.
#[derive(Default)]
pub(crate) struct ActiveActors {
    by_entity: HashMap<EntityId, ActiveActor>,
    /// From the one that was asked for first.
    by_turn: BTreeMap<u64, EntityId>,
    turns: u64,
}

/// An actor that is kept, and when it was asked for last.
pub(crate) struct ActiveActor {
    /// An [`Addr`].
    _address: Box<dyn Any + Send>,
    turn: u64,
    at: Duration,
}

impl ActiveActors {
    /// Marks an actor as the one that was asked for last. Returns what to drop, without a lock.
    pub(crate) fn touch(
        &mut self,
        id: &EntityId,
        address: Box<dyn Any + Send>,
        at: Duration,
    ) -> Option<ActiveActor> {
        self.turns += 1;
        let turn = self.turns;
        self.by_turn.insert(turn, id.clone());
        let before = self.by_entity.insert(id.clone(), ActiveActor { _address: address, turn, at });
        if let Some(before) = &before {
            self.by_turn.remove(&before.turn);
        }
        before
    }

    pub(crate) fn forget(&mut self, id: &EntityId) -> Option<ActiveActor> {
        let used = self.by_entity.remove(id)?;
        self.by_turn.remove(&used.turn);
        Some(used)
    }

    /// Returns the first, if there are more than `most`, or it was asked for before then.
    pub(crate) fn pop(&mut self, most: usize, since: Option<Duration>) -> Option<ActiveActor> {
        let first = self.by_turn.first_entry()?;
        let used = self.by_entity.get(first.get())?;
        if self.by_entity.len() > most || since.is_some_and(|since| used.at < since) {
            return self.by_entity.remove(&first.remove());
        }
        None
    }
}

impl Drop for ActiveActors {
    fn drop(&mut self) {
        // So that a simulation always gives them up in the same order: the longest unused first.
        for id in std::mem::take(&mut self.by_turn).into_values() {
            drop(self.by_entity.remove(&id));
        }
    }
}

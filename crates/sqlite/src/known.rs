//! What the thread that writes remembers of entities, so that a commit need not look for its members in the file.

use std::collections::HashMap;
use std::mem::{replace, take};

use coact_persist::{EntityId, EventHash, Seq};

use crate::row::Entity;

/// How many entities are remembered for certain; up to twice as many are.
const MOST: usize = 1 << 14;

/// Entities as they are in the file, with what the transaction that is being made has changed.
///
/// It holds as long as no other connection writes, which is seen by [`begin`](Self::begin), and as the transactions are committed:
/// after one that is not, or may not be, all is [forgotten](Self::forget_all).
#[derive(Default)]
pub(crate) struct Known {
    recent: HashMap<EntityId, Entity>,
    /// What was recent when that was full the last time, and has not been used since.
    before: HashMap<EntityId, Entity>,
    /// SQLite's number of the changes by other connections.
    changes: i64,
}

impl Known {
    /// Begins a transaction, given SQLite's number of the changes by other connections (`PRAGMA data_version`).
    pub(crate) fn begin(&mut self, changes: i64) {
        if replace(&mut self.changes, changes) != changes {
            self.forget_all();
        }
    }

    pub(crate) fn find(&mut self, id: &EntityId) -> Option<Entity> {
        if let Some(entity) = self.recent.get(id) {
            return Some(*entity);
        }
        let (id, entity) = self.before.remove_entry(id)?;
        self.add(id, entity);
        Some(entity)
    }

    pub(crate) fn add(&mut self, id: EntityId, entity: Entity) {
        if self.recent.len() >= MOST {
            self.before = take(&mut self.recent);
        }
        self.recent.insert(id, entity);
    }

    /// Takes note of its last event. (One that is not among the recent ones is read again.)
    pub(crate) fn moved(&mut self, id: &EntityId, last: Seq, hash: EventHash) {
        match self.recent.get_mut(id) {
            Some(entity) => (entity.last, entity.hash) = (last, hash),
            None => drop(self.before.remove(id)),
        }
    }

    pub(crate) fn forget_all(&mut self) {
        self.recent.clear();
        self.before.clear();
    }
}

#[cfg(test)]
mod tests {
    use coact_persist::Epoch;

    use super::*;

    fn numbered(number: usize) -> (EntityId, Entity) {
        let id = EntityId::new("kind", number.to_string());
        let hash = EventHash::of(&id);
        (id, Entity { id: number as i64, epoch: Epoch::ZERO, last: Seq::ZERO, hash })
    }

    #[test]
    fn what_is_used_is_remembered_and_what_is_not_is_forgotten() {
        let mut known = Known::default();
        let (used, unused) = (numbered(0), numbered(1));
        known.add(used.0.clone(), used.1);
        known.add(unused.0.clone(), unused.1);
        for number in 2..3 * MOST {
            let (id, entity) = numbered(number);
            known.add(id, entity);
            assert!(known.find(&used.0).is_some(), "after {number}");
        }
        assert!(known.find(&unused.0).is_none());
        assert!(known.recent.len() <= MOST && known.before.len() <= MOST);
    }

    #[test]
    fn what_has_moved_is_known_as_it_is_now() {
        let mut known = Known::default();
        let (id, entity) = numbered(0);
        known.add(id.clone(), entity);
        let hash = EventHash::from_stored(7);
        known.moved(&id, Seq::new(5), hash);
        let found = known.find(&id).expect("it was added");
        assert_eq!((found.last, found.hash), (Seq::new(5), hash));
        // Among those that were recent before, it is forgotten rather than kept as it was.
        known.before = take(&mut known.recent);
        known.moved(&id, Seq::new(6), hash);
        assert!(known.find(&id).is_none());
    }

    #[test]
    fn a_change_by_another_connection_has_all_forgotten() {
        let mut known = Known::default();
        known.begin(1);
        let (id, entity) = numbered(0);
        known.add(id.clone(), entity);
        known.begin(1);
        assert!(known.find(&id).is_some());
        known.begin(2);
        assert!(known.find(&id).is_none());
    }
}

//! The entity rows that the writing thread remembers, which saves commits a look-up of their
//! members.

use std::collections::HashMap;
use std::mem::{replace, take};

use coact_persist::{EntityId, EventHash, Seq};

use crate::row::EntityRow;

/// The fewest remembered entities; there may be twice as many.
const MOST: usize = 1 << 14;

/// The rows of entities in the file, with the changes of the current transaction.
///
/// They are current as long as no other connection writes, which [`begin`](Self::begin) checks, and
/// transactions commit: after one that did not, or may not have, [clear the
/// cache](Self::forget_all).
#[derive(Default)]
pub(crate) struct EntityCache {
    recent: HashMap<EntityId, EntityRow>,
    /// The previous generation: entities not used since `recent` was last full.
    before: HashMap<EntityId, EntityRow>,
    /// SQLite's counter of changes by other connections.
    changes: i64,
}

impl EntityCache {
    /// Begins a transaction, given SQLite's counter of changes by other connections
    /// (`PRAGMA data_version`).
    pub(crate) fn begin(&mut self, changes: i64) {
        if replace(&mut self.changes, changes) != changes {
            self.forget_all();
        }
    }

    pub(crate) fn find(&mut self, id: &EntityId) -> Option<EntityRow> {
        if let Some(entity) = self.recent.get(id) {
            return Some(*entity);
        }
        let (id, entity) = self.before.remove_entry(id)?;
        self.add(id, entity);
        Some(entity)
    }

    pub(crate) fn add(&mut self, id: EntityId, entity: EntityRow) {
        if self.recent.len() >= MOST {
            self.before = take(&mut self.recent);
        }
        self.recent.insert(id, entity);
    }

    /// Updates an entity's last event. (An entity of the previous generation is read again.)
    pub(crate) fn move_head(&mut self, id: &EntityId, last: Seq, hash: EventHash) {
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

    fn numbered(number: usize) -> (EntityId, EntityRow) {
        let id = EntityId::new("kind", number.to_string());
        let hash = EventHash::of(&id);
        (id, EntityRow { id: number as i64, epoch: Epoch::ZERO, last: Seq::ZERO, hash })
    }

    #[test]
    fn what_is_used_is_remembered_and_what_is_not_is_forgotten() {
        let mut cache = EntityCache::default();
        let (used, unused) = (numbered(0), numbered(1));
        cache.add(used.0.clone(), used.1);
        cache.add(unused.0.clone(), unused.1);
        for number in 2..3 * MOST {
            let (id, entity) = numbered(number);
            cache.add(id, entity);
            assert!(cache.find(&used.0).is_some(), "after {number}");
        }
        assert!(cache.find(&unused.0).is_none());
        assert!(cache.recent.len() <= MOST && cache.before.len() <= MOST);
    }

    #[test]
    fn what_has_moved_is_known_as_it_is_now() {
        let mut cache = EntityCache::default();
        let (id, entity) = numbered(0);
        cache.add(id.clone(), entity);
        let hash = EventHash::from_stored(7);
        cache.move_head(&id, Seq::new(5), hash);
        let found = cache.find(&id).expect("it was added");
        assert_eq!((found.last, found.hash), (Seq::new(5), hash));
        // In the previous generation, it is removed rather than left outdated.
        cache.before = take(&mut cache.recent);
        cache.move_head(&id, Seq::new(6), hash);
        assert!(cache.find(&id).is_none());
    }

    #[test]
    fn a_change_by_another_connection_has_all_forgotten() {
        let mut cache = EntityCache::default();
        cache.begin(1);
        let (id, entity) = numbered(0);
        cache.add(id.clone(), entity);
        cache.begin(1);
        assert!(cache.find(&id).is_some());
        cache.begin(2);
        assert!(cache.find(&id).is_none());
    }
}

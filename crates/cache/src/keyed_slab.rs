//! A map whose entries have places, which calls user code only to find a key.

use std::borrow::Borrow;

use coact_core::internals::CatchDrop;
use hashbrown::HashTable;
use slab::Slab;

/// Entries by key. It is given hashes and keeps them, so it never hashes, and it compares keys only
/// before it changes anything.
pub(crate) struct KeyedSlab<K, T> {
    places: HashTable<usize>,
    slots: Slab<KeyedSlot<K, T>>,
}

struct KeyedSlot<K, T> {
    hash: u64,
    key: CatchDrop<K>,
    value: T,
}

impl<K, T> Default for KeyedSlab<K, T> {
    fn default() -> Self {
        Self { places: HashTable::new(), slots: Slab::new() }
    }
}

impl<K, T> KeyedSlab<K, T> {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the place of a key. Calls the program's `Eq`, which may panic.
    #[inline]
    pub(crate) fn find<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let is_it = |&at: &usize| {
            let slot = &self.slots[at];
            slot.hash == hash && (*slot.key).borrow() == key
        };
        self.places.find(hash, is_it).copied()
    }

    /// Inserts an entry for a key that has none, and returns its place.
    pub(crate) fn insert(&mut self, hash: u64, key: K, value: T) -> usize {
        let at = self.slots.insert(KeyedSlot { hash, key: CatchDrop::new(key), value });
        let slots = &self.slots;
        self.places.insert_unique(hash, at, |&at| slots[at].hash);
        at
    }

    pub(crate) fn remove(&mut self, at: usize) -> (CatchDrop<K>, T) {
        let KeyedSlot { hash, key, value } = self.slots.remove(at);
        if let Ok(place) = self.places.find_entry(hash, |&other| other == at) {
            place.remove();
        }
        (key, value)
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> &T {
        &self.slots[at].value
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: usize) -> &mut T {
        &mut self.slots[at].value
    }

    /// Returns the entry in a place where there may be none.
    pub(crate) fn try_get(&self, at: usize) -> Option<&T> {
        self.slots.get(at).map(|slot| &slot.value)
    }

    /// Returns the entry in a place where there may be none.
    pub(crate) fn try_get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.slots.get_mut(at).map(|slot| &mut slot.value)
    }

    pub(crate) fn key(&self, at: usize) -> (u64, &K) {
        let slot = &self.slots[at];
        (slot.hash, &slot.key)
    }

    pub(crate) fn into_entries(self) -> impl Iterator<Item = (CatchDrop<K>, T)> {
        self.slots.into_iter().map(|(_, KeyedSlot { key, value, .. })| (key, value))
    }

    /// Returns all places that are taken.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.slots.iter().map(|(at, _)| at)
    }
}

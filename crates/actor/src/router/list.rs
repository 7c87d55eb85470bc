//! The list of routees: adding and removing take constant time, and all of them are a snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use crate::id::ActorId;
use crate::in_flight::InFlightToken;
use crate::monitor_guard::MonitorGuard;

pub(super) struct Routee<R> {
    pub(super) id: ActorId,
    /// Increases with each routee added.
    pub(super) number: u64,
    pub(super) address: R,
    /// Shared with all messages on their way, if they are counted.
    pub(super) load: Option<Arc<()>>,
    /// Removes the routee when it has ended.
    pub(super) _watch: Option<MonitorGuard>,
}

impl<R> Routee<R> {
    pub(super) fn load(&self) -> usize {
        self.load.as_ref().map_or(0, |load| Arc::strong_count(load) - 1)
    }

    pub(super) fn count(&self, outer: Option<&InFlightToken>) -> Option<InFlightToken> {
        let Some(load) = &self.load else { return outer.cloned() };
        Some(InFlightToken::new(load, outer))
    }
}

/// All routees at some moment, in the order in which they were added.
pub(super) type RouteeSnapshot<R> = Arc<[Arc<Routee<R>>]>;

pub(super) struct RouteeList<R> {
    /// The order of turns. When a routee is removed, the last one takes its index.
    pub(super) places: Vec<Arc<Routee<R>>>,
    pub(super) place_of: HashMap<ActorId, usize>,
    /// How many were ever added.
    pub(super) added: u64,
    /// Created when all are needed, and kept until the next change.
    pub(super) snapshot: Option<RouteeSnapshot<R>>,
}

/// A routee that was added or removed, and the previous snapshot: to be dropped without the lock.
pub(super) type RouteeChange<R> = (Arc<Routee<R>>, Option<RouteeSnapshot<R>>);

impl<R> RouteeList<R> {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), place_of: HashMap::new(), added: 0, snapshot: None }
    }

    pub(super) fn add(&mut self, mut routee: Routee<R>) -> RouteeChange<R> {
        routee.number = self.added;
        self.added += 1;
        let routee = Arc::new(routee);
        self.place_of.insert(routee.id, self.places.len());
        self.places.push(Arc::clone(&routee));
        (routee, self.snapshot.take())
    }

    pub(super) fn remove(&mut self, id: ActorId) -> Option<RouteeChange<R>> {
        let place = self.place_of.remove(&id)?;
        let routee = self.places.swap_remove(place);
        if let Some(moved) = self.places.get(place) {
            self.place_of.insert(moved.id, place);
        }
        Some((routee, self.snapshot.take()))
    }

    pub(super) fn snapshot(&mut self) -> RouteeSnapshot<R> {
        let places = &self.places;
        let snapshot = self.snapshot.get_or_insert_with(|| {
            let mut all = places.clone();
            all.sort_unstable_by_key(|routee| routee.number);
            all.into()
        });
        Arc::clone(snapshot)
    }
}

//! Writes through that are on their way to the store: a state that follows on another one has to know them.

use std::sync::{Arc, Mutex, PoisonError};

use coact_actor::actor::ActorId;
use coact_core::internals::catch;

use crate::quiet::Quiet;

/// The writes of all caches of one specification.
pub(crate) struct Flights<K>(Mutex<Vec<Flight<K>>>);

struct Flight<K> {
    number: u64,
    of: ActorId,
    hash: u64,
    key: Quiet<K>,
}

/// One of them, until this is dropped.
pub(crate) struct InFlight<K>(Arc<Flights<K>>, u64);

impl<K> Flights<K> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::default()))
    }

    pub(crate) fn begin(
        self: &Arc<Self>,
        number: u64,
        of: ActorId,
        (hash, key): (u64, Quiet<K>),
    ) -> InFlight<K> {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        flights.push(Flight { number, of, hash, key });
        InFlight(Arc::clone(self), number)
    }

    /// Returns the number, hash and key of each write of an actor.
    pub(crate) fn of(&self, actor: ActorId) -> Vec<(u64, u64, Quiet<K>)>
    where
        K: Clone,
    {
        let flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = flights.iter().filter(|flight| flight.of == actor);
        let copy = |flight: &Flight<K>| {
            let key = catch(|| Quiet::new((*flight.key).clone())).ok()?;
            Some((flight.number, flight.hash, key))
        };
        own.filter_map(copy).collect()
    }
}

impl<K> Drop for InFlight<K> {
    fn drop(&mut self) {
        let mut flights = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = flights.iter().position(|flight| flight.number == self.1);
        let gone = at.map(|at| flights.swap_remove(at));
        drop(flights);
        drop(gone);
    }
}

//! Services: what the layers above store per runtime, such as its timers, its blocking jobs, its
//! futures.

use std::any::Any;

use coact_sync::shim::process::{OnceLock, Ordering, fence};

use super::phase::RuntimePhase;
use super::runtime_shared::RuntimeShared;

/// A service of a runtime, created on first use. There is one of each type.
pub(crate) trait SharedService: Any + Send + Sync {
    fn new(shared: &RuntimeShared) -> Self;

    /// Accepts no more, and drops its contents: the runtime is past its deadline. Called more than
    /// once.
    fn stop(&self, shared: &RuntimeShared);
}

impl RuntimeShared {
    /// Returns the service of this type.
    pub(crate) fn service<T: SharedService>(&self) -> &T {
        for place in &self.services.0 {
            let mut is_new = false;
            let service = place.get_or_init(|| {
                is_new = true;
                Box::new(T::new(self))
            });
            if let Some(service) = service.downcast_ref::<T>() {
                if is_new {
                    self.stop_if_late(service);
                }
                return service;
            }
        }
        unreachable!("there are more types of services than slots");
    }

    /// The same if it was ever used; for the end of the runtime, after its phase has changed.
    pub(crate) fn find_service<T: SharedService>(&self) -> Option<&T> {
        // ORDERING: SeqCst pairs with the fence in `stop_if_late`: either this thread finds the
        // service, or the thread that created it sees the phase.
        fence(Ordering::SeqCst);
        let mut found = self.services.0.iter().map_while(OnceLock::get);
        found.find_map(|service| service.downcast_ref())
    }

    /// Stops a service that was created too late for the end of the runtime to find it.
    fn stop_if_late(&self, service: &impl SharedService) {
        // ORDERING: SeqCst, see `find_service`.
        fence(Ordering::SeqCst);
        if self.phase() != RuntimePhase::Running {
            service.stop(self);
        }
    }
}

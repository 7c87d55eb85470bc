//! What the layers above keep for a runtime: its timers, its blocking jobs, its futures.

use std::any::Any;

use coact_sync::shim::process::{OnceLock, Ordering, fence};

use super::phase::Phase;
use super::shared::Shared;

/// Something that serves a runtime, made when it is first used. There is one of each type.
pub(crate) trait Service: Any + Send + Sync {
    fn new(shared: &Shared) -> Self;

    /// Takes no more, and drops what it has: the runtime is past its deadline. Called more than once.
    fn stop(&self, shared: &Shared);
}

impl Shared {
    /// The service of this type.
    pub(crate) fn service<T: Service>(&self) -> &T {
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
        unreachable!("there are more types of services than places");
    }

    /// The same, if it was ever used; for the end of the runtime, after its phase has changed.
    pub(crate) fn find_service<T: Service>(&self) -> Option<&T> {
        // ORDERING: SeqCst pairs with the fence in `stop_if_late`: we find the service, or it sees the phase.
        fence(Ordering::SeqCst);
        let mut found = self.services.0.iter().map_while(OnceLock::get);
        found.find_map(|service| service.downcast_ref())
    }

    /// Stops a service that has come too late to be found by the end of the runtime.
    fn stop_if_late(&self, service: &impl Service) {
        // ORDERING: SeqCst, see `find_service`.
        fence(Ordering::SeqCst);
        if self.phase() != Phase::Running {
            service.stop(self);
        }
    }
}

//! The held actor: the one on whose behalf a future is polled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coact_core::internals::{Principal, on_behalf_of, principal};

use crate::any_addr::AnyAddr;

/// An actor while one future holds it: the future is polled on its behalf.
pub(crate) struct HeldActor {
    pub(super) actor: AnyAddr,
    has_ended: AtomicBool,
}

impl HeldActor {
    pub(super) fn new(actor: AnyAddr) -> Self {
        Self { actor, has_ended: AtomicBool::new(false) }
    }

    /// Returns whether the actor has been released.
    pub(super) fn has_ended(&self) -> bool {
        // ORDERING: Relaxed. A search has parked the actor, before or after its release.
        self.has_ended.load(Ordering::Relaxed)
    }
}

/// The future's part; dropping it releases the actor.
pub(crate) struct HeldActorGuard(Principal, Arc<HeldActor>);

impl HeldActorGuard {
    pub(crate) fn new(actor: AnyAddr) -> Self {
        let held_actor = Arc::new(HeldActor::new(actor));
        Self(Arc::clone(&held_actor) as Principal, held_actor)
    }

    /// Calls `poll` as a part of the future that holds the actor.
    pub(crate) fn polls<R>(&self, poll: impl FnOnce() -> R) -> R {
        on_behalf_of(&self.0, poll)
    }
}

impl Drop for HeldActorGuard {
    fn drop(&mut self) {
        // ORDERING: Relaxed. See `HeldActor::has_ended`.
        self.1.has_ended.store(true, Ordering::Relaxed);
    }
}

/// Returns the actor that is held by the running code, if any.
#[inline]
pub(crate) fn held_actor() -> Option<Arc<HeldActor>> {
    principal()?.downcast().ok()
}

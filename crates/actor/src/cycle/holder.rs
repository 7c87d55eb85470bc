//! Who is held: the actor on whose behalf a future is polled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coact_core::internals::{Principal, on_behalf_of, principal};

use crate::any::AnyAddr;

/// An actor while one future holds it: on its behalf the future is polled.
pub(crate) struct Holder {
    pub(super) actor: AnyAddr,
    has_ended: AtomicBool,
}

impl Holder {
    pub(super) fn new(actor: AnyAddr) -> Self {
        Self { actor, has_ended: AtomicBool::new(false) }
    }

    /// Whether the actor has been let go.
    pub(super) fn has_ended(&self) -> bool {
        // ORDERING: Relaxed. Whoever searches has parked the actor, before it was let go or after.
        self.has_ended.load(Ordering::Relaxed)
    }
}

/// The future's part of it; the actor is let go when this is dropped.
pub(crate) struct Holding(Principal, Arc<Holder>);

impl Holding {
    pub(crate) fn new(actor: AnyAddr) -> Self {
        let holder = Arc::new(Holder::new(actor));
        Self(Arc::clone(&holder) as Principal, holder)
    }

    /// Calls `poll` as a part of the future that holds the actor.
    pub(crate) fn polls<R>(&self, poll: impl FnOnce() -> R) -> R {
        on_behalf_of(&self.0, poll)
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        // ORDERING: Relaxed. See `Holder::has_ended`.
        self.1.has_ended.store(true, Ordering::Relaxed);
    }
}

/// The actor that is held by what runs now, if it is.
#[inline]
pub(crate) fn holder() -> Option<Arc<Holder>> {
    principal()?.downcast().ok()
}

//! Selects the runtime for threads that have entered none.
//!
//! This is the [default](crate::runtime::Builder::as_default) one if the program has named one, and
//! otherwise the global one, which starts when first used. What such a thread creates there is
//! easily lost in a program with a runtime of its own, so a runtime can ask to be
//! [notified](crate::runtime::Builder::expect_entered).

use coact_sync::shim::process::{AtomicU16, Mutex, Ordering};

use crate::runtime_ids::RuntimeId;

/// The id of the runtime to use; 0 if it must be looked up, or if a runtime must be notified first.
/// A copy of what follows from `STATE`, readable without its lock.
static USED: AtomicU16 = AtomicU16::new(0);

static STATE: Mutex<DefaultRuntimeState> =
    Mutex::new(DefaultRuntimeState { default: None, expecting: Vec::new(), global: None });

struct DefaultRuntimeState {
    default: Option<RuntimeId>,
    /// The runtimes to notify of the first use of the global runtime.
    expecting: Vec<RuntimeId>,
    /// The global runtime, once it has been used.
    global: Option<RuntimeId>,
}

impl DefaultRuntimeState {
    /// Updates `USED`: to 0 if a runtime must be notified of the next use.
    fn publish(&self) {
        let used = self.default.or(self.global.filter(|_| self.expecting.is_empty()));
        // ORDERING: Release pairs with the Acquire in `used`: the runtime is registered.
        USED.store(used.map_or(0, RuntimeId::get), Ordering::Release);
    }
}

/// Returns the runtime of a thread that has entered none, if nothing must be done first.
#[inline]
pub(crate) fn used() -> Option<RuntimeId> {
    // ORDERING: Acquire pairs with the Release in `publish`.
    let id = RuntimeId::from_raw(USED.load(Ordering::Acquire));
    (id != RuntimeId::NONE).then_some(id)
}

/// Returns the default runtime.
pub(crate) fn default() -> Option<RuntimeId> {
    STATE.lock().default
}

/// Returns the runtime of such a thread, if it need not be started first.
pub(super) fn running() -> Option<RuntimeId> {
    let state = STATE.lock();
    state.default.or(state.global)
}

/// The same, or a runtime that expects to be entered: for operations that need any runtime.
pub(crate) fn running_or_expecting() -> Option<RuntimeId> {
    running().or_else(|| STATE.lock().expecting.last().copied())
}

/// Records that such a thread uses the global runtime. Returns the runtimes to notify.
pub(crate) fn use_global(global: RuntimeId) -> Vec<RuntimeId> {
    let mut state = STATE.lock();
    state.global = Some(global);
    let expecting = std::mem::take(&mut state.expecting);
    state.publish();
    expecting
}

/// A runtime's claim on threads that have entered none; released when dropped.
pub(crate) struct DefaultClaim(RuntimeId);

impl DefaultClaim {
    /// Claims the role of the default runtime.
    ///
    /// # Errors
    /// Returns the current default runtime if there is one.
    pub(crate) fn default(id: RuntimeId) -> Result<Self, RuntimeId> {
        let mut state = STATE.lock();
        if let Some(other) = state.default {
            return Err(other);
        }
        state.default = Some(id);
        state.publish();
        Ok(Self(id))
    }

    /// Registers a runtime to be notified.
    pub(crate) fn expecting(id: RuntimeId) -> Self {
        let mut state = STATE.lock();
        state.expecting.push(id);
        state.publish();
        Self(id)
    }
}

impl Drop for DefaultClaim {
    fn drop(&mut self) {
        let mut state = STATE.lock();
        state.default.take_if(|id| *id == self.0);
        state.expecting.retain(|id| *id != self.0);
        state.publish();
    }
}

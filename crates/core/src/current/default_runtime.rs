//! Threads that have entered no runtime: which one they use.
//!
//! It is the [default](crate::runtime::Builder::as_default) one, if the program has named one, and else the global
//! one, which starts with that. What such a thread makes there is easily lost where the program has a
//! runtime of its own, so that one can have itself [told](crate::runtime::Builder::expect_entered).

use coact_sync::shim::process::{AtomicU16, Mutex, Ordering};

use crate::ids::RuntimeId;

/// The id of the runtime that is used; 0 where that is to be looked up, and where somebody is to be told. A copy of what
/// follows from `STATE`, to be had without its lock.
static USED: AtomicU16 = AtomicU16::new(0);

static STATE: Mutex<State> =
    Mutex::new(State { default: None, expecting: Vec::new(), global: None });

struct State {
    default: Option<RuntimeId>,
    /// Those that want to be told of the first use of the global runtime.
    expecting: Vec<RuntimeId>,
    /// The global runtime, once it was used.
    global: Option<RuntimeId>,
}

impl State {
    /// Publishes what follows: nothing, if somebody is to be told of the next use.
    fn publish(&self) {
        let used = self.default.or(self.global.filter(|_| self.expecting.is_empty()));
        // ORDERING: Release pairs with the acquire in `used`: the runtime is registered.
        USED.store(used.map_or(0, RuntimeId::get), Ordering::Release);
    }
}

/// The runtime that a thread uses which has entered none, if there is nothing to be done about that first.
#[inline]
pub(crate) fn used() -> Option<RuntimeId> {
    // ORDERING: Acquire pairs with the release in `publish`.
    let id = RuntimeId::from_raw(USED.load(Ordering::Acquire));
    (id != RuntimeId::NONE).then_some(id)
}

/// The default runtime.
pub(crate) fn default() -> Option<RuntimeId> {
    STATE.lock().default
}

/// The runtime that such a thread uses, if it need not be started for that.
pub(super) fn running() -> Option<RuntimeId> {
    let state = STATE.lock();
    state.default.or(state.global)
}

/// The same, or one that expects to be entered: for what anybody may do.
pub(crate) fn running_or_expecting() -> Option<RuntimeId> {
    running().or_else(|| STATE.lock().expecting.last().copied())
}

/// Says that such a thread uses the global runtime. Returns those that are to be told.
pub(crate) fn use_global(global: RuntimeId) -> Vec<RuntimeId> {
    let mut state = STATE.lock();
    state.global = Some(global);
    let expecting = std::mem::take(&mut state.expecting);
    state.publish();
    expecting
}

/// What a runtime is to threads that have entered none, until this is dropped.
pub(crate) struct Claim(RuntimeId);

impl Claim {
    /// That of the default runtime.
    ///
    /// # Errors
    /// Another one is the default already.
    pub(crate) fn default(id: RuntimeId) -> Result<Self, RuntimeId> {
        let mut state = STATE.lock();
        if let Some(other) = state.default {
            return Err(other);
        }
        state.default = Some(id);
        state.publish();
        Ok(Self(id))
    }

    /// That of a runtime which wants to be told.
    pub(crate) fn expecting(id: RuntimeId) -> Self {
        let mut state = STATE.lock();
        state.expecting.push(id);
        state.publish();
        Self(id)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut state = STATE.lock();
        state.default.take_if(|id| *id == self.0);
        state.expecting.retain(|id| *id != self.0);
        state.publish();
    }
}

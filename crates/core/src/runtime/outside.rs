//! Threads that have entered no runtime: which one they use.
//!
//! It is the [default](super::Builder::as_default) one, if the program has named one, and else the global
//! one, which starts with that. What such a thread makes there is easily lost where the program has a
//! runtime of its own, so that one can have itself [told](super::Builder::expect_entered).

use std::thread;

use coact_sync::shim::atomic::Ordering;
use coact_sync::shim::process::{AtomicU16, Mutex};

use super::{BuildError, Home, Runtime};
use crate::config::Config;
use crate::fault::Fault;
use crate::ids::RuntimeId;
use crate::panic;

/// The id of the runtime that is used; 0 where that is to be [looked up](look_up). A copy of what follows
/// from `STATE`, to be had without its lock.
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
        // ORDERING: Release pairs with the acquire in `id`: the runtime is registered.
        USED.store(used.map_or(0, RuntimeId::get), Ordering::Release);
    }
}

/// The runtime that a thread uses which has entered none.
#[inline]
pub(super) fn id() -> RuntimeId {
    // ORDERING: Acquire pairs with the release in `publish`.
    match RuntimeId::from_raw(USED.load(Ordering::Acquire)) {
        RuntimeId::NONE => look_up(),
        id => id,
    }
}

/// The same, if it needs no start.
pub(super) fn running_id() -> Option<RuntimeId> {
    let state = STATE.lock();
    state.default.or(state.global)
}

/// The same, or one that expects to be entered: for what anybody may do.
pub(super) fn any_id() -> RuntimeId {
    let running = running_id().or_else(|| STATE.lock().expecting.last().copied());
    running.unwrap_or_else(id)
}

#[cold]
fn look_up() -> RuntimeId {
    if let Some(id) = STATE.lock().default {
        return id;
    }
    let global = Runtime::global().id();
    let expecting = {
        let mut state = STATE.lock();
        state.global = Some(global);
        let expecting = std::mem::take(&mut state.expecting);
        state.publish();
        expecting
    };
    for home in expecting {
        let thread = thread::current().name().unwrap_or("unnamed").to_owned();
        panic::report(&Fault::NotEntered { thread, runtime: Home(home).name() }, home);
    }
    global
}

/// What a runtime is to threads that have entered none, until this is dropped.
pub(super) struct Claim(RuntimeId);

impl Claim {
    /// That of a runtime that has started.
    ///
    /// # Errors
    /// Another one is the default already.
    pub(super) fn new(id: RuntimeId, config: &Config) -> Result<Option<Self>, BuildError> {
        if config.simulated || !config.as_default && !config.expects_entered {
            return Ok(None);
        }
        let mut state = STATE.lock();
        if config.as_default {
            if let Some(other) = state.default {
                return Err(BuildError::DefaultTaken(Home(other).name()));
            }
            state.default = Some(id);
        } else {
            state.expecting.push(id);
        }
        state.publish();
        Ok(Some(Self(id)))
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

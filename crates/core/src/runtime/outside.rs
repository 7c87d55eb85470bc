//! The runtime of threads that have entered none: the global one starts with its first use.

use std::thread;

use super::{BuildError, Home, Runtime};
use crate::config::Config;
use crate::current::unentered::{self, Claim};
use crate::fault::Fault;
use crate::ids::RuntimeId;
use crate::panic;

/// The runtime that a thread uses which has entered none.
#[inline]
pub(super) fn id() -> RuntimeId {
    unentered::used().unwrap_or_else(look_up)
}

/// The same, or one that expects to be entered: for what anybody may do.
pub(super) fn any_id() -> RuntimeId {
    unentered::running_or_expecting().unwrap_or_else(id)
}

#[cold]
fn look_up() -> RuntimeId {
    if let Some(id) = unentered::default() {
        return id;
    }
    let global = Runtime::global().id();
    for home in unentered::use_global(global) {
        let thread = thread::current().name().unwrap_or("unnamed").to_owned();
        panic::report(&Fault::NotEntered { thread, runtime: Home(home).name() }, home);
    }
    global
}

/// What a runtime that has started is to threads that have entered none.
///
/// # Errors
/// Another one is the default already.
pub(super) fn claim(id: RuntimeId, config: &Config) -> Result<Option<Claim>, BuildError> {
    if config.simulated {
        return Ok(None);
    }
    if config.as_default {
        let taken = |other| BuildError::DefaultTaken(Home(other).name());
        return Claim::default(id).map(Some).map_err(taken);
    }
    Ok(config.expects_entered.then(|| Claim::expecting(id)))
}

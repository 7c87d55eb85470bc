//! Catches panics of user code, reports them, and passes them on to waiters.

pub(crate) mod callbacks;

use std::any::{Any, type_name};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::config;
use crate::current;
use crate::fault::{Broken, Fault, trace_fault};
use crate::ids::RuntimeId;

/// The message of a panic without a string payload.
const NO_MESSAGE: &str = "(no message)";

/// Extracts the message from a panic's payload.
pub(crate) fn message(payload: &(dyn Any + Send)) -> Arc<str> {
    let text = payload.downcast_ref::<&'static str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or(NO_MESSAGE).into()
}

/// Reports a caught panic of a body whose type has this name, and returns it as a value for
/// waiters.
#[cold]
pub(crate) fn caught(payload: Payload, behaviour: &'static str, home: RuntimeId) -> Broken {
    caught_in(payload, behaviour, Some(home), true)
}

/// The same, for a body or other foreign code.
fn caught_in(
    payload: Payload,
    behaviour: &'static str,
    home: Option<RuntimeId>,
    is_body: bool,
) -> Broken {
    let message = message(&*payload);
    // Before foreign code runs, which may itself panic.
    let waiting = callbacks::end(is_body);
    drop_quietly(move || drop(payload));
    report_in(&Fault::Panicked { behaviour, message: Arc::clone(&message) }, home);
    waiting.tell(&message);
    Broken::Panicked(message)
}

/// Runs foreign code for a layer above. A panic is reported like that of a behaviour.
///
/// # Errors
/// Returns a panic as [`Broken::Panicked`].
#[inline]
pub fn catch<R, F: FnOnce() -> R>(foreign: F) -> Result<R, Broken> {
    catch_unwind(AssertUnwindSafe(foreign))
        .map_err(|payload| caught_in(payload, type_name::<F>(), current::running(), false))
}

/// Runs foreign code other than a behaviour's body. A panic in it is reported and not propagated.
pub(crate) fn drop_quietly(foreign: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(foreign)) {
        end_quietly(payload);
    }
}

/// Reports a panic outside of a body.
#[cold]
fn end_quietly(payload: Payload) {
    let message = message(&*payload);
    let waiting = callbacks::end(false);
    // A payload whose destructor panics in turn is not worth a second report.
    discard(payload);
    let fault = Fault::InCleanup { message: Arc::clone(&message) };
    // Reporting must not start a runtime.
    report_in(&fault, current::running());
    waiting.tell(&message);
}

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// The number of payloads dropped in a row, each thrown by the destructor of the one before.
const PAYLOADS_IN_A_ROW: u32 = 100;

/// Drops the payload of a caught panic. Its destructor is foreign code, which may panic with
/// another such payload, and so on. If this does not end, the last one is leaked.
#[cold]
pub(crate) fn discard(mut payload: Payload) {
    for _ in 0..PAYLOADS_IN_A_ROW {
        match catch_unwind(AssertUnwindSafe(move || drop(payload))) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    std::mem::forget(payload);
}

/// Passes a fault to a runtime's hook.
pub(crate) fn report(fault: &Fault, home: RuntimeId) {
    report_in(fault, Some(home));
}

/// The same, where there may be no runtime: then the default hook is called.
fn report_in(fault: &Fault, home: Option<RuntimeId>) {
    let hook = home.and_then(config::of).and_then(|config| config.panic_hook.as_deref());
    let told = catch_unwind(AssertUnwindSafe(|| hook.unwrap_or(&trace_fault)(fault)));
    if let Err(payload) = told {
        discard(payload);
        // A subscriber to events is foreign code as well.
        let told = catch_unwind(|| {
            tracing::error!("the panic hook of the runtime panicked itself");
        });
        told.unwrap_or_else(discard);
    }
}

//! Panics of user code: caught where they happen, reported, and told to whoever waits.

pub(crate) mod unwinding;

use std::any::{Any, type_name};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::config;
use crate::current;
use crate::fault::{Broken, Fault, trace_fault};
use crate::ids::RuntimeId;

/// The message of a panic that says nothing.
const NO_MESSAGE: &str = "(no message)";

/// The message of a panic's payload.
pub(crate) fn message(payload: &(dyn Any + Send)) -> Arc<str> {
    let text = payload.downcast_ref::<&'static str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or(NO_MESSAGE).into()
}

/// Reports a caught panic of a body of a type of that name, and says how it shows to those who wait.
#[cold]
pub(crate) fn caught(payload: Payload, behaviour: &'static str, home: RuntimeId) -> Broken {
    caught_in(payload, behaviour, Some(home), true)
}

/// The same of a body, or of something else.
fn caught_in(
    payload: Payload,
    behaviour: &'static str,
    home: Option<RuntimeId>,
    is_body: bool,
) -> Broken {
    let message = message(&*payload);
    // Before foreign code runs, which may panic for its part.
    let waiting = unwinding::end(is_body);
    drop_quietly(move || drop(payload));
    report_in(&Fault::Panicked { behaviour, message: Arc::clone(&message) }, home);
    waiting.tell(&message);
    Broken::Panicked(message)
}

/// Runs foreign code for a layer above. A panic is reported as that of a behaviour is, and shows as
/// [`Broken::Panicked`].
///
/// # Errors
/// The panic.
pub fn catch<R, F: FnOnce() -> R>(foreign: F) -> Result<R, Broken> {
    catch_unwind(AssertUnwindSafe(foreign))
        .map_err(|payload| caught_in(payload, type_name::<F>(), current::running(), false))
}

/// Runs foreign code that is not a behaviour's body. A panic in it is reported, and goes no
/// further.
pub(crate) fn drop_quietly(foreign: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(foreign)) {
        end_quietly(payload);
    }
}

/// Reports a panic outside of a body.
#[cold]
fn end_quietly(payload: Payload) {
    let message = message(&*payload);
    let waiting = unwinding::end(false);
    // A payload whose own destructor panics is not worth a second report.
    discard(payload);
    let fault = Fault::InCleanup { message: Arc::clone(&message) };
    // It is no reason to start one.
    report_in(&fault, current::running());
    waiting.tell(&message);
}

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// How many payloads are dropped of which each was thrown by the destructor of the one before.
const PAYLOADS_IN_A_ROW: u32 = 100;

/// Drops the payload of a panic that was caught. Its destructor is foreign code, which may panic with
/// another payload of that kind, and so on. If there is no end to it, the last one is leaked.
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

/// Tells a runtime's hook.
pub(crate) fn report(fault: &Fault, home: RuntimeId) {
    report_in(fault, Some(home));
}

/// The same where there may be no runtime: then the default hook is told.
fn report_in(fault: &Fault, home: Option<RuntimeId>) {
    let hook = home.and_then(config::of).and_then(|config| config.panic_hook.as_deref());
    let told = catch_unwind(AssertUnwindSafe(|| hook.unwrap_or(&trace_fault)(fault)));
    if let Err(payload) = told {
        discard(payload);
        // What listens to events is foreign code, too.
        let told = catch_unwind(|| {
            tracing::error!("the panic hook of the runtime panicked itself");
        });
        told.unwrap_or_else(discard);
    }
}

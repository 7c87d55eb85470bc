//! Panics of user code: caught where they happen, reported, and told to whoever waits.

mod unwinding;

use std::any::{Any, type_name};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::fault::{Broken, Fault, trace_fault};
use crate::ids::RuntimeId;
use crate::runtime;

pub use unwinding::once_caught;

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
    caught_in(payload, behaviour, home, true)
}

/// The same of a body, or of something else.
fn caught_in(payload: Payload, behaviour: &'static str, home: RuntimeId, is_body: bool) -> Broken {
    let message = message(&*payload);
    // Before foreign code runs, which may panic for its part.
    let waiting = unwinding::end(is_body);
    drop_quietly(move || drop(payload));
    report(&Fault::Panicked { behaviour, message: Arc::clone(&message) }, home);
    waiting.tell(&message);
    Broken::Panicked(message)
}

/// Reports a behaviour that is not run.
#[cold]
pub(crate) fn report_refused(why: &Broken, behaviour: &'static str, home: RuntimeId) {
    match *why {
        Broken::Poisoned { position } => report(&Fault::Skipped { behaviour, position }, home),
        Broken::Closed { position } => report(&Fault::Closed { behaviour, position }, home),
        _ => runtime::count_abandoned(home),
    }
}

/// Runs foreign code for a layer above. A panic is reported as that of a behaviour is, and shows as
/// [`Broken::Panicked`].
///
/// # Errors
/// The panic.
pub fn catch<R, F: FnOnce() -> R>(foreign: F) -> Result<R, Broken> {
    catch_unwind(AssertUnwindSafe(foreign))
        .map_err(|payload| caught_in(payload, type_name::<F>(), runtime::current_id(), false))
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
    match runtime::running_id() {
        Some(home) => report(&fault, home),
        // It is no reason to start one.
        None => trace_fault(&fault),
    }
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

pub(crate) fn report(fault: &Fault, home: RuntimeId) {
    let told = catch_unwind(AssertUnwindSafe(|| runtime::tell_hook(fault, home)));
    if let Err(payload) = told {
        discard(payload);
        // What listens to events is foreign code, too.
        let told = catch_unwind(|| {
            tracing::error!("the panic hook of the runtime panicked itself");
        });
        told.unwrap_or_else(discard);
    }
}

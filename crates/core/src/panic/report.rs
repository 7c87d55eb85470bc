//! What is said of a caught panic, and the end of its payload.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::config;
use crate::fault::{Fault, trace_fault};
use crate::runtime_ids::RuntimeId;

/// The message of a panic without a string payload.
pub(super) const NO_MESSAGE: &str = "(no message)";

/// Extracts the message from a panic's payload.
pub(crate) fn message(payload: &(dyn Any + Send)) -> Arc<str> {
    let text = payload.downcast_ref::<&'static str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or(NO_MESSAGE).into()
}

/// The payload of a panic.
pub(crate) type PanicPayload = Box<dyn Any + Send>;

/// The number of payloads dropped in a row, each thrown by the destructor of the one before.
const PAYLOADS_IN_A_ROW: u32 = 100;

/// Drops the payload of a caught panic. Its destructor is foreign code, which may panic with
/// another such payload, and so on. If this does not end, the last one is leaked.
#[cold]
pub(crate) fn discard(mut payload: PanicPayload) {
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
pub(super) fn report_in(fault: &Fault, home: Option<RuntimeId>) {
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

//! Catches panics of user code, reports them, and passes them on to waiters.

pub(crate) mod catch_drop;
pub(crate) mod caught_panics;
mod report;

use std::any::{Any, type_name};
use std::marker::PhantomData;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::current;
use crate::fault::{Broken, Fault};
use crate::runtime_ids::RuntimeId;
pub(crate) use caught_panics::{drop_quietly, run_quietly};
pub(crate) use report::{PanicPayload, discard, message, report};

/// Reports a caught panic of a body whose type has this name, and returns it as a value for
/// waiters.
#[cold]
pub(crate) fn caught(payload: PanicPayload, behaviour: &'static str, home: RuntimeId) -> Broken {
    caught_in(payload, behaviour, Some(home), true)
}

/// The same, for a body or other foreign code.
fn caught_in(
    payload: PanicPayload,
    behaviour: &'static str,
    home: Option<RuntimeId>,
    is_body: bool,
) -> Broken {
    let message = message(&*payload);
    let behaviour = caught_panics::take_name().unwrap_or(behaviour);
    // Before foreign code runs, which may itself panic.
    let waiting = caught_panics::end(is_body);
    drop_quietly(move || drop(payload));
    report::report_in(&Fault::Panicked { behaviour, message: Arc::clone(&message) }, home);
    waiting.tell(&message);
    Broken::Panicked(message)
}

/// Runs a part of a body whose panics are reported under the name of the type `N`, in place of that
/// of the body. Costs nothing without a panic.
#[inline(always)]
pub fn named<N: ?Sized, R>(part: impl FnOnce() -> R) -> R {
    /// Without a value, so that nothing is kept for it.
    struct UnwoundPanic<N: ?Sized>(PhantomData<N>);
    impl<N: ?Sized> Drop for UnwoundPanic<N> {
        fn drop(&mut self) {
            caught_panics::name_panic(type_name::<N>());
        }
    }
    let unwound = UnwoundPanic::<N>(PhantomData);
    let result = part();
    forget(unwound);
    result
}

/// Tells those who wait for the message of a panic that a layer above has caught on this thread,
/// and passes on to another one, where it is reported.
#[cold]
pub fn tell_of_panic(payload: &(dyn Any + Send)) {
    let waiting = caught_panics::end(false);
    waiting.tell(&message(payload));
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

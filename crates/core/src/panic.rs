//! Panics of user code: caught where they happen, reported, and told to whoever waits.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::runtime::{self, RuntimeId};

/// Why a promise has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Broken {
    /// The behaviour panicked; its message, if it was a string.
    Panicked(Arc<str>),
    /// The behaviour was skipped since a cown of its set was poisoned by an earlier panic. Name it
    /// with [`checked`](crate::Cown::checked) to run all the same.
    Poisoned {
        /// Which member of the set, counted from 0.
        position: usize,
    },
    /// The behaviour was skipped since a cown of its set is closed: its state has ended, as that of
    /// an actor that has stopped.
    Closed {
        /// Which member of the set, counted from 0.
        position: usize,
    },
    /// The runtime was shut down, and its deadline passed before the behaviour could run.
    Cancelled,
    /// The [`Resolver`](crate::Resolver) was dropped without a value.
    Dropped,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Panicked(message) => write!(f, "the behaviour panicked: {message}"),
            Broken::Poisoned { position } => write!(
                f,
                "the behaviour was skipped: member {position} of its set is poisoned by an earlier \
                 panic (see `Cown::checked` and `Cown::clear_poison`)"
            ),
            Broken::Closed { position } => write!(
                f,
                "the behaviour was skipped: member {position} of its set is closed, its state has \
                 ended"
            ),
            Broken::Cancelled => f.write_str("the runtime was shut down before the behaviour ran"),
            Broken::Dropped => f.write_str("the resolver was dropped without a value"),
        }
    }
}

impl std::error::Error for Broken {}

/// Something that went wrong in user code, as the runtime's hook is told.
///
/// The default hook emits a [`tracing`] event; set another with
/// [`Builder::panic_hook`](crate::Builder::panic_hook).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// A behaviour, future or blocking job panicked. What it held exclusively is poisoned.
    Panicked {
        /// The panic's message, or a note that it had none.
        message: Arc<str>,
    },
    /// A behaviour was skipped, since a member of its set is poisoned.
    Skipped {
        /// Which member of the set, counted from 0.
        position: usize,
    },
    /// A behaviour was skipped, since a member of its set is closed.
    Closed {
        /// Which member of the set, counted from 0.
        position: usize,
    },
    /// A destructor, waker or hook panicked outside of a behaviour's body. Nothing is poisoned.
    InCleanup {
        /// The panic's message, or a note that it had none.
        message: Arc<str>,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Panicked { message } => write!(f, "a behaviour panicked: {message}"),
            Fault::Skipped { position } => {
                write!(f, "a behaviour was skipped: member {position} of its set is poisoned")
            }
            Fault::Closed { position } => {
                write!(f, "a behaviour was skipped: member {position} of its set is closed")
            }
            Fault::InCleanup { message } => write!(f, "a destructor or waker panicked: {message}"),
        }
    }
}

/// The message of a panic's payload.
pub(crate) fn message(payload: &(dyn Any + Send)) -> Arc<str> {
    let text = payload.downcast_ref::<&'static str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("(no message)").into()
}

/// Reports a caught panic of a body, and says how it shows to those who wait.
#[cold]
pub(crate) fn caught(payload: Box<dyn Any + Send>, home: RuntimeId) -> Broken {
    let message = message(&*payload);
    drop_quietly(move || drop(payload));
    report(&Fault::Panicked { message: Arc::clone(&message) }, home);
    Broken::Panicked(message)
}

/// Reports a behaviour that is not run.
#[cold]
pub(crate) fn report_refused(why: &Broken, home: RuntimeId) {
    match why {
        Broken::Poisoned { position } => report(&Fault::Skipped { position: *position }, home),
        Broken::Closed { position } => report(&Fault::Closed { position: *position }, home),
        _ => runtime::count_abandoned(home),
    }
}

/// Runs foreign code for a layer above. A panic is reported as that of a behaviour is, and shows as
/// [`Broken::Panicked`].
///
/// # Errors
/// The panic.
pub fn catch<R>(foreign: impl FnOnce() -> R) -> Result<R, Broken> {
    catch_unwind(AssertUnwindSafe(foreign))
        .map_err(|payload| caught(payload, runtime::current_id()))
}

/// Runs foreign code that is not a behaviour's body. A panic in it is reported, and goes no
/// further.
pub(crate) fn drop_quietly(foreign: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(foreign)) {
        let message = message(&*payload);
        // A payload whose own destructor panics is not worth a second report.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
        report(&Fault::InCleanup { message }, runtime::current_id());
    }
}

fn report(fault: &Fault, home: RuntimeId) {
    let told = catch_unwind(AssertUnwindSafe(|| runtime::tell_hook(fault, home)));
    if told.is_err() {
        tracing::error!("the panic hook of the runtime panicked itself");
    }
}

/// The default hook.
pub(crate) fn trace_fault(fault: &Fault) {
    match fault {
        Fault::Skipped { .. } | Fault::Closed { .. } => tracing::warn!("{fault}"),
        _ => tracing::error!("{fault}"),
    }
}

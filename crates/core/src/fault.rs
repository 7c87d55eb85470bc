//! What can go wrong in user code, as values: for those who wait ([`Broken`]), and for a runtime's hook ([`Fault`]).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Why a promise has no value.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Broken, Cown, ask};
///
/// let (tank, log) = (Cown::new(10), Cown::new(String::new()));
/// let level = ask(&tank, |tank| { assert!(*tank > 50, "too low"); *tank });
/// assert_eq!(level.wait(), Err(Broken::Panicked("too low".into())));
///
/// // The panic has poisoned the tank.
/// let told = ask((&log, &tank), |(log, tank)| log.push_str(&tank.to_string()));
/// assert_eq!(told.wait(), Err(Broken::Poisoned { position: 1 }));
/// ```
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
    /// The behaviour, which was to be spawned later, was refused then: a cown of its set took no more
    /// ([`Refusal::Full`](crate::behaviour::Refusal::Full)).
    Full {
        /// Which member of the set, counted from 0.
        position: usize,
    },
    /// The runtime was shut down, and its deadline passed before the behaviour could run.
    Cancelled,
    /// The [`Resolver`](crate::promise::Resolver) was dropped without a value.
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
            Broken::Full { position } => {
                write!(
                    f,
                    "the behaviour was refused: member {position} of its set takes no more for now"
                )
            }
            Broken::Cancelled => f.write_str("the runtime was shut down before the behaviour ran"),
            Broken::Dropped => f.write_str("the resolver was dropped without a value"),
        }
    }
}

impl std::error::Error for Broken {}

/// Something that went wrong in user code, as the runtime's hook is told.
///
/// The default hook emits a [`tracing`] event; set another with
/// [`Builder::panic_hook`](crate::runtime::Builder::panic_hook).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// A behaviour, future or blocking job panicked. What it held exclusively is poisoned.
    #[non_exhaustive]
    Panicked {
        /// The name of its type. That of a closure names the function that it stands in.
        behaviour: &'static str,
        /// The panic's message, or a note that it had none.
        message: Arc<str>,
    },
    /// A behaviour was skipped, since a member of its set is poisoned. Its spawner is told too if it has
    /// used [`ask`](crate::ask) or [`when_or_else`](crate::when_or_else).
    #[non_exhaustive]
    Skipped {
        /// The name of its type. That of a closure names the function that it stands in.
        behaviour: &'static str,
        /// Which member of the set, counted from 0.
        position: usize,
    },
    /// A behaviour was skipped, since a member of its set is closed.
    #[non_exhaustive]
    Closed {
        /// The name of its type. That of a closure names the function that it stands in.
        behaviour: &'static str,
        /// Which member of the set, counted from 0.
        position: usize,
    },
    /// A behaviour has kept its worker for longer than the [watchdog](crate::runtime::Builder::watchdog)
    /// allows, and still does.
    #[non_exhaustive]
    Stalled {
        /// The type of the behaviour's closure, which tells where it was written; or what else it is.
        behaviour: &'static str,
        /// The name of the thread.
        thread: String,
        /// For how long it was seen to run.
        running_for: Duration,
    },
    /// A thread that has entered no runtime has used the global one for the first time, by making a cown
    /// or an actor, setting a timer, or asking for events or names there, although this runtime
    /// [expects](crate::runtime::Builder::expect_entered) that threads enter it.
    #[non_exhaustive]
    NotEntered {
        /// The name of the thread.
        thread: String,
        /// The name of the runtime that was not entered.
        runtime: &'static str,
    },
    /// A destructor, waker or hook panicked outside of a behaviour's body. Nothing is poisoned.
    #[non_exhaustive]
    InCleanup {
        /// The panic's message, or a note that it had none.
        message: Arc<str>,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Panicked { behaviour, message } => {
                write!(f, "the behaviour `{behaviour}` panicked: {message}")
            }
            Fault::Skipped { behaviour, position } => write!(
                f,
                "the behaviour `{behaviour}` was skipped: member {position} of its set is poisoned"
            ),
            Fault::Closed { behaviour, position } => write!(
                f,
                "the behaviour `{behaviour}` was skipped: member {position} of its set is closed"
            ),
            Fault::Stalled { behaviour, thread, running_for } => write!(
                f,
                "a behaviour has kept the thread `{thread}` for {running_for:.0?}, and still does: \
                 `{behaviour}` (run what computes or waits for long through `blocking`)"
            ),
            Fault::NotEntered { thread, runtime } => write!(
                f,
                "the thread `{thread}` has used the global runtime, since it has not entered `{runtime}`: \
                 enter it (`System::enter`, `RuntimeHandle::enter_thread`, `RuntimeHandle::within`), or make it the default \
                 (`Builder::as_default`)"
            ),
            Fault::InCleanup { message } => write!(f, "a destructor or waker panicked: {message}"),
        }
    }
}

/// The default hook.
pub(crate) fn trace_fault(fault: &Fault) {
    match fault {
        Fault::Skipped { .. }
        | Fault::Closed { .. }
        | Fault::Stalled { .. }
        | Fault::NotEntered { .. } => {
            tracing::warn!("{fault}");
        }
        _ => tracing::error!("{fault}"),
    }
}

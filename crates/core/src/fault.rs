//! Failures of user code as values: for the waiter of a promise ([`Broken`]), and for a runtime's
//! hook ([`Fault`]).

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The reason why a promise has no value.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Broken, Cown, call};
///
/// let (tank, log) = (Cown::new(10), Cown::new(String::new()));
/// let level = call(&tank, |tank| { assert!(*tank > 50, "too low"); *tank });
/// assert_eq!(level.wait(), Err(Broken::Panicked("too low".into())));
///
/// // The panic has poisoned the tank.
/// let told = call((&log, &tank), |(log, tank)| log.push_str(&tank.to_string()));
/// assert_eq!(told.wait(), Err(Broken::Poisoned { position: 1 }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Broken {
    /// The behaviour panicked, with this message if it was a string.
    Panicked(Arc<str>),
    /// The behaviour was skipped because an earlier panic has poisoned a cown of its set. To run
    /// anyway, wrap the cown in [`checked`](crate::Cown::checked).
    Poisoned {
        /// The index of the member in the set.
        position: usize,
    },
    /// The behaviour was skipped because a cown of its set is closed: its state has ended, like
    /// that of a stopped actor.
    Closed {
        /// The index of the member in the set.
        position: usize,
    },
    /// The behaviour was to be spawned later, and was then refused because a cown of its set was
    /// full ([`Refusal::Full`](crate::behaviour::Refusal::Full)).
    Full {
        /// The index of the member in the set.
        position: usize,
    },
    /// The runtime was shut down, and its deadline passed before the behaviour ran; or, over
    /// durable states, before it was known whether what it has done is kept.
    Cancelled,
    /// The [`Resolver`](crate::promise::Resolver) was dropped without a value.
    Dropped,
    /// The behaviour ran, and what it has done to durable states was not kept: for others it has
    /// not happened.
    NotCommitted(NotCommitted),
}

/// Why a step over durable states was not kept: the error of whatever keeps them.
///
/// Two are equal if they say the same.
#[derive(Clone, Debug)]
pub struct NotCommitted(Arc<dyn Error + Send + Sync>);

impl NotCommitted {
    /// For this reason.
    pub fn new(why: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(why))
    }

    /// Returns the reason.
    #[must_use]
    pub fn cause(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }

    /// Returns the reason, if it is of this type: `error.why::<StoreError>()`.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::behaviour::NotCommitted;
    /// use std::io::{Error, ErrorKind};
    ///
    /// let error = NotCommitted::new(Error::from(ErrorKind::StorageFull));
    /// assert_eq!(error.why::<Error>().map(Error::kind), Some(ErrorKind::StorageFull));
    /// assert!(error.why::<std::fmt::Error>().is_none());
    /// ```
    #[must_use]
    pub fn why<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl PartialEq for NotCommitted {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_string() == other.to_string()
    }
}

impl Eq for NotCommitted {}

impl fmt::Display for NotCommitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it was not committed: {}", self.0)
    }
}

impl Error for NotCommitted {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // (The text has what the reason itself says.)
        self.0.source()
    }
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
                 ended (`ended` of an actor says why)"
            ),
            Broken::Full { position } => {
                write!(f, "the behaviour was refused: member {position} of its set is full")
            }
            Broken::Cancelled => f.write_str("the runtime was shut down before the behaviour ran"),
            Broken::Dropped => f.write_str("the resolver was dropped without a value"),
            Broken::NotCommitted(why) => why.fmt(f),
        }
    }
}

impl Error for Broken {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Broken::NotCommitted(why) => why.source(),
            _ => None,
        }
    }
}

/// A failure of user code, as reported to the runtime's hook.
///
/// The default hook emits a [`tracing`] event; set another with
/// [`Builder::panic_hook`](crate::runtime::Builder::panic_hook).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// A behaviour, future or blocking job panicked. The cowns that it held exclusively are
    /// poisoned.
    #[non_exhaustive]
    Panicked {
        /// The name of its type; for a closure it includes the enclosing function.
        behaviour: &'static str,
        /// The panic's message, or a note that it has none.
        message: Arc<str>,
    },
    /// A behaviour was skipped because a member of its set is poisoned. Its spawner is notified as
    /// well if it used [`call`](crate::call) or [`when_or_else`](crate::when_or_else).
    #[non_exhaustive]
    Skipped {
        /// The name of its type; for a closure it includes the enclosing function.
        behaviour: &'static str,
        /// The index of the member in the set.
        position: usize,
    },
    /// A behaviour was skipped because a member of its set is closed.
    #[non_exhaustive]
    Closed {
        /// The name of its type; for a closure it includes the enclosing function.
        behaviour: &'static str,
        /// The index of the member in the set.
        position: usize,
    },
    /// A behaviour has occupied its worker for longer than the
    /// [watchdog](crate::runtime::Builder::watchdog) allows, and is still running.
    #[non_exhaustive]
    Stalled {
        /// The type of the behaviour's closure, which includes the enclosing function, or another
        /// description of the work.
        behaviour: &'static str,
        /// The name of the thread.
        thread: String,
        /// How long it has been seen running.
        running_for: Duration,
    },
    /// A thread that has entered no runtime used the global one for the first time (by creating a
    /// cown or an actor, setting a timer, or asking for events or names), although this runtime
    /// [expects](crate::runtime::Builder::expect_entered) threads to enter it.
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
        /// The panic's message, or a note that it has none.
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
                "a behaviour has occupied the thread `{thread}` for {running_for:.0?} and still runs: \
                 `{behaviour}` (use `blocking` for long computations and waits)"
            ),
            Fault::NotEntered { thread, runtime } => write!(
                f,
                "the thread `{thread}` uses the global runtime because it has not entered \
                 `{runtime}`: enter that (`System::enter`, `RuntimeHandle::enter_thread`, \
                 `RuntimeHandle::within`), or make it the default (`Builder::as_default`)"
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

//! Errors of building a runtime.

use std::fmt;

use crate::config::MAX_WORKERS;

/// The reason why a runtime could not be built.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// `workers(0)`, or more workers than 4,096.
    Workers(usize),
    /// `throughput(0)`.
    Throughput,
    /// A [name](crate::runtime::Builder::name) with a NUL byte: a thread name cannot contain one.
    Name(String),
    /// A [watchdog](crate::runtime::Builder::watchdog) with a limit of zero.
    Watchdog,
    /// The runtime of this name is already the [default](crate::runtime::Builder::as_default).
    DefaultTaken(&'static str),
    /// The process has created 65,535 runtimes, the maximum.
    TooMany,
    /// The operating system refused a thread.
    Thread(std::io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Workers(n) => {
                write!(f, "a runtime has 1 to {MAX_WORKERS} workers, not {n}")
            }
            BuildError::Watchdog => f.write_str("the limit of a watchdog must be above zero"),
            BuildError::Throughput => f.write_str("the throughput must be at least 1"),
            BuildError::Name(name) => {
                write!(f, "a thread cannot be named {name:?}: remove the NUL byte")
            }
            BuildError::DefaultTaken(other) => {
                write!(
                    f,
                    "the runtime `{other}` is already the default: shut it down first, or do without \
                     `as_default`"
                )
            }
            BuildError::TooMany => {
                f.write_str("this process has created 65,535 runtimes, the maximum: reuse them")
            }
            BuildError::Thread(error) => write!(f, "could not start a worker thread: {error}"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::Thread(error) => Some(error),
            _ => None,
        }
    }
}

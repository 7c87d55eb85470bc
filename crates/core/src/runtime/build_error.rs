//! Why a runtime could not be made.

use std::fmt;

use crate::config::MAX_WORKERS;

/// Why a runtime could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// `workers(0)`, or more workers than 4,096.
    Workers(usize),
    /// `throughput(0)`.
    Throughput,
    /// A [name](crate::runtime::Builder::name) with a NUL byte in it: threads cannot be called that.
    Name(String),
    /// A [watchdog](crate::runtime::Builder::watchdog) without a limit: the duration is zero.
    Watchdog,
    /// Another runtime, of this name, is the [default](crate::runtime::Builder::as_default) already.
    DefaultTaken(&'static str),
    /// A process can make 65,535 runtimes in its life, and has.
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
            BuildError::Watchdog => f.write_str(
                "a watchdog needs a limit above zero: how long a behaviour may keep its worker",
            ),
            BuildError::Throughput => {
                f.write_str("a throughput of 0 would run nothing: use 1 or more")
            }
            BuildError::Name(name) => {
                write!(f, "no thread can be called {name:?}: take the NUL byte out of the name")
            }
            BuildError::DefaultTaken(other) => {
                write!(
                    f,
                    "the runtime `{other}` is the default of threads that have entered none: shut it down first, or do without `as_default`"
                )
            }
            BuildError::TooMany => f.write_str("this process has made 65,535 runtimes: share them"),
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

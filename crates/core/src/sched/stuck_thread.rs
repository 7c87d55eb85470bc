//! Threads that do not return, in reports.

use std::fmt;

/// A thread that had not returned from what it was running when its runtime was shut down.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stuck {
    /// The thread's name, or a description for a thread that is not the runtime's own.
    pub thread: String,
    /// The type of the behaviour, future or job that it is running, if known: always for jobs and
    /// for behaviours on [blocking threads](crate::runtime::Builder::on_blocking_threads),
    /// otherwise if the runtime has a [watchdog](crate::runtime::Builder::watchdog).
    pub work: Option<&'static str>,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.thread)?;
        match self.work {
            Some(work) => write!(f, " in `{work}`"),
            None => Ok(()),
        }
    }
}

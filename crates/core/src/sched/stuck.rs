//! Threads that do not come back.

use std::fmt;

/// A thread that did not come back from what it was running when its runtime was shut down.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stuck {
    /// The thread's name; of a thread that is not the runtime's own, a word for it.
    pub thread: String,
    /// The type of the behaviour, future or job that it is in, if that is known: of jobs and of
    /// behaviours on [blocking threads](crate::runtime::Builder::on_blocking_threads) always, of others if the
    /// runtime has a [watchdog](crate::runtime::Builder::watchdog).
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

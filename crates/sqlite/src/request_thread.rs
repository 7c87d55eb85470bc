//! A thread that serves requests.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// A thread that serves requests. Dropping it waits until all are answered.
pub(crate) struct RequestThread<J> {
    jobs: Option<Sender<J>>,
    thread: Option<JoinHandle<()>>,
}

impl<J: Send + 'static> RequestThread<J> {
    pub(crate) fn start(
        name: &str,
        serve: impl FnOnce(Receiver<J>) + Send + 'static,
    ) -> io::Result<Self> {
        Self::start_with(name, channel(), serve)
    }

    /// As `start`, with a channel that others send to as well. They must drop their senders first.
    pub(crate) fn start_with(
        name: &str,
        (jobs, asked): (Sender<J>, Receiver<J>),
        serve: impl FnOnce(Receiver<J>) + Send + 'static,
    ) -> io::Result<Self> {
        let thread = thread::Builder::new().name(name.into()).spawn(move || serve(asked))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    pub(crate) fn ask(&self, job: J) {
        if let Some(jobs) = &self.jobs {
            // The thread ends only after the drop of this.
            let _ = jobs.send(job);
        }
    }
}

impl<J> Drop for RequestThread<J> {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            // A callback may drop the last handle, on this very thread.
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

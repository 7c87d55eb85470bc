//! A thread that is asked things.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// A thread that is asked things. It ends when this is dropped, and all has been answered.
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

    /// The same, if it is asked by others as well. They must not keep what they ask it by longer than this is there.
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
            // The thread ends only after this is dropped.
            let _ = jobs.send(job);
        }
    }
}

impl<J> Drop for RequestThread<J> {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            // What it calls with a result may own the last handle.
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

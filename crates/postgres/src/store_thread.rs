//! The thread of a store.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use coact_persist::StoreCallback;
use tokio::runtime::Builder;

use crate::connect_error::ConnectError;
use crate::request::tell;

/// A thread that serves requests. It ends when their queues are dropped or closed, and all requests
/// are answered.
pub(crate) struct StoreThread {
    thread: Option<JoinHandle<()>>,
    ending: Arc<ThreadEnd>,
}

/// The callbacks of those that wait for the thread's end.
struct ThreadEnd(Mutex<Option<Vec<StoreCallback<()>>>>);

impl ThreadEnd {
    /// The callbacks; `None` after the end.
    fn waiting(&self) -> MutexGuard<'_, Option<Vec<StoreCallback<()>>>> {
        // Each change is a single assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the callbacks when the thread ends, even by a panic.
struct AtEnd(Arc<ThreadEnd>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        let waiting = self.0.waiting().take();
        waiting.into_iter().flatten().for_each(|done| tell(done, ()));
    }
}

impl StoreThread {
    /// Starts a thread that connects, and then serves. Blocks until it is connected.
    pub(crate) fn start<S: Future<Output = ()>>(
        connect: impl AsyncFnOnce() -> Result<S, ConnectError> + Send + 'static,
    ) -> Result<Self, ConnectError> {
        let (tell, told) = channel();
        let ending = Arc::new(ThreadEnd(Mutex::new(Some(Vec::new()))));
        let at_end = AtEnd(Arc::clone(&ending));
        let serve = move || {
            let _at_end = at_end;
            // Of the program's code it runs only callbacks.
            let runtime = match Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(tell.send(Err(ConnectError::Thread(error)))),
            };
            match runtime.block_on(connect()) {
                Ok(serving) => {
                    let _ = tell.send(Ok(()));
                    drop(tell);
                    runtime.block_on(serving);
                }
                Err(error) => drop(tell.send(Err(error))),
            }
            // Does not wait for a host look-up that hangs.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new()
            .name("coact-postgres".into())
            .spawn(serve)
            .map_err(ConnectError::Thread)?;
        match told.recv() {
            Ok(connected) => connected.map(|()| Self { thread: Some(thread), ending }),
            Err(_) => Err(ConnectError::Thread(std::io::Error::other("it has panicked"))),
        }
    }
}

impl StoreThread {
    /// Runs a callback when all requests are answered, and the connections are closed.
    pub(crate) fn at_end(&self, done: StoreCallback<()>) {
        let mut waiting = self.ending.waiting();
        if let Some(waiting) = &mut *waiting {
            return waiting.push(done);
        }
        drop(waiting);
        tell(done, ());
    }
}

impl Drop for StoreThread {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take()
            // A callback may drop the last handle, on this very thread.
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

//! The thread of a store.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use coact_persist::StoreCallback;
use tokio::runtime::Builder;

use crate::connect_error::ConnectError;
use crate::request::tell;

/// A thread that ends when what it is asked by is dropped, or it is asked to, and all has been answered.
pub(crate) struct StoreThread {
    thread: Option<JoinHandle<()>>,
    ending: Arc<ThreadEnd>,
}

/// Calls when a thread has ended all that it does.
struct ThreadEnd(Mutex<Option<Vec<StoreCallback<()>>>>);

impl ThreadEnd {
    /// What is called then; `None` afterwards.
    fn waiting(&self) -> MutexGuard<'_, Option<Vec<StoreCallback<()>>>> {
        // It is changed in one go.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Belongs to the thread, also if that panics.
struct AtEnd(Arc<ThreadEnd>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        let waiting = self.0.waiting().take();
        waiting.into_iter().flatten().for_each(|done| tell(done, ()));
    }
}

impl StoreThread {
    /// Starts one that connects, and then serves. Returns when it is connected.
    pub(crate) fn start<S: Future<Output = ()>>(
        connect: impl AsyncFnOnce() -> Result<S, ConnectError> + Send + 'static,
    ) -> Result<Self, ConnectError> {
        let (tell, told) = channel();
        let ending = Arc::new(ThreadEnd(Mutex::new(Some(Vec::new()))));
        let at_end = AtEnd(Arc::clone(&ending));
        let serve = move || {
            let _at_end = at_end;
            // It runs no code of the program but what is called with results.
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
            // A look-up of a host that hangs is not waited for.
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
    /// Calls when all is answered, and its connections are closed.
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
            // What it calls with a result may own the last handle.
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

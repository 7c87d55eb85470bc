//! The thread of a store.

use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};

use tokio::runtime::Builder;

use crate::connect_error::ConnectError;

/// A thread that ends when what it is asked by is dropped, and all has been answered.
pub(crate) struct Thread(Option<JoinHandle<()>>);

impl Thread {
    /// Starts one that connects, and then serves. Returns when it is connected.
    pub(crate) fn start<S: Future<Output = ()>>(
        connect: impl AsyncFnOnce() -> Result<S, ConnectError> + Send + 'static,
    ) -> Result<Self, ConnectError> {
        let (tell, told) = channel();
        let serve = move || {
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
            Ok(connected) => connected.map(|()| Self(Some(thread))),
            Err(_) => Err(ConnectError::Thread(std::io::Error::other("it has panicked"))),
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take()
            // What it calls with a result may own the last handle.
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

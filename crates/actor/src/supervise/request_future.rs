//! A request to a supervisor, and its result.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use coact_core::internals::wait_as;
use coact_core::{Broken, Promise};

use crate::block_on::AWAIT;

/// The pending result of a request to a supervisor: await it, or [wait](Self::wait) for it on a
/// plain thread. Dropping it does not cancel the request.
#[must_use = "whether it succeeded is known only when it is awaited; drop it if that does not matter"]
pub struct Request<T: Send + 'static, E: Send + 'static>(Promise<Result<T, E>>);

impl<T: Send + 'static, E: Send + From<Broken> + 'static> Request<T, E> {
    pub(crate) fn new(promise: Promise<Result<T, E>>) -> Self {
        Self(promise)
    }

    /// Creates a request that was refused.
    pub(crate) fn failed(why: E) -> Self {
        Self(Promise::ready(Err(why)))
    }

    /// Blocks the calling thread until it is done.
    ///
    /// # Errors
    /// Fails with the error of the request.
    ///
    /// # Panics
    /// Panics inside a behaviour, a handler or a future: see [`Promise::wait`].
    #[track_caller]
    pub fn wait(self) -> Result<T, E> {
        let result = wait_as(self.0, "`Request::wait`", AWAIT);
        result.unwrap_or_else(|broken| Err(broken.into()))
    }
}

impl<T: Send + 'static, E: Send + From<Broken> + 'static> Future for Request<T, E> {
    type Output = Result<T, E>;

    /// # Panics
    /// Panics if polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let result = Pin::new(&mut self.0).poll(context);
        result.map(|result| result.unwrap_or_else(|broken| Err(broken.into())))
    }
}

impl<T: Send + 'static, E: Send + 'static> fmt::Debug for Request<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Request").field(&self.0).finish()
    }
}

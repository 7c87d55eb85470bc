//! A result that is available now, or a promise of it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::cown::set::{CownSet, refuse_volatile_beside_durable};
use crate::fault::Broken;
use crate::promise::Promise;

/// The return type of [`call_here`](crate::call_here): the result if the behaviour has run,
/// otherwise a promise of it.
///
/// Use it like a [`Promise`]: await it, wait for it, chain it. [`try_wait`](Self::try_wait) tells
/// which of the two it is.
///
/// An available result is stored in the answer itself. In a long chain of results that own the next
/// answer, these are dropped inside each other, like boxes; use [`Deep`](crate::cown::Deep) for
/// them.
#[must_use = "an answer may be dropped, but then its error goes unseen too; use `when_here` if there is no result"]
pub struct Answer<R: Send + 'static>(AnswerState<R>);

enum AnswerState<R: Send + 'static> {
    /// `None` once a poll has taken it.
    Ready(Option<Result<R, Broken>>),
    Pending(Promise<R>),
}

// Nothing in it is pinned.
impl<R: Send + 'static> Unpin for Answer<R> {}

const TAKEN: &str = "an answer is not used after it was polled and ready";

impl<R: Send + 'static> Answer<R> {
    #[inline]
    pub(crate) fn ready(result: Result<R, Broken>) -> Self {
        Self(AnswerState::Ready(Some(result)))
    }

    pub(crate) fn pending(promise: Promise<R>) -> Self {
        Self(AnswerState::Pending(promise))
    }

    /// Returns whether the behaviour has run inline. (If not, the promise may still be complete by
    /// now.)
    pub fn is_ready(&self) -> bool {
        matches!(self.0, AnswerState::Ready(_))
    }

    /// Returns the result, blocking the calling thread until it is available. If the behaviour has
    /// run inline, this may be called in a behaviour as well.
    ///
    /// # Errors
    /// Returns the [`Broken`] that says why there is no value.
    ///
    /// # Panics
    /// See [`Promise::wait`]; does not panic if the result is available.
    #[track_caller]
    pub fn wait(self) -> Result<R, Broken> {
        match self.0 {
            AnswerState::Ready(result) => result.expect(TAKEN),
            AnswerState::Pending(promise) => promise.wait(),
        }
    }

    /// Returns the result if the behaviour has run inline.
    ///
    /// # Errors
    /// Returns the promise otherwise.
    pub fn try_wait(self) -> Result<Result<R, Broken>, Promise<R>> {
        match self.0 {
            AnswerState::Ready(result) => Ok(result.expect(TAKEN)),
            AnswerState::Pending(promise) => promise.try_wait(),
        }
    }

    /// Spawns a behaviour on `set` with the result when it is available; see [`Promise::then`].
    ///
    /// # Panics
    /// See [`Promise::then`].
    #[track_caller]
    pub fn then<S, F, Q>(self, set: S, closure: F) -> Promise<Q>
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>, Result<R, Broken>) -> Q + Send + 'static,
        Q: Send + 'static,
    {
        const { refuse_volatile_beside_durable::<S>() };
        match self.0 {
            AnswerState::Ready(result) => {
                let result = result.expect(TAKEN);
                crate::call(set, move |access| closure(access, result))
            }
            AnswerState::Pending(promise) => promise.then(set, closure),
        }
    }

    /// Converts the answer into a promise, which costs an allocation if the result is available.
    pub fn into_promise(self) -> Promise<R> {
        match self.0 {
            AnswerState::Ready(result) => {
                let (resolver, promise) = Promise::channel();
                match result.expect(TAKEN) {
                    Ok(value) => resolver.resolve(value),
                    Err(why) => resolver.fail(why),
                }
                promise
            }
            AnswerState::Pending(promise) => promise,
        }
    }
}

impl<R: Send + 'static> Future for Answer<R> {
    type Output = Result<R, Broken>;

    /// # Panics
    /// Panics if polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            AnswerState::Ready(result) => Poll::Ready(result.take().expect(TAKEN)),
            AnswerState::Pending(promise) => Pin::new(promise).poll(context),
        }
    }
}

impl<R: Send + 'static> fmt::Debug for Answer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("ready", &self.is_ready()).finish()
    }
}

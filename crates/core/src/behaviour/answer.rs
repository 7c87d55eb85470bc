//! A result that is there already, or a promise of it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::cown::set::CownSet;
use crate::fault::Broken;
use crate::promise::Promise;

/// What [`ask_here`](crate::ask_here) returns: the result if the behaviour has run, and else a promise of it.
///
/// It can be used as a [`Promise`]: awaited, waited for, chained. [`try_wait`](Self::try_wait) tells which of
/// the two it is.
///
/// A result that is there lies in the answer itself. Results that own the next answer, in a long chain, are dropped inside
/// of each other, as boxes are: [`Deep`](crate::cown::Deep) is for these.
#[must_use = "an answer may be dropped, but then its error goes unseen too; use `when_here` if there is no result"]
pub struct Answer<R: Send + 'static>(State<R>);

enum State<R: Send + 'static> {
    /// `None` once it has been taken by a poll.
    Ready(Option<Result<R, Broken>>),
    Pending(Promise<R>),
}

// Nothing in it is pinned.
impl<R: Send + 'static> Unpin for Answer<R> {}

const TAKEN: &str = "an answer is not used after it was polled and ready";

impl<R: Send + 'static> Answer<R> {
    #[inline]
    pub(crate) fn ready(result: Result<R, Broken>) -> Self {
        Self(State::Ready(Some(result)))
    }

    pub(crate) fn pending(promise: Promise<R>) -> Self {
        Self(State::Pending(promise))
    }

    /// Whether the behaviour has run on the spot. (If not, the promise may be kept by now all the same.)
    pub fn is_ready(&self) -> bool {
        matches!(self.0, State::Ready(_))
    }

    /// The result; blocks the calling thread until it is there. If the behaviour has run on the spot, this may be
    /// called in a behaviour, too.
    ///
    /// # Errors
    /// [`Broken`] says why there is no value.
    ///
    /// # Panics
    /// As [`Promise::wait`], unless the result is there.
    #[track_caller]
    pub fn wait(self) -> Result<R, Broken> {
        match self.0 {
            State::Ready(result) => result.expect(TAKEN),
            State::Pending(promise) => promise.wait(),
        }
    }

    /// The result, if it is there.
    ///
    /// # Errors
    /// The promise, if not.
    pub fn try_wait(self) -> Result<Result<R, Broken>, Promise<R>> {
        match self.0 {
            State::Ready(result) => Ok(result.expect(TAKEN)),
            State::Pending(promise) => promise.try_wait(),
        }
    }

    /// Spawns a behaviour on `set` with the result, once it is there: see [`Promise::then`].
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn then<S, F, Q>(self, set: S, closure: F) -> Promise<Q>
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>, Result<R, Broken>) -> Q + Send + 'static,
        Q: Send + 'static,
    {
        match self.0 {
            State::Ready(result) => {
                let result = result.expect(TAKEN);
                crate::ask(set, move |access| closure(access, result))
            }
            State::Pending(promise) => promise.then(set, closure),
        }
    }

    /// The answer as a promise, which costs an allocation if the result is there.
    pub fn into_promise(self) -> Promise<R> {
        match self.0 {
            State::Ready(result) => {
                let (resolver, promise) = Promise::channel();
                match result.expect(TAKEN) {
                    Ok(value) => resolver.resolve(value),
                    Err(why) => resolver.fail(why),
                }
                promise
            }
            State::Pending(promise) => promise,
        }
    }
}

impl<R: Send + 'static> Future for Answer<R> {
    type Output = Result<R, Broken>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Ready(result) => Poll::Ready(result.take().expect(TAKEN)),
            State::Pending(promise) => Pin::new(promise).poll(context),
        }
    }
}

impl<R: Send + 'static> fmt::Debug for Answer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("ready", &self.is_ready()).finish()
    }
}

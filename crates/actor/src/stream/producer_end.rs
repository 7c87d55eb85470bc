//! The producer's end of an actor's stream.

use std::fmt;
use std::sync::Arc;

use super::buffer::{OfferEnd, StreamBuffer, StreamId, wake};
use crate::message::Message;

/// The right to push a number of items to a stream; a message to the actor that produces them.
///
/// It can be kept, for later items. A demand that is **dropped untouched**, without a single item
/// pushed, ends the stream; so an actor that ends or panics while it has one ends the stream
/// without further code. If something was pushed, the rest is requested again.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, spawn};
/// use coact::stream::Demand;
///
/// struct Countdown(u32);
/// impl Actor for Countdown {}
/// impl Handler<Demand<u32>> for Countdown {
///     fn handle(&mut self, mut demand: Demand<u32>, _: &mut Context<Self>) {
///         while self.0 > 0 && demand.push(self.0).is_ok() {
///             self.0 -= 1;
///         }
///         if self.0 == 0 {
///             demand.finish();
///         }
///     }
/// }
///
/// let mut numbers = spawn(Countdown(3)).stream_buffered(2);
/// let all: Vec<u32> = std::iter::from_fn(|| numbers.wait_next()).collect();
/// assert_eq!(all, [3, 2, 1]);
/// ```
#[must_use = "dropping an untouched demand ends the stream"]
pub struct Demand<T: Send + 'static> {
    pub(super) shared: Arc<StreamBuffer<T>>,
    pub(super) left: usize,
    pub(super) touched: bool,
}

impl<T: Send + 'static> Message for Demand<T> {
    type Reply = ();
}

/// An item that was not accepted; the error returns it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PushError<T> {
    /// All items of this demand were pushed: wait for the next demand.
    NoDemand(T),
    /// The stream has ended, or the consumer has dropped it.
    Gone(T),
}

impl<T: Send + 'static> Demand<T> {
    /// Returns how many items may still be pushed: 0 once a push has found that the consumer is
    /// gone.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Returns the stream to which it belongs.
    pub fn stream(&self) -> StreamId {
        self.shared.id
    }

    /// Returns whether the stream still has a consumer. An actor that must be notified of its end
    /// [watches](crate::Context::watch_consumer) the consumer.
    pub fn is_wanted(&self) -> bool {
        let state = self.shared.state.lock();
        !state.consumer_gone && state.end.is_none()
    }

    /// Pushes the next item to the stream.
    ///
    /// # Errors
    /// Returns the item if no more are demanded, or if the consumer is gone.
    pub fn push(&mut self, item: T) -> Result<(), PushError<T>> {
        let mut state = self.shared.state.lock();
        if state.consumer_gone || state.end.is_some() {
            drop(state);
            // So that a loop that pushes while something is left terminates.
            self.left = 0;
            return Err(PushError::Gone(item));
        }
        if self.left == 0 {
            drop(state);
            return Err(PushError::NoDemand(item));
        }
        self.touched = true;
        self.left -= 1;
        state.items.push_back(item);
        state.demanded = self.left > 0;
        wake(state);
        Ok(())
    }

    /// Pushes the items of an iterator, up to the demand, and finishes the stream if the iterator
    /// ends first. Returns whether the stream continues. (An item pushed after the consumer is gone
    /// is dropped.)
    pub fn fill(mut self, items: &mut impl Iterator<Item = T>) -> bool {
        while self.left > 0 {
            let Some(item) = items.next() else {
                self.finish();
                return false;
            };
            if self.push(item).is_err() {
                return false;
            }
        }
        true
    }

    /// Ends the stream, after the items pushed.
    pub fn finish(mut self) {
        self.end(OfferEnd::Finished);
    }

    fn end(&mut self, end: OfferEnd) {
        // A finished demand must not affect the stream when dropped.
        self.left = 0;
        self.touched = true;
        let mut state = self.shared.state.lock();
        state.end.get_or_insert(end);
        wake(state);
    }
}

impl<T: Send + 'static> Drop for Demand<T> {
    fn drop(&mut self) {
        if !self.touched {
            return self.end(OfferEnd::Dropped);
        }
        if self.left > 0 {
            let mut state = self.shared.state.lock();
            state.demanded = false;
            // The consumer asks again.
            wake(state);
        }
    }
}

impl<T> PushError<T> {
    /// Returns the item.
    pub fn into_item(self) -> T {
        match self {
            PushError::NoDemand(item) | PushError::Gone(item) => item,
        }
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PushError::NoDemand(_) => "no more items are demanded: the item is returned",
            PushError::Gone(_) => "the stream has ended: the item is returned",
        })
    }
}

impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PushError::NoDemand(_) => "NoDemand(_)",
            PushError::Gone(_) => "Gone(_)",
        })
    }
}

impl<T> std::error::Error for PushError<T> {}

impl<T: Send + 'static> fmt::Debug for Demand<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Demand").field("left", &self.left).finish_non_exhaustive()
    }
}

//! Streams whose items an actor produces on demand.
//!
//! A consumer with room in its buffer sends the actor a [`Demand`]: a message that grants the right
//! to push this many items. There is one demand at a time per stream, and it never exceeds the
//! room, so the buffer is bounded whichever side is slower. All ends follow from the demand's: no
//! monitor watches the actor.

use std::any::type_name;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};

use coact_core::cown::Deep;
use coact_sync::shim::process::{Mutex, MutexGuard};
use futures_core::Stream;

use super::buffer::{BufferState, OfferEnd, StreamBuffer, StreamId};
use super::producer_end::Demand;
use crate::block_on::block_on;
use crate::handler::Receive;
use crate::parts::{Actor, Addr};

/// The default buffer size of a stream, in items.
const BUFFER: usize = 16;

impl<A: Actor> Addr<A> {
    /// Returns the items of this type that the actor produces, as a stream with a buffer of 16: see
    /// [`stream_buffered`](Self::stream_buffered).
    pub fn stream<T>(&self) -> ActorStream<T>
    where
        A: Receive<Demand<T>>,
        T: Send + 'static,
    {
        self.stream_buffered(BUFFER)
    }

    /// Returns the items of this type that the actor produces, as a stream that buffers at most
    /// this many.
    ///
    /// The stream is **pulled**: the actor receives a [`Demand`], the right to push a number of
    /// items, when the consumer asks for one and half of the buffer is free; not before the
    /// consumer first asks. Each call creates a separate stream. A stream keeps the actor alive,
    /// like an address.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, spawn};
    /// use coact::stream::Demand;
    ///
    /// /// Produces the squares.
    /// struct Squares(u64);
    /// impl Actor for Squares {}
    /// impl Handler<Demand<u64>> for Squares {
    ///     fn handle(&mut self, mut demand: Demand<u64>, _: &mut Context<Self>) {
    ///         while demand.left() > 0 {
    ///             self.0 += 1;
    ///             demand.push(self.0 * self.0).ok();
    ///         }
    ///     }
    /// }
    ///
    /// let mut squares = spawn(Squares(0)).stream_buffered(2);
    /// assert_eq!(squares.wait_next(), Some(1));
    /// assert_eq!(squares.wait_next(), Some(4));
    /// ```
    ///
    /// # Panics
    /// Panics if the buffer size is 0.
    #[track_caller]
    pub fn stream_buffered<T>(&self, buffer: usize) -> ActorStream<T>
    where
        A: Receive<Demand<T>>,
        T: Send + 'static,
    {
        assert!(buffer > 0, "through a buffer of 0 no item could ever come");
        let producer = self.clone();
        ActorStream {
            shared: Arc::new(StreamBuffer {
                id: StreamId::next(),
                room: buffer,
                state: Mutex::default(),
            }),
            ask: Box::new(move |demand| producer.deliver(demand, ())),
        }
    }
}

/// A stream of what an actor produces: see [`Addr::stream_buffered`].
///
/// It is a [`futures_core::Stream`]. On a plain thread there is [`wait_next`](Self::wait_next); an
/// actor that consumes it [attaches](crate::Context::attach) it. Dropping it drops its buffered
/// items, and notifies a producer that [watches](crate::Context::watch_consumer) its consumer; any
/// other finds out at its next push.
#[must_use = "an actor produces nothing until its stream is polled"]
pub struct ActorStream<T: Send + 'static> {
    shared: Arc<StreamBuffer<T>>,
    ask: Box<dyn Fn(Demand<T>) + Send>,
}

impl<T: Send + 'static> ActorStream<T> {
    /// Returns its identity.
    pub fn id(&self) -> StreamId {
        self.shared.id
    }

    /// Returns how many items are in the buffer at this moment.
    pub fn backlog(&self) -> usize {
        self.shared.state.lock().items.len()
    }

    /// Returns why there are no more items, once the stream has ended.
    pub fn end(&self) -> Option<OfferEnd> {
        let state = self.shared.state.lock();
        state.end.filter(|_| state.items.is_empty())
    }

    /// Returns the next item, or `None` at the end; blocks the calling thread until it arrives.
    ///
    /// # Panics
    /// Panics inside a behaviour, a handler or a future: see [`coact_core::Promise::wait`].
    #[track_caller]
    pub fn wait_next(&mut self) -> Option<T> {
        block_on(
            (
                "`ActorStream::wait_next`",
                "attach the stream with `Context::attach`, or await its items",
            ),
            |f| write!(f, "an item `{}` of a stream", type_name::<T>()),
            |context| Pin::new(&mut *self).poll_next(context),
        )
    }

    /// Requests more items, if there is enough room, and takes the next item if it has arrived.
    fn take(&self, waker: Option<Waker>) -> Poll<Option<T>> {
        let mut state = self.shared.state.lock();
        let item = state.items.pop_front();
        let demand = self.demand(&mut state);
        let is_pending = item.is_none() && state.end.is_none();
        let before = if is_pending { std::mem::replace(&mut state.waker, waker) } else { None };
        drop(state);
        drop(before);
        if let Some(demand) = demand {
            (self.ask)(demand);
        }
        if is_pending { Poll::Pending } else { Poll::Ready(item) }
    }

    fn demand(&self, state: &mut MutexGuard<'_, BufferState<T>>) -> Option<Demand<T>> {
        let free = self.shared.room - state.items.len();
        if state.demanded || state.end.is_some() || free < self.shared.room.div_ceil(2) {
            return None;
        }
        state.demanded = true;
        Some(Demand { shared: Arc::clone(&self.shared), left: free, touched: false })
    }
}

impl<T: Send + 'static> Stream for ActorStream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Option<T>> {
        // Cloned without the lock: a waker may run user code.
        let is_empty = self.shared.state.lock().items.is_empty();
        self.take(is_empty.then(|| context.waker().clone()))
    }
}

impl<T: Send + 'static> Drop for ActorStream<T> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.consumer_gone = true;
        let left = (std::mem::take(&mut state.items), state.waker.take());
        let (tell, is_over) = (state.on_gone.take(), state.end.is_some());
        drop(state);
        if let Some(tell) = tell.filter(|_| !is_over) {
            tell();
        }
        // An item may own the next stream.
        drop(Deep::new(left));
    }
}

impl<T: Send + 'static> fmt::Debug for ActorStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (backlog, end) = (self.backlog(), self.end());
        f.debug_struct("ActorStream").field("backlog", &backlog).field("end", &end).finish()
    }
}

//! Streams whose items an actor produces on demand.
//!
//! A consumer with room in its buffer sends the actor a [`Demand`]: a message that grants the right
//! to push this many items. There is one demand at a time per stream, and it never exceeds the
//! room, so the buffer is bounded whichever side is slower. All ends follow from the demand's: no
//! monitor watches the actor.

use std::any::type_name;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context as TaskContext, Poll, Waker};

use coact_core::cown::Deep;
use coact_core::internals::catch;
use coact_sync::shim::process::{Mutex, MutexGuard};
use futures_core::Stream;

use crate::block_on::block_on;
use crate::message::Message;
use crate::traits::Receive;
use crate::types::{Actor, Addr, Context};

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
            shared: Arc::new(Shared {
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
    shared: Arc<Shared<T>>,
    ask: Box<dyn Fn(Demand<T>) + Send>,
}

/// Why an [`ActorStream`] has no more items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OfferEnd {
    /// The producer finished it: [`Demand::finish`].
    Finished,
    /// The producer dropped a demand without a single item for it: it has ended, panicked, was
    /// restarted, or has no more.
    Dropped,
}

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
    shared: Arc<Shared<T>>,
    left: usize,
    touched: bool,
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

/// The identity of an [`ActorStream`]; its [demands](Demand::stream) have the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(u64);

impl StreamId {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // ORDERING: Relaxed. The numbers need only be distinct.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Notifies an actor that produces the items of a stream that the stream was dropped before its
/// end: see [`Context::watch_consumer`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ConsumerGone {
    /// The stream.
    pub stream: StreamId,
}

impl Message for ConsumerGone {
    type Reply = ();
}

impl<A: Actor> Context<A> {
    /// Sends this actor a [`ConsumerGone`] when the consumer drops the stream of this demand:
    /// immediately, not at the next push, and also if that has already happened. A stream that ends
    /// first sends none. No setting of the mailbox refuses, drops or delays the notification.
    ///
    /// A later call for the same stream replaces the earlier one, so the call can be the first line
    /// of the handler. It does not keep the actor alive.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, spawn};
    /// use coact::stream::{ConsumerGone, Demand};
    ///
    /// /// Produces numbers for one consumer.
    /// struct Numbers(Option<Demand<u32>>);
    /// impl Actor for Numbers {}
    /// impl Handler<Demand<u32>> for Numbers {
    ///     fn handle(&mut self, mut demand: Demand<u32>, context: &mut Context<Self>) {
    ///         context.watch_consumer(&demand);
    ///         demand.push(1).ok();
    ///         self.0 = Some(demand); // For items that come later.
    ///     }
    /// }
    /// impl Handler<ConsumerGone> for Numbers {
    ///     fn handle(&mut self, _: ConsumerGone, context: &mut Context<Self>) { context.stop() }
    /// }
    ///
    /// let numbers = spawn(Numbers(None));
    /// let mut consumer = numbers.stream::<u32>();
    /// assert_eq!(consumer.wait_next(), Some(1));
    /// let ended = numbers.ended();
    /// drop(consumer);
    /// assert!(ended.wait().unwrap().is_normal());
    /// ```
    pub fn watch_consumer<T: Send + 'static>(&mut self, demand: &Demand<T>)
    where
        A: Receive<ConsumerGone>,
    {
        let (this, life, stream) = (self.weak(), self.life(), demand.stream());
        demand.shared.on_gone(Box::new(move || this.notify(life, ConsumerGone { stream })));
    }
}

/// Notifies the producer that the consumer is gone.
type Gone = Box<dyn FnOnce() + Send>;

struct Shared<T> {
    id: StreamId,
    room: usize,
    state: Mutex<State<T>>,
}

struct State<T> {
    items: VecDeque<T>,
    /// Whether there is a demand that is not exhausted.
    demanded: bool,
    end: Option<OfferEnd>,
    consumer_gone: bool,
    on_gone: Option<Gone>,
    waker: Option<Waker>,
}

impl<T> Shared<T> {
    /// Sets the notification of the consumer's end, unless the stream ends first.
    fn on_gone(&self, tell: Gone) {
        let mut state = self.state.lock();
        if state.consumer_gone && state.end.is_none() {
            drop(state);
            return tell();
        }
        let before = state.on_gone.replace(tell);
        drop(state);
        drop(before);
    }
}

impl<T> Default for State<T> {
    fn default() -> Self {
        Self {
            items: VecDeque::new(),
            demanded: false,
            end: None,
            consumer_gone: false,
            on_gone: None,
            waker: None,
        }
    }
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

    fn demand(&self, state: &mut MutexGuard<'_, State<T>>) -> Option<Demand<T>> {
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
    /// [watches](Context::watch_consumer) the consumer.
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

/// Wakes the consumer, if it waits, without the lock.
fn wake<T>(mut state: MutexGuard<'_, State<T>>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        // User code: a panic of the consumer must not affect the producer.
        let _ = catch(|| waker.wake());
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

impl<T: Send + 'static> fmt::Debug for ActorStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (backlog, end) = (self.backlog(), self.end());
        f.debug_struct("ActorStream").field("backlog", &backlog).field("end", &end).finish()
    }
}

impl<T: Send + 'static> fmt::Debug for Demand<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Demand").field("left", &self.left).finish_non_exhaustive()
    }
}

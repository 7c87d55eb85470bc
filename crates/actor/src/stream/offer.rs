//! Streams whose items an actor makes, when they are asked for.
//!
//! A consumer that finds room in its buffer sends the actor a [`Demand`]: a message that is the right
//! to push so many items. There is one demand at a time for a stream, and it never exceeds the room,
//! so the buffer is bounded whoever is slower. All ends follow from the demand's: nobody watches the
//! actor.

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

use crate::message::Message;
use crate::park;
use crate::parts::{Actor, Addr, Context};
use crate::traits::Receive;

/// How many items a stream holds, if nothing else is said.
const BUFFER: usize = 16;

impl<A: Actor> Addr<A> {
    /// The items that the actor makes of this type, as a stream with a buffer of 16: see
    /// [`stream_buffered`](Self::stream_buffered).
    pub fn stream<T>(&self) -> ActorStream<T>
    where
        A: Receive<Demand<T>>,
        T: Send + 'static,
    {
        self.stream_buffered(BUFFER)
    }

    /// The items that the actor makes of this type, as a stream that holds so many at the most.
    ///
    /// The stream is **pulled**: the actor is sent a [`Demand`], which is the right to push so many
    /// items, when the consumer asks for one and half of the buffer is free; not before it first
    /// asks. Each call makes a stream of its own. It keeps the actor alive, as an address does.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, spawn};
    /// use coact::stream::Demand;
    ///
    /// /// Makes the squares.
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
    /// If the buffer has no room.
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

/// A stream of what an actor makes: see [`Addr::stream_buffered`].
///
/// It is a [`futures_core::Stream`]. On a plain thread there is [`wait_next`](Self::wait_next); an
/// actor that consumes it [attaches](crate::Context::attach) it. Dropping it drops what its buffer
/// holds, and is told to a producer that [watches](crate::Context::watch_consumer) its consumer; any other
/// sees it at its next push.
#[must_use = "an actor makes nothing before its stream is polled"]
pub struct ActorStream<T: Send + 'static> {
    shared: Arc<Shared<T>>,
    ask: Box<dyn Fn(Demand<T>) + Send>,
}

/// Why an [`ActorStream`] has no more items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OfferEnd {
    /// The producer said so: [`Demand::finish`].
    Finished,
    /// The producer dropped a demand without a single item for it: it has ended, panicked, was
    /// restarted, or has no more.
    Dropped,
}

/// The right to push so many items to a stream; a message to the actor that makes them.
///
/// It may be kept, for items that come later. A demand that is **dropped untouched**, without one
/// item pushed, ends the stream: so does, without more ado, an actor that ends or panics while it has
/// one. If something was pushed, the rest is asked for again.
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

/// An item that was not taken; it is given back.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PushError<T> {
    /// All items of this demand were pushed: wait for the next.
    NoDemand(T),
    /// The stream has ended, or the consumer has dropped it.
    Gone(T),
}

/// The identity of an [`ActorStream`], which its [demands](Demand::stream) have, too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(u64);

impl StreamId {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // ORDERING: Relaxed. Only distinct.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Tells an actor that makes the items of a stream that the stream was dropped before its end: see
/// [`Context::watch_consumer`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ConsumerGone {
    /// Which stream it was.
    pub stream: StreamId,
}

impl Message for ConsumerGone {
    type Reply = ();
}

impl<A: Actor> Context<A> {
    /// Has this actor told by a [`ConsumerGone`] when the consumer drops the stream that a demand is of, at
    /// once and not with the next push; at once also if that was before. Nothing is told of a stream that
    /// has ended first. No setting of the mailbox refuses, drops or delays that.
    ///
    /// Each call for one stream takes the place of the one before, so it may stand at the top of the
    /// handler. It does not keep the actor alive.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, spawn};
    /// use coact::stream::{ConsumerGone, Demand};
    ///
    /// /// Makes numbers for one consumer.
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

/// Tells the producer that nobody consumes its stream any more.
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
    /// Has the consumer's end told, unless the stream ends first.
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
    /// Its identity.
    pub fn id(&self) -> StreamId {
        self.shared.id
    }

    /// How many items are in the buffer at this moment.
    pub fn backlog(&self) -> usize {
        self.shared.state.lock().items.len()
    }

    /// Why there are no more items, once the stream has ended.
    pub fn end(&self) -> Option<OfferEnd> {
        let state = self.shared.state.lock();
        state.end.filter(|_| state.items.is_empty())
    }

    /// The next item, or `None` at the end; blocks the calling thread until it comes.
    ///
    /// # Panics
    /// Inside of a behaviour, a handler or a future: see [`coact_core::Promise::wait`].
    #[track_caller]
    pub fn wait_next(&mut self) -> Option<T> {
        park::block_on(
            (
                "`ActorStream::wait_next`",
                "attach the stream with `Context::attach`, or await its items",
            ),
            |f| write!(f, "an item `{}` of a stream", type_name::<T>()),
            |context| Pin::new(&mut *self).poll_next(context),
        )
    }

    /// Asks for more, if there is room enough, and the next item if it is there.
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
        // Cloned without the lock: it is foreign code.
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
    /// How many items may be pushed still. None, once a push has found nobody to consume them.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Which stream it is of.
    pub fn stream(&self) -> StreamId {
        self.shared.id
    }

    /// Whether somebody consumes the stream (still). An actor that is to be told when that ends
    /// [watches](Context::watch_consumer) its consumer.
    pub fn is_wanted(&self) -> bool {
        let state = self.shared.state.lock();
        !state.consumer_gone && state.end.is_none()
    }

    /// Gives the stream its next item.
    ///
    /// # Errors
    /// Gives the item back if no more are demanded, or if the consumer is gone.
    pub fn push(&mut self, item: T) -> Result<(), PushError<T>> {
        let mut state = self.shared.state.lock();
        if state.consumer_gone || state.end.is_some() {
            drop(state);
            // So that a loop that pushes while something is left comes to an end.
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

    /// Pushes what an iterator gives, as far as the demand goes, and finishes the stream if the
    /// iterator ends before. Returns whether the stream goes on. (An item that finds nobody to
    /// consume it is dropped.)
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

    /// Ends the stream, after what was pushed.
    pub fn finish(mut self) {
        self.end(OfferEnd::Finished);
    }

    fn end(&mut self, end: OfferEnd) {
        // It has no say any more.
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
        // Foreign code: the producer is not to suffer for its consumer.
        let _ = catch(|| waker.wake());
    }
}

impl<T> PushError<T> {
    /// The item.
    pub fn into_item(self) -> T {
        match self {
            PushError::NoDemand(item) | PushError::Gone(item) => item,
        }
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PushError::NoDemand(_) => "no more items are demanded: the item is given back",
            PushError::Gone(_) => "the stream has ended: the item is given back",
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

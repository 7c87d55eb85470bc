//! Streams whose items an actor receives as messages.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use coact_core::credits::Credits;
use coact_core::internals::{CatchDrop, catch};
use coact_core::runtime::spawn_future;
use coact_core::{Broken, Promise};
use coact_sync::shim::process::Mutex;
use futures_core::Stream;

use crate::attached_streams::{AttachedStream, FeedNumber, StreamStop};
use crate::exit::ExitReason;
use crate::handler::Receive;
use crate::message::Message;
use crate::parts::{Actor, Addr, Context, WeakAddr};

/// Why a stream has no more items.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamEnd {
    /// The stream had no more.
    Finished,
    /// It was [detached](AttachedStream::detach).
    Detached,
    /// The stream panicked, or the closure that converts its items into messages. Contains the
    /// panic's message.
    Panicked(Arc<str>),
}

impl<A: Actor> Context<A> {
    /// Begins to attach a stream to this actor: its items arrive as messages, once
    /// [`items`](Feed::items) or [`each`](Feed::each) completes the settings.
    ///
    /// The stream is **pulled**: it is polled for its next item only when the actor has handled the
    /// one before, so a fast stream needs no memory. It is polled on the workers, beside the actor,
    /// which continues with other messages.
    ///
    /// It ends with the state that attached it, at a restart or at the actor's end: it is then
    /// dropped, and no further hook is called. Items that were polled before a restart are messages
    /// like any other: the next state handles them, unless the stream is
    /// [replayed](Feed::replayed_at_restart) to it.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message, spawn};
    /// use coact::stream::StreamEnd;
    /// # use std::{pin::Pin, task::{Context as Cx, Poll}};
    /// # struct UpTo(u32, u32);
    /// # impl futures_core::Stream for UpTo {
    /// #     type Item = u32;
    /// #     fn poll_next(mut self: Pin<&mut Self>, _: &mut Cx<'_>) -> Poll<Option<u32>> {
    /// #         self.0 += 1;
    /// #         Poll::Ready((self.0 <= self.1).then_some(self.0))
    /// #     }
    /// # }
    /// struct Add(u32);
    /// impl Message for Add { type Reply = (); }
    ///
    /// struct Sum(u32);
    /// impl Handler<Add> for Sum {
    ///     fn handle(&mut self, n: Add, _: &mut Context<Self>) { self.0 += n.0; }
    /// }
    /// impl Actor for Sum {
    ///     fn started(&mut self, context: &mut Context<Self>) {
    ///         let numbers = UpTo(0, 4); // any stream of numbers
    ///         context
    ///             .attach(numbers)
    ///             .window(2)
    ///             .on_end(|sum, end, context| {
    ///                 assert_eq!((sum.0, end), (10, StreamEnd::Finished));
    ///                 context.stop();
    ///             })
    ///             .each(Add);
    ///     }
    /// }
    /// assert!(spawn(Sum(0)).ended().wait().unwrap().is_normal());
    /// ```
    pub fn attach<S>(&mut self, stream: S) -> Feed<'_, A, S>
    where
        S: Stream + Send + 'static,
        S::Item: Send + 'static,
    {
        let hooks =
            FeedHooks { on_start: None, on_end: CatchDrop::new(Box::new(fail_with_stream)) };
        Feed { context: self, stream, window: 1, keeps_alive: true, is_replayed: false, hooks }
    }
}

/// The default for the end of a stream: a panic fails the actor.
fn fail_with_stream<A: Actor>(_: &mut A, end: StreamEnd, context: &mut Context<A>) {
    if let StreamEnd::Panicked(message) = end {
        let why = format!("a stream that it read panicked: {message}");
        context.stop_with(ExitReason::Failed(why.into()));
    }
}

/// A stream to attach: see [`Context::attach`].
#[must_use = "nothing is read until `each` or `items` is called"]
pub struct Feed<'c, A: Actor, S> {
    context: &'c mut Context<A>,
    stream: S,
    window: usize,
    keeps_alive: bool,
    is_replayed: bool,
    hooks: FeedHooks<A>,
}

type OnStart<A> = Box<dyn FnOnce(&mut A, &mut Context<A>) + Send>;
type OnEnd<A> = Box<dyn FnOnce(&mut A, StreamEnd, &mut Context<A>) + Send>;

struct FeedHooks<A: Actor> {
    on_start: Option<CatchDrop<OnStart<A>>>,
    on_end: CatchDrop<OnEnd<A>>,
}

impl<A, S> Feed<'_, A, S>
where
    A: Actor,
    S: Stream + Send + 'static,
    S::Item: Send + 'static,
{
    /// Sets how many items may be on their way, polled for and not handled yet (1 by default).
    ///
    /// # Panics
    /// Panics if it is 0.
    #[track_caller]
    pub fn window(mut self, items: usize) -> Self {
        assert!(items > 0, "with a window of 0 no item could ever come");
        self.window = items;
        self
    }

    /// Lets the actor end while the stream still has items, when the actor has no address any more.
    /// By default it stays alive until the stream ends.
    pub fn without_keeping_alive(mut self) -> Self {
        self.keeps_alive = false;
        self
    }

    /// Says that after a restart the next state reads the source again, from where this state
    /// began. So its items that wait in the mailbox at the restart are dropped in their turn: they
    /// would arrive twice. Each is reported and counted as
    /// [`MessageDropped`](crate::pubsub::MessageDropped).
    ///
    /// Without this the next state handles them: a socket, a channel or a queue has no other copy.
    ///
    /// An item that the actor has [stashed](Context::stash) has left the mailbox: it stays.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Addr, Context, Handler, Message};
    /// use coact::actor::actor;
    /// # use std::{pin::Pin, task::{Context as Cx, Poll}};
    /// # struct Lines(u32);
    /// # impl Lines { fn open() -> Self { Self(0) } }
    /// # impl futures_core::Stream for Lines {
    /// #     type Item = u32;
    /// #     fn poll_next(mut self: Pin<&mut Self>, _: &mut Cx<'_>) -> Poll<Option<u32>> {
    /// #         self.0 += 1;
    /// #         Poll::Ready((self.0 <= 4).then_some(self.0))
    /// #     }
    /// # }
    /// struct Add(u32);
    /// impl Message for Add { type Reply = (); }
    ///
    /// /// Sums up a file of numbers, which it reads from the beginning in each life.
    /// struct Sum(u32);
    /// impl Handler<Add> for Sum {
    ///     fn handle(&mut self, n: Add, _: &mut Context<Self>) { self.0 += n.0; }
    /// }
    /// impl Actor for Sum {
    ///     fn started(&mut self, context: &mut Context<Self>) {
    ///         let end = |sum: &mut Sum, _, context: &mut Context<Sum>| {
    ///             assert_eq!(sum.0, 10);
    ///             context.stop();
    ///         };
    ///         context.attach(Lines::open()).window(4).replayed_at_restart().on_end(end).each(Add);
    ///     }
    /// }
    /// let sum = actor(Sum(0)).restartable(|| Sum(0)).spawn();
    /// sum.restart().ok(); // Unless it has ended.
    /// assert!(sum.ended().wait().unwrap().is_normal());
    /// ```
    pub fn replayed_at_restart(mut self) -> Self {
        self.is_replayed = true;
        self
    }

    /// Sets a hook that is called, like a handler, before the first item.
    pub fn on_start(mut self, hook: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static) -> Self {
        self.hooks.on_start = Some(CatchDrop::new(Box::new(hook)));
        self
    }

    /// Sets a hook that is called, like a handler, after the last item. Without it nothing happens
    /// at the end, except that a stream that panics fails the actor.
    pub fn on_end(
        mut self,
        hook: impl FnOnce(&mut A, StreamEnd, &mut Context<A>) + Send + 'static,
    ) -> Self {
        self.hooks.on_end = CatchDrop::new(Box::new(hook));
        self
    }

    /// Attaches the stream; a closure converts its items into messages. A message's answer is
    /// dropped. The closure is called where the stream is polled, beside the actor.
    pub fn each<M>(self, message: impl FnMut(S::Item) -> M + Send + 'static) -> AttachedStream
    where
        A: Receive<M>,
        M: Message,
    {
        let Self { context, stream, window, keeps_alive, is_replayed, hooks } = self;
        let number = FeedNumber::next();
        let (resolver, stopped) = Promise::channel();
        let attached = AttachedStream(Arc::new(Mutex::new(Some(resolver))));
        context.feeds().0.insert(number, attached.clone());
        let source = FeedSource {
            stream: CatchDrop::new(Box::pin(stream)),
            message: CatchDrop::new(message),
        };
        let keep = keeps_alive.then(|| context.address());
        let only_in = is_replayed.then(|| context.incarnation());
        let reader = FeedReader { actor: context.weak(), _keep: keep, number, only_in };
        drop(spawn_future(reader.run(source, hooks, Credits::new(window), stopped)));
        attached
    }

    /// Attaches the stream, whose items are messages.
    pub fn items(self) -> AttachedStream
    where
        A: Receive<S::Item>,
        S::Item: Message,
    {
        self.each(|item| item)
    }
}

/// A stream, and the closure that converts its items into messages.
struct FeedSource<S, F> {
    stream: CatchDrop<Pin<Box<S>>>,
    message: CatchDrop<F>,
}

impl<S, F, M> FeedSource<S, F>
where
    S: Stream,
    F: FnMut(S::Item) -> M,
{
    /// A panic is the end.
    fn poll(&mut self, context: &mut TaskContext<'_>) -> Poll<Result<M, StreamEnd>> {
        let Self { stream, message } = self;
        match catch(|| stream.as_mut().poll_next(context).map(|item| item.map(&mut **message))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(Some(message))) => Poll::Ready(Ok(message)),
            Ok(Poll::Ready(None)) => Poll::Ready(Err(StreamEnd::Finished)),
            Err(Broken::Panicked(why)) => Poll::Ready(Err(StreamEnd::Panicked(why))),
            Err(other) => Poll::Ready(Err(StreamEnd::Panicked(other.to_string().into()))),
        }
    }
}

/// Delivers a stream's items to an actor.
struct FeedReader<A: Actor> {
    actor: WeakAddr<A>,
    _keep: Option<Addr<A>>,
    number: FeedNumber,
    /// The incarnation that handles the items, if no other does.
    only_in: Option<u32>,
}

impl<A: Actor> FeedReader<A> {
    async fn run<S, F, M>(
        self,
        mut source: FeedSource<S, F>,
        hooks: FeedHooks<A>,
        credits: Credits,
        mut stopped: Promise<StreamStop>,
    ) where
        A: Receive<M>,
        M: Message,
        S: Stream,
        F: FnMut(S::Item) -> M,
    {
        let FeedHooks { on_start, on_end } = hooks;
        if let Some(on_start) = on_start {
            self.tell(on_start.into_inner());
        }
        let end = self.read(&mut source, &credits, &mut stopped).await;
        // Its destructor is user code, and comes before the end is reported.
        drop(source);
        drop(stopped);
        if let Some(end) = end {
            self.tell_end(end, on_end.into_inner());
        }
    }

    /// Calls a hook with the actor, if it still has the state that attached the stream.
    fn tell(&self, hook: OnStart<A>) {
        let number = self.number;
        if let Some(actor) = self.actor.upgrade() {
            actor.run_with_actor(move |actor, context| {
                if context.feeds().has(number) {
                    hook(actor, context);
                }
            });
        }
    }

    fn tell_end(&self, end: StreamEnd, hook: OnEnd<A>) {
        let number = self.number;
        if let Some(actor) = self.actor.upgrade() {
            actor.run_with_actor(move |actor, context| {
                if context.feeds().forget(number) {
                    hook(actor, end, context);
                }
            });
        }
    }

    /// Reads to the end, and returns it; `None` if the state that attached the stream is gone.
    async fn read<S, F, M>(
        &self,
        source: &mut FeedSource<S, F>,
        credits: &Credits,
        stopped: &mut Promise<StreamStop>,
    ) -> Option<StreamEnd>
    where
        A: Receive<M>,
        M: Message,
        S: Stream,
        F: FnMut(S::Item) -> M,
    {
        loop {
            let mut permit = credits.acquire(1);
            let permit = match unless(stopped, |context| Pin::new(&mut permit).poll(context)).await
            {
                Ok(permit) => permit,
                Err(end) => return end,
            };
            match unless(stopped, |context| source.poll(context)).await {
                // The permit is returned when the message has been handled.
                Ok(Ok(message)) => {
                    let actor = self.actor.upgrade()?;
                    match self.only_in {
                        None => actor.deliver(message, permit),
                        Some(incarnation) => actor.deliver_in(incarnation, message, permit),
                    }
                }
                Ok(Err(end)) => return Some(end),
                Err(end) => return end,
            }
        }
    }
}

/// Polls, unless the stream must stop; then returns why.
async fn unless<T>(
    stopped: &mut Promise<StreamStop>,
    mut poll: impl FnMut(&mut TaskContext<'_>) -> Poll<T>,
) -> Result<T, Option<StreamEnd>> {
    poll_fn(|context| match Pin::new(&mut *stopped).poll(context) {
        Poll::Ready(Ok(StreamStop::Detached)) => Poll::Ready(Err(Some(StreamEnd::Detached))),
        Poll::Ready(Ok(StreamStop::StateGone) | Err(_)) => Poll::Ready(Err(None)),
        Poll::Pending => poll(context).map(Ok),
    })
    .await
}

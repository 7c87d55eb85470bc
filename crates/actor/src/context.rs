//! What a handler gets beside its actor and the message.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::forget;
use std::sync::Arc;
use std::time::Duration;

use coact_core::cown::Held;
use coact_core::internals::Continuation;
use coact_core::promise::Resolver;
use coact_core::runtime::spawn_future;
use coact_core::{Broken, Cown, Promise};
use parking_lot::Mutex;

use crate::address::{Addr, Inside, WeakAddr};
use crate::any::AnyAddr;
use crate::ask::{Ask, flatten};
use crate::begun::{Begun, BegunByState};
use crate::caught::Caught;
use crate::cell::Cell;
use crate::error::{AskError, SendError};
use crate::exit::ExitReason;
use crate::hold::{self, HeldFuture, HoldRequest};
use crate::id::ActorId;
use crate::idle_timeout::Timeouts;
use crate::mailbox::{Envelopes, Stash};
use crate::message::Message;
use crate::monitor::{Down, Exited, MonitorId};
use crate::outbox::Outbox;
use crate::recipient::Recipient;
use crate::reply::{Answer, Reply};
use crate::signal::{LinkChange, Signal};
use crate::stream::Feeds;
use crate::traits::{Actor, MessageTo, Receive, SendActor};
use crate::waiting;

/// An actor's view of itself: its address, and what it can ask of the runtime.
#[doc(alias = "ActorContext")]
pub struct Context<A: Actor> {
    this: WeakAddr<A>,
    /// `None` until the actor first needs one of these.
    extras: Option<Box<Mutex<ContextExtras<A>>>>,
    /// While an answer is handled: the address that has come with it, until a question takes it.
    lent: Option<Cown<Cell<A>>>,
}

/// What few actors need: pending operations, the stash, streams, timeouts.
struct ContextExtras<A: Actor> {
    /// A stop that is pending.
    stop: Option<ExitReason>,
    /// Futures that are to hold the actor.
    holds: VecDeque<Caught<HoldRequest<A>>>,
    stash: Stash,
    feeds: Feeds,
    timeouts: Timeouts<A>,
    /// Which of the actor's states this belongs to.
    life: u32,
    /// What ends with that state.
    begun: BegunByState,
    /// Told that the runtime is about to end; returns whether the actor ends by itself.
    on_runtime_end: Option<Box<dyn Fn() -> bool + Send>>,
    outbox: Outbox,
}

/// The extras of a context that is gone; what belongs to the state ends when this is dropped.
pub(crate) struct TakenExtras<A: Actor>(Box<Mutex<ContextExtras<A>>>);

impl<A: Actor> TakenExtras<A> {
    /// Takes the stash.
    pub(crate) fn take_stash(&mut self) -> Envelopes {
        self.0.get_mut().stash.take()
    }
}

/// What an actor does with the answer to a question.
struct OnAnswer<A, F> {
    /// Which of its states has asked.
    life: u32,
    then: F,
    by: PhantomData<fn(A)>,
}

impl<A, R, F> Continuation<Answer<R>> for OnAnswer<A, F>
where
    A: Actor,
    R: Send + 'static,
    F: FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
{
    type State = Cell<A>;

    #[inline(always)]
    fn run(self, held: Held<'_, Cell<A>>, answer: Result<Answer<R>, Broken>) {
        let (cell, own) = held.into_parts();
        cell.call_with(Addr::new(own), self.life, |actor, context| {
            (self.then)(actor, flatten(answer), context);
        });
    }

    fn spawn(self, own: Cown<Cell<A>>, answer: Result<Answer<R>, Broken>) {
        Addr::new(own).call_by_value(self.life, move |actor, context| {
            (self.then)(actor, flatten(answer), context);
        });
    }
}

impl<A: Actor> Default for ContextExtras<A> {
    fn default() -> Self {
        Self {
            stop: None,
            holds: VecDeque::new(),
            stash: Stash::default(),
            feeds: Feeds::default(),
            timeouts: Timeouts::default(),
            life: 0,
            begun: BegunByState::default(),
            on_runtime_end: None,
            outbox: Outbox::default(),
        }
    }
}

impl<A: Actor> Context<A> {
    /// The context of the actor's `life`th state, from 0.
    pub(crate) fn new(this: WeakAddr<A>, life: u32) -> Self {
        let extras = (life > 0)
            .then(|| Box::new(Mutex::new(ContextExtras { life, ..ContextExtras::default() })));
        Self { this, extras, lent: None }
    }

    pub(crate) fn this(&self) -> &WeakAddr<A> {
        &self.this
    }

    /// The address and the extras.
    pub(crate) fn into_parts(self) -> (WeakAddr<A>, Option<TakenExtras<A>>) {
        (self.this, self.extras.map(TakenExtras))
    }

    /// Lends an address to the next question.
    #[inline]
    pub(crate) fn lend(&mut self, own: Addr<A>) {
        let before = self.lent.replace(own.into_cown());
        debug_assert!(before.is_none(), "one answer is handled at a time");
        // There is nothing to be dropped.
        forget(before);
    }

    /// The address that was lent, unless a question has taken it.
    #[inline]
    pub(crate) fn take_lent(&mut self) -> Option<Addr<A>> {
        self.lent.take().map(Addr::new)
    }

    /// The number of the state that this belongs to; what was begun for another state is void.
    pub(crate) fn life(&mut self) -> u32 {
        self.extras.as_mut().map_or(0, |extras| extras.get_mut().life)
    }

    /// What ends with the state.
    pub(crate) fn begun(&mut self) -> &Arc<Begun> {
        self.extras().begun.get()
    }

    /// The actor's address.
    pub fn address(&self) -> Addr<A> {
        self.this.upgrade().expect("a running actor has an address, or was given one for its end")
    }

    /// The actor's address, without keeping it alive.
    pub fn weak(&self) -> WeakAddr<A> {
        self.this.clone()
    }

    /// The actor's identity.
    pub fn id(&self) -> ActorId {
        self.this.id()
    }

    /// Stops the actor after the current message, with [`ExitReason::Normal`].
    pub fn stop(&mut self) {
        self.stop_with(ExitReason::Normal);
    }

    /// Stops the actor after the current message.
    pub fn stop_with(&mut self, reason: ExitReason) {
        self.request(|extras| {
            extras.stop.get_or_insert(reason);
        });
    }

    /// Asks another actor, and has the answer brought back to this one, as a message is: the closure
    /// gets the actor when it has its turn. Meanwhile the actor takes other messages, so this can
    /// never deadlock. If this actor ends or is restarted first, the closure is not called. It is dropped when the other
    /// one answers, or drops the [`Reply`]; and an answer that is on its way keeps this actor alive. For a limit, use
    /// [`ask_timeout`](Self::ask_timeout).
    ///
    /// **Cost.** That of a message there and one back.
    pub fn ask<B, M, F>(&mut self, of: &Addr<B>, message: M, then: F)
    where
        B: Actor,
        M: MessageTo<B>,
        F: FnOnce(&mut A, Result<M::Reply, AskError>, &mut Context<A>) + Send + 'static,
    {
        let on_answer = OnAnswer { life: self.life(), then, by: PhantomData };
        let own = self.take_lent().unwrap_or_else(|| self.address());
        let resolver = Resolver::spawning(own.into_cown(), on_answer);
        // A message that is not delivered fails its reply, which tells the closure.
        drop(of.send_with_resolver(message, Some(resolver)));
    }

    /// Has the answer of an ask brought to this actor: as [`ask`](Self::ask).
    pub fn on_answer<R, F>(&mut self, ask: Ask<R>, then: F)
    where
        R: Send + 'static,
        F: FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
    {
        let (inside, life) = (Inside(self.address()), self.life());
        drop(ask.then(&inside, move |cell, answer| {
            cell.call_in(life, |actor, context| then(actor, answer, context));
        }));
    }

    /// As [`ask`](Self::ask), with a limit: after `timeout` the closure gets
    /// [`AskError::Timeout`], and a later answer is dropped.
    pub fn ask_timeout<B, M, F>(&mut self, of: &Addr<B>, message: M, timeout: Duration, then: F)
    where
        B: Actor,
        M: MessageTo<B>,
        F: FnOnce(&mut A, Result<M::Reply, AskError>, &mut Context<A>) + Send + 'static,
    {
        self.on_answer(of.ask(message).timeout(timeout), then);
    }

    /// Asks another actor, and lets **messages and behaviours wait**, after the current handler, until
    /// the answer has been handled: the actor goes on as if it had never been away. No worker waits.
    ///
    /// Several of them stack up: they are asked and handled one after the other, each once, and those
    /// that a closure asks for come before any message. If the mailbox is bounded and lets senders
    /// [wait](crate::mailbox::Mailbox::wait), this waits for room, too. A question whose answer (or room) needs this actor
    /// in turn fails ([`AskError::Cycle`]), unless an answer on the way is given by hand: whoever has a
    /// [`Reply`](crate::actor::Reply) may answer at any time, so what waits for one is never told that it waits for ever. That
    /// ends with the timeout; there is no form without one, since an actor that never answers would hold this one
    /// for ever.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message, spawn};
    /// use coact::actor::AskError;
    /// use std::time::Duration;
    ///
    /// struct Clock(u64);
    /// impl Actor for Clock {}
    ///
    /// struct Now;
    /// impl Message for Now { type Reply = u64; }
    /// impl Handler<Now> for Clock {
    ///     fn handle(&mut self, _: Now, _: &mut Context<Self>) -> u64 { self.0 }
    /// }
    ///
    /// struct Log { clock: coact::Addr<Clock>, at: Option<u64> }
    /// impl Actor for Log {
    ///     fn started(&mut self, context: &mut Context<Self>) {
    ///         let second = Duration::from_secs(1);
    ///         context.ask_await(&self.clock, Now, second, |log, now, _| log.at = now.ok());
    ///     }
    /// }
    ///
    /// let log = spawn(Log { clock: spawn(Clock(7)), at: None });
    /// // Nobody sees a log without its time.
    /// assert_eq!(coact::ask(&log, |log| log.at).wait(), Ok(Some(7)));
    /// ```
    pub fn ask_await<B, M, F>(&mut self, of: &Addr<B>, message: M, timeout: Duration, then: F)
    where
        A: Send,
        B: Actor,
        M: MessageTo<B>,
        F: FnOnce(&mut A, Result<M::Reply, AskError>, &mut Context<A>) + Send + 'static,
    {
        let of = of.clone();
        // Asked by the future that holds the actor: so circles are found.
        self.hold(Reply::unwanted(), move |actor, context| {
            Box::pin(async move {
                let answer = if of.makes_senders_wait::<M>() {
                    waiting::ask_within(of.recipient(), message, timeout).await
                } else {
                    of.ask(message).timeout(timeout).await
                };
                then(actor, answer, context);
            })
        });
    }

    /// Sends a message when there is room for it: if a bounded mailbox is full and its policy is to
    /// [wait](crate::mailbox::Mailbox::wait), the message waits, beside this actor, which goes on with others. So this
    /// can never deadlock. `then` gets the outcome as a message; a message that was not sent comes back with it.
    ///
    /// Messages that are sent so to one recipient arrive in the order of these calls, and so do their outcomes; one that is
    /// [sent](Addr::send) otherwise may come before those that wait. What is handed over is sent whatever
    /// becomes of this actor. **There is no limit to what waits here**: an actor that is to slow down with its
    /// recipient uses [`send_await`](Self::send_await).
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Addr, Context, Handler, Message, spawn};
    /// use coact::actor::actor;
    /// use coact::mailbox::Mailbox;
    ///
    /// struct Disk(u32);
    /// impl Actor for Disk {}
    /// struct Write;
    /// impl Message for Write { type Reply = (); }
    /// impl Handler<Write> for Disk {
    ///     fn handle(&mut self, _: Write, _: &mut Context<Self>) { self.0 += 1 }
    /// }
    ///
    /// struct Editor { disk: Addr<Disk>, saved: u32 }
    /// impl Actor for Editor {
    ///     fn started(&mut self, context: &mut Context<Self>) {
    ///         for _ in 0..10 {
    ///             context.send_when_room(&self.disk, Write, |editor, sent, context| {
    ///                 editor.saved += u32::from(sent.is_ok());
    ///                 if editor.saved == 10 { context.stop() }
    ///             });
    ///         }
    ///     }
    /// }
    ///
    /// let disk = actor(Disk(0)).mailbox(Mailbox::bounded(1)).spawn();
    /// spawn(Editor { disk: disk.clone(), saved: 0 }).ended().wait()?;
    /// assert_eq!(coact::ask(&disk, |disk| disk.0).wait()?, 10);
    /// # Ok::<(), coact::Broken>(())
    /// ```
    pub fn send_when_room<M, F>(&mut self, to: impl Into<Recipient<M>>, message: M, then: F)
    where
        M: Message,
        F: FnOnce(&mut A, Result<(), SendError<M>>, &mut Context<A>) + Send + 'static,
    {
        let to = to.into();
        let (resolver, sent) = Promise::channel();
        let job = |to: Recipient<M>| async move { resolver.resolve(to.send_async(message).await) };
        self.extras().outbox.add(to.id(), job(to));
        // Spawned where the promise is kept: so the outcomes come in the order of the messages.
        let (inside, life) = (Inside(self.address()), self.life());
        drop(sent.then(&inside, move |cell, sent| {
            if let Ok(sent) = sent {
                cell.call_in(life, |actor, context| then(actor, sent, context));
            }
        }));
    }

    /// Asks when there is room for the message: as [`send_when_room`](Self::send_when_room). `then` gets the
    /// answer, as with [`ask`](Self::ask).
    pub fn ask_when_room<M, F>(&mut self, of: impl Into<Recipient<M>>, message: M, then: F)
    where
        M: Message,
        F: FnOnce(&mut A, Result<M::Reply, AskError>, &mut Context<A>) + Send + 'static,
    {
        let of = of.into();
        let (resolver, asked) = Promise::channel();
        let job = |of: Recipient<M>| async move {
            resolver.resolve(waiting::begin_ask(of, message, None).await);
        };
        self.extras().outbox.add(of.id(), job(of));
        let answer = async move {
            match asked.await {
                Ok(Ok(ask)) => ask.await,
                Ok(Err(why)) => Err(why),
                Err(_) => Err(AskError::Cancelled),
            }
        };
        self.spawn(answer, then);
    }

    /// Sends a message when there is room for it, and lets **messages and behaviours wait**, after the current
    /// handler, until it is sent, as [`ask_await`](Self::ask_await) does for an answer: so an actor slows down
    /// with those that it sends to. After the timeout the message comes back as [`SendError::Full`].
    ///
    /// If there can only be room after this actor has gone on (two actors with full mailboxes that send to
    /// each other), it comes back with the circle: [`SendError::Cycle`].
    pub fn send_await<M, F>(
        &mut self,
        to: impl Into<Recipient<M>>,
        message: M,
        timeout: Duration,
        then: F,
    ) where
        A: Send,
        M: Message,
        F: FnOnce(&mut A, Result<(), SendError<M>>, &mut Context<A>) + Send + 'static,
    {
        let to = to.into();
        self.hold(Reply::unwanted(), move |actor, context| {
            Box::pin(async move {
                let sent = waiting::send_within(to, message, Some(timeout)).await;
                then(actor, sent, context);
            })
        });
    }

    /// Runs a future beside the actor, which goes on with other messages; its output is the answer.
    /// The future borrows nothing of the actor's, and belongs to the asker: it goes on when the actor
    /// restarts or ends.
    pub fn detach<R, F>(&mut self, reply: Reply<R>, future: F)
    where
        R: Send + 'static,
        F: Future<Output = R> + Send + 'static,
    {
        drop(spawn_future(async move { reply.send(future.await) }));
    }

    /// Runs a future beside the actor, and brings its output back, as a message is: the closure gets
    /// the actor when it has its turn. If the future panics, the closure is dropped. If this actor ends or
    /// is restarted first, so are both.
    #[doc(alias = "pipeToSelf")]
    #[doc(alias = "pipe_to_self")]
    pub fn spawn<R, F, T>(&mut self, future: F, then: T)
    where
        R: Send + 'static,
        F: Future<Output = R> + Send + 'static,
        T: FnOnce(&mut A, R, &mut Context<A>) + Send + 'static,
    {
        let (inside, life) = (Inside(self.address()), self.life());
        let future = self.begun().future(future);
        drop(spawn_future(future).then(&inside, move |cell, output| {
            if let Ok(Some(output)) = output {
                cell.call_in(life, |actor, context| then(actor, output, context));
            }
        }));
    }

    /// Holds the actor, after the current handler, until a future has ended; its output is the
    /// answer. The future may use the actor's state all the while. **Messages and behaviours wait.**
    /// An ask of an actor in it whose answer needs this actor in turn fails, with the circle:
    /// [`AskError::Cycle`]; see [`ask`](Self::ask) for the form that needs not wait.
    ///
    /// The promise of a behaviour on cowns is no such ask, and not looked at: do not await one on a cown that
    /// behaviours name together with this actor, since one of them may have the cown and wait for the
    /// actor. Spawn a behaviour over both instead.
    ///
    /// Signals do not wait: a stop, a kill or a restart drops the future at its await.
    ///
    /// The future is [`Send`], so an actor that is to be held must be, too.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Message, spawn};
    /// use coact::actor::{Receive, Reply};
    ///
    /// struct Counter(u32);
    /// impl Actor for Counter {}
    ///
    /// struct Tick;
    /// impl Message for Tick { type Reply = u32; }
    ///
    /// impl Receive<Tick> for Counter {
    ///     fn receive(&mut self, _: Tick, reply: Reply<u32>, context: &mut Context<Self>) {
    ///         context.hold(reply, |counter, _| Box::pin(async move {
    ///             coact::time::sleep(std::time::Duration::from_millis(1)).await.ok();
    ///             counter.0 += 1;
    ///             counter.0
    ///         }));
    ///     }
    /// }
    ///
    /// assert_eq!(spawn(Counter(41)).ask(Tick).wait(), Ok(42));
    /// ```
    pub fn hold<R, F>(&mut self, reply: Reply<R>, body: F)
    where
        A: Send,
        R: Send + 'static,
        F: for<'a> FnOnce(&'a mut A, &'a mut Context<A>) -> HeldFuture<'a, R> + Send + 'static,
    {
        reply.held_by(|| self.this.any());
        self.request(|extras| extras.holds.push_back(Caught::new(hold::request(reply, body))));
    }

    /// Links this actor with another one: when either ends for a reason that is not
    /// [normal](ExitReason::is_normal), so does the other, unless it [traps](Self::trap_exits)
    /// exits. Linking with an actor that has ended counts as its end.
    ///
    /// The other one is given by any address of it: `&Addr`, `&WeakAddr`, `&AnyAddr`, `&Supervisor`. The link ends with the
    /// state that has made it: at a restart, too. One that the other actor has made stays.
    pub fn link(&mut self, other: impl Into<AnyAddr>) {
        let (this, other) = (self.this.any(), other.into());
        if this == other {
            return;
        }
        // Ours first: should the other one have ended, its answer finds the link.
        let life = self.life();
        self.signal(Signal::Links(LinkChange::Link { other: other.peer(), by: Some(life) }));
        if other.signal(Signal::Links(LinkChange::Link { other: this.peer(), by: None })).is_err() {
            let reason = other.exit_reason().unwrap_or(ExitReason::NoActor);
            self.signal(Signal::Exit { from: other.id(), reason });
        }
    }

    /// Undoes a [link](Self::link), on both sides, whichever has made it.
    pub fn unlink(&mut self, other: impl Into<AnyAddr>) {
        let other = other.into();
        self.signal(Signal::Links(LinkChange::Unlink(other.id())));
        // An actor that has ended has no links.
        let _ = other.signal(Signal::Links(LinkChange::Unlink(self.id())));
    }

    /// Delivers the ends of linked actors as [`Exited`] messages instead of ending with them, until
    /// [`untrap_exits`](Self::untrap_exits) or a restart.
    #[doc(alias = "process_flag")]
    pub fn trap_exits(&mut self)
    where
        A: Receive<Exited>,
    {
        let (this, life) = (self.weak(), self.life());
        let tell = move |exited| this.notify(life, exited);
        self.signal(Signal::Links(LinkChange::TrapExits { tell: Some(Box::new(tell)), life }));
    }

    /// Undoes [`trap_exits`](Self::trap_exits): the ends of linked actors end this one again.
    pub fn untrap_exits(&mut self) {
        let life = self.life();
        self.signal(Signal::Links(LinkChange::TrapExits { tell: None, life }));
    }

    /// Sends this actor a [`Down`] when another one ends, or at once if it has ended. The other one is given as to
    /// [`link`](Self::link). The monitor ends with this actor, at its restart, or by [`demonitor`](Self::demonitor).
    #[doc(alias = "watch")]
    pub fn monitor(&mut self, other: impl Into<AnyAddr>) -> MonitorId
    where
        A: Receive<Down>,
    {
        let (this, life) = (self.weak(), self.life());
        let (other, id) = (other.into(), MonitorId::next());
        self.begun().monitor(id, |place| {
            other.watch_down(id, move |down| {
                drop(place);
                this.notify(life, down);
            })
        });
        id
    }

    /// Undoes a [`monitor`](Self::monitor) of this actor. A [`Down`] that is on its way still comes.
    pub fn demonitor(&mut self, monitor: MonitorId) {
        self.begun().demonitor(monitor);
    }

    /// Spawns an actor that is [linked](Self::link) with this one.
    pub fn spawn_linked<B: SendActor>(&mut self, child: B) -> Addr<B> {
        let child = crate::spawn(child);
        self.link(&child);
        child
    }

    fn signal(&self, signal: Signal) {
        // The actor runs, so it is there.
        let _ = self.this.signal(signal);
    }

    /// Requests an operation. The interrupt makes it run before the next message.
    fn request(&mut self, note: impl FnOnce(&mut ContextExtras<A>)) {
        note(self.extras());
        self.this.interrupt();
    }

    /// The stash.
    pub(crate) fn stash_mut(&mut self) -> &mut Stash {
        &mut self.extras.get_or_insert_default().get_mut().stash
    }

    pub(crate) fn stash_limit(&self) -> usize {
        self.this.shared().queue().map_or(usize::MAX, |queue| queue.stash)
    }

    /// Takes the messages to unstash, if the running handler has requested that.
    pub(crate) fn take_unstashed(&mut self) -> Option<Envelopes> {
        self.extras.as_mut()?.get_mut().stash.take_wanted()
    }

    /// Takes the stash.
    pub(crate) fn take_stash(&mut self) -> Envelopes {
        self.extras.as_mut().map_or_else(Envelopes::default, |extras| extras.get_mut().stash.take())
    }

    fn extras(&mut self) -> &mut ContextExtras<A> {
        self.extras.get_or_insert_default().get_mut()
    }

    /// The streams that the actor reads.
    pub(crate) fn feeds(&mut self) -> &mut Feeds {
        &mut self.extras().feeds
    }

    /// The timeouts of the actor.
    pub(crate) fn timeouts(&mut self) -> &mut Timeouts<A> {
        &mut self.extras().timeouts
    }

    /// Whether there are no extras.
    pub(crate) fn is_bare(&self) -> bool {
        self.extras.is_none()
    }

    /// Has the end of the runtime left to the actor, if `tell` returns true: then it ends by itself.
    pub(crate) fn on_runtime_end(&mut self, tell: impl Fn() -> bool + Send + 'static) {
        self.extras().on_runtime_end = Some(Box::new(tell));
    }

    /// Tells the actor that its runtime is about to end. Returns whether it ends by itself.
    pub(crate) fn ends_by_itself(&mut self) -> bool {
        let extras = self.extras.as_mut().map(|extras| extras.get_mut());
        extras.and_then(|extras| extras.on_runtime_end.as_ref()).is_some_and(|tell| tell())
    }

    pub(crate) fn take_stop(&mut self) -> Option<ExitReason> {
        self.extras.as_mut()?.get_mut().stop.take()
    }

    /// Whether a stop or a hold is pending, so that messages must wait.
    pub(crate) fn must_pause_messages(&mut self) -> bool {
        let Some(extras) = &mut self.extras else { return false };
        let extras = extras.get_mut();
        extras.stop.is_some() || !extras.holds.is_empty()
    }

    pub(crate) fn take_hold(&mut self) -> Option<HoldRequest<A>> {
        self.extras.as_mut()?.get_mut().holds.pop_front().map(Caught::into_inner)
    }
}

impl<A: Actor> fmt::Debug for Context<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({:?})", self.this)
    }
}

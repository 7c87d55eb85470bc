//! Addresses: how actors are reached.

mod any;
mod own;
mod set;
mod weak;

use std::any::type_name;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use coact_core::behaviour::serve_here;
use coact_core::cown::{AsCown, CownId, Read};
use coact_core::credits::Permit;
use coact_core::internals::{InterruptibleHandle, SendPath};
use coact_core::promise::Resolver;
use coact_core::runtime::{MoveError, RuntimeHandle};
use coact_core::{Cown, when};

use crate::any::AnyAddr;
use crate::ask::Ask;
use crate::cell::Cell;
use crate::context::Context;
use crate::cycle::{self, Wait};
use crate::error::{AskError, SendError};
use crate::exit::ExitReason;
use crate::exit::Stopped;
use crate::id::ActorId;
use crate::in_flight::InFlightToken;
use crate::lifecycle::{refuse_all, refuse_late};
use crate::mailbox::{Envelope, Queue, envelope};
use crate::message::Message;
use crate::monitor::{Down, Monitor, MonitorId, Notify};
use crate::recipient::Recipient;
use crate::reply::{Answer, Reply};
use crate::shared_state::SharedState;
use crate::signal::{LinkChange, Signal};
use crate::traits::{Actor, MessageTo, SyncActor};
use crate::watch::Watch;

pub(crate) use set::Inside;
pub use weak::WeakAddr;

/// The address of an actor: one pointer, cheap to clone, to send from any thread.
///
/// Messages from one sender arrive in the order in which they were sent, and more: the order is
/// causal, and one with that of behaviours. An address is a member of a behaviour's set, where it
/// gives `&mut A`, or, with [`read`](Self::read), `&A`:
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, ask, spawn, when};
///
/// struct Account { balance: i64 }
/// impl Actor for Account {}
///
/// let (a, b) = (spawn(Account { balance: 100 }), spawn(Account { balance: 0 }));
/// when((&a, &b), |(a, b)| {
///     a.balance -= 30;
///     b.balance += 30;
/// });
/// let sum = ask((a.read(), b.read()), |(a, b)| (a.balance, b.balance));
/// assert_eq!(sum.wait(), Ok((70, 30)));
/// ```
///
/// A behaviour that panics fails every actor that it held exclusively, once. One that names an actor
/// that has ended is skipped ([`Broken::Closed`](coact_core::Broken::Closed)).
///
/// When the last address of an actor is dropped, the actor handles the messages that it has
/// (suspended or not), and ends.
#[doc(alias = "ActorRef")]
#[doc(alias = "Pid")]
pub struct Addr<A: Actor> {
    cown: InterruptibleHandle<Cell<A>>,
}

impl<A: Actor> Addr<A> {
    #[inline]
    pub(crate) fn new(cown: Cown<Cell<A>>) -> Self {
        Self { cown: InterruptibleHandle::new(cown) }
    }

    #[inline]
    pub(crate) fn cown(&self) -> &Cown<Cell<A>> {
        &self.cown
    }

    /// The actor's identity.
    pub fn id(&self) -> ActorId {
        self.shared().id()
    }

    /// Spawns a behaviour that takes the address along, and drops it in the end. The work is dropped
    /// if the actor has ended, or has another state by then.
    #[inline]
    pub(crate) fn call_by_value(
        self,
        life: u32,
        work: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    ) {
        let queue = if self.cown().is_plain() { None } else { self.announce_for_long() };
        when(self.into_cown().into_unchecked(), move |held| {
            let (cell, cown) = held.into_parts();
            cell.call_with(Addr::new(cown), life, work);
        });
        if let Some(queue) = queue {
            queue.end_behaviour();
        }
    }

    /// As [`begin_alone`](Self::begin_alone), for an address that is given away before the behaviour is queued: returns the
    /// mailbox, on which the caller must call `end_behaviour`.
    #[cold]
    #[inline(never)]
    fn announce_for_long(&self) -> Option<Arc<Queue>> {
        let queue = self.shared().queue().cloned();
        queue.iter().for_each(|queue| queue.begin_behaviour());
        queue
    }

    /// The cown, with a handle that is dropped unchecked.
    #[inline]
    pub(crate) fn into_cown(self) -> Cown<Cell<A>> {
        self.cown.into_cown()
    }

    /// Sends a message. Returns at once; the actor handles it when its turn has come.
    ///
    /// **Cost.** That of a behaviour on one cown: one block from a pool and one atomic exchange.
    ///
    /// # Errors
    /// The message is given back if the actor has ended, or if its mailbox is bounded and refuses
    /// it. A message that is on its way when the actor ends is dropped, and reported as a dead
    /// letter.
    #[doc(alias = "tell")]
    #[doc(alias = "cast")]
    #[doc(alias = "do_send")]
    #[inline(always)]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn send<M>(&self, message: M) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        match self.cown().send_path() {
            SendPath::Alone(cown) => when(cown, handling(message)),
            SendPath::Grouped(cown) => when(cown, handling(message)),
            SendPath::Slow => return self.send_marked(message),
        }
        Ok(())
    }

    /// As [`send`](Self::send), to an actor that is not as most are.
    #[inline(never)]
    #[cfg_attr(feature = "sim", track_caller)]
    fn send_marked<M>(&self, message: M) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        let cown = self.cown();
        let Some(batch) = cown.shared_state().calls_alone() else {
            return self.send_elsewhere(message, Reply::unwanted());
        };
        serve_here(cown.unchecked(), batch, handling(message));
        Ok(())
    }

    /// Passes a message on, together with the duty to answer it: the answer goes to whoever asked in
    /// the first place.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Addr, Context, Handler, Message, spawn};
    /// use coact::actor::{Receive, Reply};
    ///
    /// struct Double(u32);
    /// impl Message for Double { type Reply = u32; }
    ///
    /// struct Worker;
    /// impl Actor for Worker {}
    /// impl Handler<Double> for Worker {
    ///     fn handle(&mut self, n: Double, _: &mut Context<Self>) -> u32 { n.0 * 2 }
    /// }
    ///
    /// struct Desk(Addr<Worker>);
    /// impl Actor for Desk {}
    /// impl Receive<Double> for Desk {
    ///     fn receive(&mut self, n: Double, reply: Reply<u32>, _: &mut Context<Self>) {
    ///         // Should the worker have ended, the ask fails.
    ///         let _ = self.0.forward(n, reply);
    ///     }
    /// }
    ///
    /// assert_eq!(spawn(Desk(spawn(Worker))).ask(Double(21)).wait(), Ok(42));
    /// ```
    ///
    /// # Errors
    /// As [`send`](Self::send); the reply fails.
    #[doc(alias = "delegate")]
    #[inline]
    pub fn forward<M>(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        reply.forwarded_to(|| (self.any(), self.queue_id()));
        self.send_with_reply(message, reply)
    }

    /// Asks: sends a message, and returns what will be the answer.
    ///
    /// An actor that has ended fails the ask at once, and so does one that ends before it takes the
    /// message.
    ///
    /// **Cost.** As [`send`](Self::send), and a promise.
    #[doc(alias = "call")]
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn ask<M>(&self, message: M) -> Ask<M::Reply>
    where
        M: MessageTo<A>,
    {
        let (reply, ask) = self.question::<M>();
        let sent = self.send_with_reply(message, reply);
        // The message is dropped before there is a result that its destructor's panic would leak.
        if sent.is_err_and(|error| matches!(error, SendError::Full(_))) {
            Ask::failed(AskError::Full)
        } else {
            ask
        }
    }

    /// The two ends of an ask.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub(crate) fn question<M: Message>(&self) -> (Reply<M::Reply>, Ask<M::Reply>) {
        let (reply, promise) = Reply::channel();
        promise.owed_by(|f| {
            write!(f, "the answer of actor `{}` to `{}`", type_name::<A>(), type_name::<M>())
        });
        let ask = Ask::new(promise);
        match cycle::holder() {
            None => (reply, ask),
            Some(holder) => {
                let wait = Wait::new(holder, self.any(), self.queue_id());
                (reply.tracked(&wait), ask.tracked(wait))
            }
        }
    }

    /// Asks; gives the message back if it cannot be delivered. The in-flight token travels with the
    /// message and is dropped with it, handled or not.
    pub(crate) fn ask_with_token<M>(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>)
    where
        M: MessageTo<A>,
    {
        let (reply, ask) = self.question::<M>();
        (ask, self.send_with_token(message, reply, token))
    }

    /// As [`send_with_reply`](Self::send_with_reply), with an in-flight token.
    pub(crate) fn send_with_token<M>(
        &self,
        message: M,
        reply: Reply<M::Reply>,
        token: Option<InFlightToken>,
    ) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        let cown = self.cown();
        let Some(token) = token.filter(|_| cown.is_plain()) else {
            return self.send_with_reply(message, reply);
        };
        if let Some(wait) = reply.wait() {
            self.send_tracked(envelope::<A, M>(message, reply), &wait, None, Some(token));
        } else {
            when(cown.unchecked(), move |cell| {
                let _token = token;
                cell.receive(message, reply);
            });
        }
        Ok(())
    }

    /// Sends a message with its own reply. (One that is passed on is [forwarded](Self::forward).)
    #[inline(always)]
    #[cfg_attr(feature = "sim", track_caller)]
    pub(crate) fn send_with_reply<M>(
        &self,
        message: M,
        reply: Reply<M::Reply>,
    ) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        match reply.into_resolver() {
            Ok(resolver) => self.send_with_resolver(message, resolver),
            Err(reply) => self.send_slowly(message, reply),
        }
    }

    /// Sends a message with what its answer goes to, if to anything.
    #[inline(always)]
    #[cfg_attr(feature = "sim", track_caller)]
    pub(crate) fn send_with_resolver<M>(
        &self,
        message: M,
        resolver: Option<Resolver<Answer<M::Reply>>>,
    ) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        let path = self.cown().send_path();
        if matches!(path, SendPath::Slow) {
            return self.send_slowly(message, Reply::to(resolver));
        }
        let receive = move |cell: &mut Cell<A>| cell.receive_inline(message, Reply::to(resolver));
        match path {
            SendPath::Alone(cown) => when(cown, receive),
            SendPath::Grouped(cown) => when(cown, receive),
            SendPath::Slow => unreachable!("sent above"),
        }
        Ok(())
    }

    /// The same to an actor that is marked, or with a reply that is tracked.
    #[inline(never)]
    #[cfg_attr(feature = "sim", track_caller)]
    fn send_slowly<M>(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        let cown = self.cown();
        if !cown.is_plain() {
            return self.send_elsewhere(message, reply);
        }
        if let Some(wait) = reply.wait() {
            self.send_tracked(envelope::<A, M>(message, reply), &wait, None, None);
        } else {
            when(cown.unchecked(), move |cell| cell.receive(message, reply));
        }
        Ok(())
    }

    /// Sends a message that a held actor waits for, and notes its place in the queue. The message is boxed,
    /// so that one behaviour serves all types of messages. The permit is given back before the message is
    /// handled, the token after that.
    #[cold]
    pub(crate) fn send_tracked(
        &self,
        envelope: Box<dyn Envelope>,
        wait: &Arc<Wait>,
        permit: Option<Permit>,
        token: Option<InFlightToken>,
    ) {
        let hops = wait.hops();
        let cown = self.cown();
        let place = cown.spawn_placed(move |cell| {
            let _token = token;
            drop(permit);
            envelope.deliver(cell);
        });
        wait.sent(hops, place.map(|place| (cown.queue_id(), place)));
    }

    /// The queue that its messages stand in: its own, or that of its group.
    pub(crate) fn queue_id(&self) -> CownId {
        self.cown().queue_id()
    }

    #[cold]
    #[cfg_attr(feature = "sim", track_caller)]
    fn send_elsewhere<M>(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        self.post(None, message, reply)
    }

    /// Messages must not overtake what is about to be queued: for this actor alone, so nothing else can hold it up.
    fn begin_alone(&self) {
        if !self.cown().is_plain() {
            self.announce_elsewhere();
        }
    }

    /// It stands in the queue, or will not.
    fn end_alone(&self) {
        // One with a mailbox of its own is not plain from the beginning.
        if !self.cown().is_plain() {
            self.announced_elsewhere();
        }
    }

    /// Messages must not overtake the behaviour that is about to be queued. Returns whether it may be refused.
    #[cold]
    fn announce_elsewhere(&self) -> bool {
        self.shared().queue().is_some_and(|queue| {
            queue.begin_behaviour();
            queue.bounds_behaviours()
        })
    }

    /// It stands in the queue, or will not.
    #[cold]
    fn announced_elsewhere(&self) {
        if let Some(queue) = self.shared().queue() {
            queue.end_behaviour();
        }
    }

    /// The actor as a member of a set that is held for reading: the closure gets `&A`, and readers
    /// that stand next to each other in the actor's order run in parallel.
    pub fn read(&self) -> Read<'_, A, Self>
    where
        A: SyncActor,
    {
        AsCown::read(self)
    }

    /// Stops the actor after its current message: messages that wait are dropped. A future that
    /// [holds](crate::Context::hold) the actor is dropped at its await.
    ///
    /// # Errors
    /// The actor has ended.
    pub fn stop(&self) -> Result<(), Stopped> {
        self.signal(Signal::Stop(ExitReason::Shutdown))
    }

    /// Stops the actor after all messages that were sent before.
    ///
    /// # Errors
    /// The actor has ended.
    pub fn drain(&self) -> Result<(), Stopped> {
        if self.has_ended() {
            return Err(Stopped);
        }
        self.begin_alone();
        when(self.cown().unchecked(), |cell| {
            cell.call(|_, context| context.stop_with(ExitReason::Shutdown));
        });
        self.end_alone();
        Ok(())
    }

    /// Ends the actor, after its current message, without a farewell: its
    /// [`stopped`](Actor::stopped) is not called.
    ///
    /// # Errors
    /// The actor has ended.
    pub fn kill(&self) -> Result<(), Stopped> {
        self.signal(Signal::Kill(ExitReason::Killed))
    }

    /// Replaces the actor's state by a new one, after its current message. The address stays, and so
    /// do the messages that wait. An actor that was not spawned with a
    /// [way to make its state](crate::actor::Spawn::restartable) ends.
    ///
    /// # Errors
    /// The actor has ended.
    pub fn restart(&self) -> Result<(), Stopped> {
        self.signal(Signal::Restart(ExitReason::Shutdown))
    }

    /// Lets messages and behaviours wait, from the end of the current one on, until the actor is
    /// [resumed](Self::resume). Signals are still processed.
    ///
    /// # Errors
    /// The actor has ended.
    pub fn suspend(&self) -> Result<(), Stopped> {
        self.signal(Signal::Suspend)
    }

    /// Undoes [`suspend`](Self::suspend): messages and behaviours run again.
    ///
    /// # Errors
    /// The actor has ended.
    pub fn resume(&self) -> Result<(), Stopped> {
        self.signal(Signal::Resume)
    }

    /// Calls a closure when the actor ends, whatever the reason; at once if it has ended, but not within this call.
    /// The closure runs on the actor's host, or, if that has ended, wherever it is given up, and must not block.
    /// Closures that come after the end may run in any order.
    pub fn on_down(&self, tell: impl FnOnce(Down) + Send + 'static) -> MonitorId {
        self.monitor(Box::new(tell))
    }

    fn monitor(&self, owner: Box<dyn Notify>) -> MonitorId {
        let id = MonitorId::next();
        self.push_signal(Signal::Links(LinkChange::Monitor(Monitor { id, owner })));
        id
    }

    /// Undoes [`on_down`](Self::on_down): the closure is dropped, unless it is called at this very moment.
    pub fn cancel_on_down(&self, monitor: MonitorId) {
        self.push_signal(Signal::Links(LinkChange::Demonitor(monitor)));
    }

    /// Calls a closure at the actor's end, or at once if it has ended, unless the watch is dropped first.
    pub(crate) fn watch(&self, tell: impl FnOnce() + Send + 'static) -> Watch {
        Watch::new(self.any(), self.on_down(move |_| tell()))
    }

    /// Whether the actor has ended. Others may end it any time; that it has ended stays true.
    pub fn has_ended(&self) -> bool {
        self.cown().is_closed()
    }

    /// Why the actor has ended, if it has.
    pub fn exit_reason(&self) -> Option<ExitReason> {
        self.shared().end().cloned()
    }

    /// Waits for the actor's end; the promise brings the reason. One that is dropped costs the actor nothing
    /// in the long run: some of those are forgotten with each that comes.
    ///
    /// The address keeps the actor alive: `spawn(state).ended().wait()` keeps its one until the end of the statement, and so
    /// waits for an actor that ends by itself, not for one that would end with its last address.
    ///
    /// When it is kept, all messages that were sent before the actor had ended, and that it has not handled, are
    /// [counted](Self::dead_letters). (A call of `send` that the end overtakes may add one later.) Not so if
    /// behaviours over the actor were ever spawned, or if it is in a group: other cowns may hold up the messages then,
    /// which are counted when they come, and the end does not wait for them. So it is with all that tells of ends:
    /// [`on_down`](Self::on_down), monitors and links.
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn ended(&self) -> coact_core::Promise<ExitReason> {
        let (resolver, promise) = coact_core::Promise::channel();
        promise.owed_by(|f| write!(f, "the end of actor `{}`", type_name::<A>()));
        self.monitor(Box::new(resolver));
        promise
    }

    /// The runtime that the actor belongs to.
    pub fn runtime(&self) -> RuntimeHandle {
        self.cown().runtime()
    }

    /// Moves the actor to another runtime, a [dispatcher](crate::system::dispatcher) for instance, while it runs.
    /// What was sent before this is handled where it would have been, what is sent after it there; the
    /// order stays, and nothing is lost. A restart does not change the place.
    ///
    /// An actor on its [callers](crate::system::Host::caller) is not that any more; one that is
    /// [detached](crate::system::Host::detached) keeps its thread, unused, until its end. One that is held or
    /// suspended is moved when its messages go on. Moving an actor that has ended does nothing.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message};
    /// use coact::system::System;
    /// use std::thread;
    ///
    /// struct Worker;
    /// impl Actor for Worker {}
    ///
    /// struct WhereAreYou;
    /// impl Message for WhereAreYou { type Reply = Option<String>; }
    /// impl Handler<WhereAreYou> for Worker {
    ///     fn handle(&mut self, _: WhereAreYou, _: &mut Context<Self>) -> Option<String> {
    ///         thread::current().name().map(str::to_owned)
    ///     }
    /// }
    ///
    /// let system = System::builder().workers(1).dispatcher("io", |d| d.workers(1)).build()?;
    /// let worker = system.spawn(Worker);
    /// worker.move_to(system.dispatcher("io")?)?;
    /// assert_eq!(worker.ask(WhereAreYou).wait()?.as_deref(), Some("io-0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The actors of a [`Pump`](coact_core::runtime::Pump) stay with it, and no other comes to it.
    pub fn move_to(&self, home: RuntimeHandle) -> Result<(), MoveError> {
        home.take_in(&Inside(self.clone()))?;
        self.shared().set_caller_batch(None);
        Ok(())
    }

    /// From now on senders handle their messages themselves, and up to `batch` others.
    pub(crate) fn run_on_callers(&self, batch: u32) {
        self.shared().set_caller_batch(Some(batch));
        self.cown().mark(true);
    }

    /// The part of the actor that is visible to all its addresses.
    #[inline]
    pub(crate) fn shared(&self) -> &SharedState {
        self.cown().shared_state()
    }

    /// An address that does not keep the actor alive.
    pub fn downgrade(&self) -> WeakAddr<A> {
        WeakAddr::new(self.cown().downgrade())
    }

    /// The address without the actor's type, for links and lists.
    pub fn any(&self) -> AnyAddr {
        AnyAddr::new(self.downgrade())
    }

    /// The address for one kind of message, whatever the actor.
    pub fn recipient<M>(&self) -> Recipient<M>
    where
        M: MessageTo<A>,
    {
        Recipient::new(self.clone())
    }

    /// Brings the actor a message that no bound of its mailbox refuses: one that is bounded already.
    /// `then` is dropped when the message has been handled, or is dropped itself.
    pub(crate) fn deliver<M>(&self, message: M, then: impl Send + 'static)
    where
        M: MessageTo<A>,
    {
        when(self.cown().unchecked(), move |cell| {
            let _then = then;
            cell.receive(message, Reply::unwanted());
        });
    }

    /// Sends the actor a notification that its mailbox neither refuses nor drops nor reorders. It is dropped if
    /// the actor has another state by then.
    fn notify<M>(&self, life: u32, news: M)
    where
        M: MessageTo<A>,
    {
        self.begin_alone();
        when(self.cown().unchecked(), move |cell| {
            cell.receive_in(|context| context.life() == life, news);
        });
        self.end_alone();
    }

    /// As [`deliver`](Self::deliver), unless the actor does not want it any more by then.
    pub(crate) fn deliver_if<M>(
        &self,
        is_wanted: impl FnOnce(&mut Context<A>) -> bool + Send + 'static,
        message: M,
        then: impl Send + 'static,
    ) where
        M: MessageTo<A>,
    {
        when(self.cown().unchecked(), move |cell| {
            let _then = then;
            cell.receive_in(is_wanted, message);
        });
    }

    /// Has something called with the actor; it is dropped if the actor has ended by then.
    pub(crate) fn call(&self, work: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static) {
        when(self.cown().unchecked(), |cell| cell.call(work));
    }

    /// As [`call`](Self::call), without counting a turn: see [`Cell::inspect`].
    pub(crate) fn inspect(
        &self,
        inspect: impl FnOnce(&mut A, &mut Context<A>, u32) + Send + 'static,
    ) {
        when(self.cown().unchecked(), |cell| cell.inspect(inspect));
    }

    fn signal(&self, signal: Signal) -> Result<(), Stopped> {
        if self.has_ended() {
            return Err(Stopped);
        }
        self.push_signal(signal);
        Ok(())
    }

    /// As [`drain`](Self::drain), for one run of a supervised actor: not for those that follow.
    pub(crate) fn drain_run(&self, run: u64) {
        when(self.cown().unchecked(), move |cell| cell.drain_run(run));
    }

    /// Pushes a signal ahead of those that wait.
    pub(crate) fn push_signal_first(&self, signal: Signal) {
        self.shared().push_signal_first(signal);
        self.cown().interrupt();
    }

    /// Pushes a signal, which is answered even if the actor has ended.
    pub(crate) fn push_signal(&self, signal: Signal) {
        let shared = self.shared();
        if shared.push_signal(signal) {
            return self.cown().interrupt();
        }
        if self.runtime().is_cancelled() {
            // Nothing interrupts an actor whose pump is gone.
            refuse_all(shared);
        } else {
            refuse_late(self);
        }
    }
}

/// Handles a message that was sent.
#[inline(always)]
fn handling<A: Actor, M: MessageTo<A>>(
    message: M,
) -> impl for<'a> FnOnce(&'a mut Cell<A>) + Send + 'static {
    move |cell| cell.receive_sent(message)
}

/// The last address is gone: the actor ends after the messages that wait.
#[cold]
#[inline(never)]
pub(crate) fn end_unreachable<A: Actor>(last: Cown<Cell<A>>) {
    if last.is_closed() {
        return;
    }
    if last.shared_state().is_suspended() {
        // No address is left to resume it.
        let _ = last.shared_state().push_signal(Signal::Resume);
        last.interrupt();
    }
    // Unless there is an address again by then: the actor can make one, and a weak address can be upgraded.
    last.spawn_last_handle_check();
}

impl<A: Actor> Clone for Addr<A> {
    #[inline]
    fn clone(&self) -> Self {
        Self { cown: self.cown.clone() }
    }
}

impl<A: Actor> PartialEq for Addr<A> {
    fn eq(&self, other: &Self) -> bool {
        self.cown() == other.cown()
    }
}

impl<A: Actor> Eq for Addr<A> {}

impl<A: Actor> Hash for Addr<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.cown().hash(state);
    }
}

impl<A: Actor> fmt::Debug for Addr<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Addr<{}>({})", std::any::type_name::<A>(), self.id())
    }
}

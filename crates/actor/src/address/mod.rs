//! Addresses: how actors are reached.

mod cell_behaviours;
mod configured_send;
mod control;
mod delivery;
mod in_cown_set;
mod lane_ticket;
mod monitors;
mod room;
mod typed_envelope;

use std::any::type_name;
use std::sync::Arc;

use coact_core::cown::{AsCown, Read};
use coact_core::internals::{SendPath, owed_by};
use coact_core::promise::Resolver;
use coact_core::when;

use crate::ask::Ask;
use crate::cell::receive::drop_unhandled;
use crate::cycle::{self, AskWait};
use crate::handler::{MessageTo, SyncActor};
use crate::in_flight::InFlightToken;
use crate::message::Message;
use crate::parts::{Actor, ActorCell, Addr, WeakAddr};
use crate::reply::{AskResult, Reply};
use crate::send_error::{AskError, SendError};

use delivery::Delivery;
pub(crate) use in_cown_set::WholeCell;
pub(crate) use typed_envelope::envelope;

impl<A: Actor> Addr<A> {
    /// Sends a message. Returns at once; the actor handles it when its turn comes.
    ///
    /// **Cost.** That of a behaviour on one cown: one block from a pool and one atomic exchange.
    ///
    /// # Errors
    /// Returns the message if the actor has ended, or if its mailbox is bounded and refuses it. A
    /// message still in transit when the actor ends is dropped, and reported as a dead letter.
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

    /// Sends like [`send`](Self::send), to an actor with special settings.
    #[inline(never)]
    #[cfg_attr(feature = "sim", track_caller)]
    fn send_marked<M>(&self, message: M) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        let Some(batch) = self.shared().calls_alone() else {
            return self.send_elsewhere(message, Reply::unwanted());
        };
        self.cown().serve_unchecked(batch, handling(message));
        Ok(())
    }

    /// Passes a message on, together with the duty to answer it: the answer goes to the original
    /// asker.
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
    ///         // If the worker has ended, the ask fails.
    ///         let _ = self.0.forward(n, reply);
    ///     }
    /// }
    ///
    /// assert_eq!(spawn(Desk(spawn(Worker))).ask(Double(21)).wait(), Ok(42));
    /// ```
    ///
    /// # Errors
    /// Fails like [`send`](Self::send); the reply fails as well.
    #[doc(alias = "delegate")]
    #[inline]
    pub fn forward<M>(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        reply.forwarded_to(|| (self.to_any(), self.queue_id()));
        self.send_with_reply(message, reply)
    }

    /// Asks: sends a message, and returns its future answer.
    ///
    /// The ask fails at once if the actor has ended, or if it ends before it takes up the message.
    ///
    /// It never waits for room: if the mailbox is full, the ask fails with [`AskError::Full`] and
    /// drops the message. With the policy to [wait](crate::mailbox::Mailbox::wait),
    /// [`ask_async`](Self::ask_async) waits for room, and so does
    /// [`send_blocking`](Self::send_blocking), which returns no answer.
    ///
    /// [`Ask::timeout`] limits the wait for the answer. `ask_async` has no limit of its own: on a
    /// plain thread, write `spawn_future(addr.ask_async(m)).wait_timeout(limit)`; in a future, race
    /// it with [`sleep`](coact_core::time::sleep); in a handler, use
    /// [`Context::ask_await`](crate::Context::ask_await).
    ///
    /// **Cost.** That of [`send`](Self::send), and a promise.
    #[doc(alias = "call")]
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn ask<M>(&self, message: M) -> Ask<M::Reply>
    where
        M: MessageTo<A>,
    {
        let (reply, ask) = self.question::<M>();
        match self.send_with_reply(message, reply) {
            Ok(()) => ask,
            Err(refused) => Self::drop_refused(refused, ask),
        }
    }

    /// Drops the message of an ask that was refused.
    #[cold]
    fn drop_refused<M: Message>(refused: SendError<M>, ask: Ask<M::Reply>) -> Ask<M::Reply> {
        let is_full = matches!(refused, SendError::Full(_));
        drop_unhandled(refused);
        if is_full { Ask::failed(AskError::Full) } else { ask }
    }

    /// The two ends of an ask.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub(crate) fn question<M: Message>(&self) -> (Reply<M::Reply>, Ask<M::Reply>) {
        let (reply, promise) = Reply::channel();
        owed_by(&promise, |f| {
            write!(f, "the answer of actor `{}` to `{}`", type_name::<A>(), type_name::<M>())
        });
        let ask = Ask::new(promise);
        match cycle::held_actor() {
            None => (reply, ask),
            Some(held_actor) => {
                let wait = AskWait::new(held_actor, self.to_any(), self.queue_id());
                (reply.tracked(&wait), ask.tracked(wait))
            }
        }
    }

    /// Asks; returns the message if it cannot be delivered. The in-flight token travels with the
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

    /// Sends like [`send_with_reply`](Self::send_with_reply), with an in-flight token.
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
            let envelope = envelope::<A, M>(message, reply);
            self.send_tracked::<M>(
                Delivery::Message { envelope, permit: None, token: Some(token) },
                &wait,
            );
        } else {
            when(cown.unchecked(), move |cell| {
                let _token = token;
                cell.receive(message, reply);
            });
        }
        Ok(())
    }

    /// Sends a message with its own reply. (A message that is passed on is
    /// [forwarded](Self::forward).)
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

    /// Sends a message whose answer goes to the resolver, if there is one.
    #[inline(always)]
    #[cfg_attr(feature = "sim", track_caller)]
    pub(crate) fn send_with_resolver<M>(
        &self,
        message: M,
        resolver: Option<Resolver<AskResult<M::Reply>>>,
    ) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        match self.cown().send_path() {
            SendPath::Alone(cown) => when(cown, Self::handling_asked(message, resolver)),
            SendPath::Grouped(cown) => when(cown, Self::handling_asked(message, resolver)),
            SendPath::Slow => return self.send_slowly(message, Reply::to(resolver)),
        }
        Ok(())
    }

    /// Sends to an actor that is not plain, or with a reply that is tracked.
    #[inline(never)]
    #[cfg_attr(feature = "sim", track_caller)]
    fn send_slowly<M>(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        if !self.cown().is_plain() {
            return self.send_elsewhere(message, reply);
        }
        let wait = reply.wait();
        let envelope = envelope::<A, M>(message, reply);
        let delivery = Delivery::Message { envelope, permit: None, token: None };
        match wait {
            Some(wait) => self.send_tracked::<M>(delivery, &wait),
            None => _ = self.queue_delivery::<M>(delivery),
        }
        Ok(())
    }

    /// Sends a message of type `M` for which a held actor waits, and notes its place in the queue.
    #[cold]
    #[cfg_attr(feature = "sim", track_caller)]
    fn send_tracked<M>(&self, delivery: Delivery, wait: &Arc<AskWait>) {
        let hops = wait.hops();
        let place = self.queue_delivery::<M>(delivery);
        wait.sent(hops, place.map(|place| (self.queue_id(), place)));
    }

    #[cold]
    #[cfg_attr(feature = "sim", track_caller)]
    fn send_elsewhere<M>(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        self.post(None, message, reply)
    }

    /// Makes the actor a member of a set that is held for reading: the closure receives `&A`, and
    /// readers that are adjacent in the actor's order run in parallel.
    pub fn read(&self) -> Read<'_, A, Self>
    where
        A: SyncActor,
    {
        AsCown::read(self)
    }

    /// Handles a message that was asked. If it is dropped unhandled, so is the resolver, and the
    /// ask is cancelled.
    #[inline(always)]
    fn handling_asked<M: MessageTo<A>>(
        message: M,
        resolver: Option<Resolver<AskResult<M::Reply>>>,
    ) -> impl for<'a> FnOnce(&'a mut ActorCell<A>) + Send + 'static {
        move |cell| cell.receive_inline(message, Reply::to(resolver))
    }
}

impl<A: Actor> WeakAddr<A> {
    /// Sends a message: see [`Addr::send`].
    ///
    /// # Errors
    /// See [`Addr::send`]; an actor whose last address is gone counts as ended.
    pub fn send<M>(&self, message: M) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        match self.upgrade() {
            Some(address) => address.send(message),
            None => Err(SendError::Stopped(message)),
        }
    }
}

/// Handles a message that was sent.
#[inline(always)]
fn handling<A: Actor, M: MessageTo<A>>(
    message: M,
) -> impl for<'a> FnOnce(&'a mut ActorCell<A>) + Send + 'static {
    move |cell| cell.receive_sent(message)
}

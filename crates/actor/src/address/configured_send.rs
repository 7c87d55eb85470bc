//! Sending to actors whose mailbox has settings.

use std::any::{TypeId, type_name};
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use coact_core::credits::Permit;
use coact_core::internals::{QueuePosition, acquire_one_for, credits_owed_by};
use coact_core::when;

use super::Addr;
use super::delivery::Delivery;
use super::lane_ticket::LaneTicket;
use super::room::RoomWait;
use super::typed_envelope::envelope;
use crate::ask::Ask;
use crate::cell::receive::drop_unhandled;
use crate::cycle::{AskCycle, AskWait};
use crate::exit::ExitReason;
use crate::handler::MessageTo;
use crate::mailbox::{
    AddOutcome, Admission, AdmissionControl, MailboxView, QueuedMessage, SharedMailbox,
    drop_for_room,
};
use crate::message::Message;
use crate::parts::{Actor, ActorCell};
use crate::reply::Reply;
use crate::send_error::{AskError, SendError};

/// A message to be put into a mailbox, with the room that it takes up.
type AdmittedMessage<M> = (Option<Permit>, M, Reply<<M as Message>::Reply>);

/// Names the wait of a sender at a full mailbox.
fn room_of<A>(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "room in the mailbox of actor `{}`", type_name::<A>())
}

impl<A: Actor> Addr<A> {
    /// Sends a message into a lane of the actor's mailbox, whatever lane its type is
    /// [assigned](crate::mailbox::Mailbox::assign) to. A lane that the mailbox does not have means
    /// its last one.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message};
    /// use coact::actor::actor;
    /// use coact::mailbox::Mailbox;
    ///
    /// #[derive(Default)]
    /// struct Clerk(Vec<u32>);
    /// impl Actor for Clerk {}
    ///
    /// struct Case(u32);
    /// impl Message for Case { type Reply = (); }
    /// impl Handler<Case> for Clerk {
    ///     fn handle(&mut self, case: Case, _: &mut Context<Self>) { self.0.push(case.0) }
    /// }
    ///
    /// let clerk = actor(Clerk::default()).mailbox(Mailbox::lanes(2)).spawn();
    /// clerk.suspend()?;
    /// clerk.send(Case(1))?;
    /// clerk.send_in(0, Case(2))?;
    /// clerk.resume()?;
    /// assert_eq!(coact::call(&clerk, |clerk| clerk.0.clone()).wait()?, [2, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails like [`send`](Self::send).
    pub fn send_in<M>(&self, lane: usize, message: M) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        self.post(Some(lane), message, Reply::unwanted())
    }

    /// Asks, with the message in a lane of the actor's mailbox: see [`send_in`](Self::send_in).
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn ask_in<M>(&self, lane: usize, message: M) -> Ask<M::Reply>
    where
        M: MessageTo<A>,
    {
        let (reply, ask) = self.question::<M>();
        // The reply contains the error as well.
        drop_unhandled(self.post(Some(lane), message, reply));
        ask
    }

    /// Sends a message; the future waits for room if the mailbox is full and its policy is to
    /// [wait](crate::mailbox::Mailbox::wait). With any other policy, it behaves like
    /// [`send`](Self::send).
    ///
    /// Waiting senders are served in the order in which the futures were first polled; the message
    /// takes its place once there is room. Dropping the future before that sends nothing.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message};
    /// use coact::actor::actor;
    /// use coact::mailbox::Mailbox;
    ///
    /// struct Sum(u64);
    /// impl Actor for Sum {}
    ///
    /// struct Add(u64);
    /// impl Message for Add { type Reply = (); }
    /// impl Handler<Add> for Sum {
    ///     fn handle(&mut self, add: Add, _: &mut Context<Self>) { self.0 += add.0 }
    /// }
    ///
    /// let sum = actor(Sum(0)).mailbox(Mailbox::bounded(4).wait()).spawn();
    /// let to = sum.clone();
    /// let producer = coact::runtime::spawn_future(async move {
    ///     for n in 1..=1000 {
    ///         to.send_async(Add(n)).await.expect("nobody stops it");
    ///     }
    /// });
    /// producer.wait()?;
    /// assert_eq!(coact::call(&sum, |sum| sum.0).wait()?, 500_500);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// In a future that [holds](crate::Context::hold) its actor, everything else that needs the
    /// actor waits. If there can only be room after that future has ended, the send fails, and the
    /// error contains the circle ([`SendError::Cycle`]): for example, two such actors with full
    /// mailboxes that send to each other.
    ///
    /// # Errors
    /// Fails like [`send`](Self::send); with [`SendError::Stopped`] also if the actor ends
    /// meanwhile.
    pub fn send_async<M>(
        &self,
        message: M,
    ) -> impl Future<Output = Result<(), SendError<M>>> + Send + use<A, M>
    where
        M: MessageTo<A>,
    {
        let this = self.clone();
        async move {
            match this.wait_for_room::<M>().await {
                Ok(permit) => this.post_with(permit, message, Reply::unwanted()),
                Err(circle) => Err(SendError::Cycle(message, circle)),
            }
        }
    }

    /// Asks; the future waits for room like that of [`send_async`](Self::send_async), and then for
    /// the answer.
    ///
    /// # Errors
    /// Returns an [`AskError`] that says why there is no answer.
    pub fn ask_async<M>(
        &self,
        message: M,
    ) -> impl Future<Output = Result<M::Reply, AskError>> + Send + use<A, M>
    where
        M: MessageTo<A>,
    {
        let this = self.clone();
        async move {
            let permit = this.wait_for_room::<M>().await.map_err(AskError::Cycle)?;
            let (reply, ask) = this.question::<M>();
            // The reply contains the error as well.
            drop_unhandled(this.post_with(permit, message, reply));
            ask.await
        }
    }

    /// Sends a message; blocks the calling thread if the mailbox is full and its policy is to
    /// [wait](crate::mailbox::Mailbox::wait). With any other policy, it behaves like
    /// [`send`](Self::send).
    ///
    /// # Errors
    /// Fails like [`send_async`](Self::send_async).
    ///
    /// # Panics
    /// Panics if it would have to wait in a behaviour, a handler or a future: code that holds cowns
    /// must not wait for room, because the messages that take up the room may need them. Use
    /// [`send`](Self::send), or [`send_async`](Self::send_async) in a future. An actor on
    /// [`Host::blocking`](crate::system::Host::blocking) may wait, but two that wait for room at
    /// each other wait forever.
    #[track_caller]
    pub fn send_blocking<M>(&self, message: M) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        let credits = self.admission_of::<M>().and_then(AdmissionControl::to_wait_for);
        let Some(credits) = credits else {
            return self.post_with(None, message, Reply::unwanted());
        };
        let instead = "use `send`, which returns the message, or `send_async` in a future";
        let room = fmt::from_fn(room_of::<A>);
        let permit = acquire_one_for(credits, "`send_blocking`", instead, &room);
        self.post_with(Some(permit), message, Reply::unwanted())
    }

    /// Returns the state of the actor's mailbox.
    pub fn mailbox(&self) -> MailboxView<'_> {
        MailboxView(self.shared().queue().map(|queue| &**queue))
    }

    /// Returns how many messages arrived after the actor had ended, and were dropped. For when the
    /// count is complete, see [`ended`](Self::ended).
    pub fn dead_letters(&self) -> u64 {
        self.shared().dead_letters()
    }

    /// Waits for a credit, if senders must wait for one.
    async fn wait_for_room<M: Message>(&self) -> Result<Option<Permit>, Arc<AskCycle>> {
        match self.room::<M>(true) {
            Some(room) => room.await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns whether senders of such messages wait for room.
    pub(crate) fn makes_senders_wait<M: Message>(&self) -> bool {
        self.admission_of::<M>().and_then(AdmissionControl::to_wait_for).is_some()
    }

    /// Returns room for a message of this type, if senders must wait for it.
    pub(super) fn room<M: Message>(&self, alone: bool) -> Option<RoomWait> {
        let credits = self.admission_of::<M>()?.to_wait_for()?;
        let acquire = credits.acquire(1);
        credits_owed_by(&acquire, room_of::<A>);
        Some(RoomWait::new(self, acquire, alone))
    }

    fn admission_of<M: Message>(&self) -> Option<&AdmissionControl> {
        let queue = self.shared().queue()?;
        Some(&queue.lanes[queue.lane_of(TypeId::of::<M>())])
    }

    /// Sends a message, in the given lane or in that of its type.
    #[cfg_attr(feature = "sim", track_caller)]
    pub(crate) fn post<M>(
        &self,
        lane: Option<usize>,
        message: M,
        reply: Reply<M::Reply>,
    ) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        if self.has_ended() {
            return self.give_back(message, reply);
        }
        match self.admit(lane, TypeId::of::<M>()) {
            Admission::Unsorted(permit) => self.put_unsorted(permit, message, reply),
            Admission::Sorted(lane, permit) => self.sort(lane, permit, message, reply),
            Admission::Drop => {
                drop_for_room::<A, M>(self.runtime(), self.id(), message, reply);
            }
            Admission::Refuse => {
                reply.fail(AskError::Full);
                return Err(SendError::Full(message));
            }
        }
        Ok(())
    }

    /// Admits a message of this type.
    #[inline(never)]
    fn admit(&self, lane: Option<usize>, message: TypeId) -> Admission {
        match self.shared().queue() {
            Some(queue) => queue.admit(lane, message),
            None => Admission::Unsorted(None),
        }
    }

    /// Sends a message that has its credit, or needs none.
    #[cfg_attr(feature = "sim", track_caller)]
    pub(super) fn post_with<M>(
        &self,
        permit: Option<Permit>,
        message: M,
        reply: Reply<M::Reply>,
    ) -> Result<(), SendError<M>>
    where
        M: MessageTo<A>,
    {
        // The actor's end serves all waiting senders: they notice it here.
        if self.has_ended() || permit.is_none() {
            return self.send_with_reply(message, reply);
        }
        match self.shared().queue().filter(|queue| queue.sorted.is_some()) {
            None => self.put_unsorted(permit, message, reply),
            Some(queue) => self.sort(queue.lane_of(TypeId::of::<M>()), permit, message, reply),
        }
        Ok(())
    }

    fn give_back<M>(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>>
    where
        M: Message,
    {
        let shared = self.shared();
        reply.refuse_with(|| shared.ask_error(shared.end().unwrap_or(&ExitReason::Normal)));
        Err(SendError::Stopped(message))
    }

    /// Puts a message into a lane, which has its own order.
    #[cold]
    #[inline(never)]
    #[cfg_attr(feature = "sim", track_caller)]
    fn sort<M>(&self, lane: usize, permit: Option<Permit>, message: M, reply: Reply<M::Reply>)
    where
        M: MessageTo<A>,
    {
        let wait = reply.wait();
        self.put_in_lane(
            lane,
            QueuedMessage { envelope: envelope::<A, M>(message, reply), permit },
            wait,
        );
    }

    /// Puts a message into the queue of the cown. An actor that runs on its callers handles it at
    /// once if it is idle.
    #[cfg_attr(feature = "sim", track_caller)]
    fn put_unsorted<M>(&self, permit: Option<Permit>, message: M, reply: Reply<M::Reply>)
    where
        M: MessageTo<A>,
    {
        let wait = reply.wait().map(|wait| (wait.hops(), wait));
        let place = match self.put_on_caller((permit, message, reply)) {
            Ok(()) => None,
            Err(put) => self.put_in_queue(put, wait.is_some()),
        };
        if let Some((hops, wait)) = wait {
            wait.sent(hops, place.map(|place| (self.queue_id(), place)));
        }
    }

    /// Puts a message into the queue, and returns its place, if that is wanted and it is in a queue
    /// by itself. Where it is wanted, and in groups, the message is in an envelope, so that all
    /// types of messages share the code of one behaviour.
    #[cfg_attr(feature = "sim", track_caller)]
    fn put_in_queue<M>(
        &self,
        (permit, message, reply): AdmittedMessage<M>,
        wants_place: bool,
    ) -> Option<QueuePosition>
    where
        M: MessageTo<A>,
    {
        let Some(cown) = self.cown().alone().filter(|_| !wants_place) else {
            let envelope = envelope::<A, M>(message, reply);
            return self.queue_delivery::<M>(Delivery::Message { envelope, permit, token: None });
        };
        when(cown, move |cell: &mut ActorCell<A>| {
            receive_with_room(cell, permit, message, reply);
        });
        None
    }

    /// Handles a message at once.
    ///
    /// # Errors
    /// Returns it if the actor is busy, or does not run on its callers.
    fn put_on_caller<M>(&self, put: AdmittedMessage<M>) -> Result<(), AdmittedMessage<M>>
    where
        M: MessageTo<A>,
    {
        let Some(batch) = self.shared().caller_batch() else { return Err(put) };
        self.serve::<M, _>(batch, put, |(permit, message, reply), cell| {
            receive_with_room(cell, permit, message, reply);
        })
    }

    /// Puts a message into its lane, and a ticket for it into the queue of the cown.
    #[inline(never)]
    #[cfg_attr(feature = "sim", track_caller)]
    fn put_in_lane(&self, lane: usize, queued: QueuedMessage, wait: Option<Arc<AskWait>>) {
        let Some(queue) = self.shared().queue() else { return };
        let Some(sorted) = &queue.sorted else { return };
        let wait = wait.map(|wait| (wait.hops(), wait));
        let dropped = match sorted.add(lane, queued) {
            AddOutcome::InPlaceOf(oldest) => Some(oldest),
            AddOutcome::Ticket(number) => {
                let ticket = LaneTicket::new(Arc::clone(queue), number);
                let place = self.queue_delivery::<LaneTicket>(Delivery::Next(ticket, lane));
                sorted.arrive(number, place)
            }
        };
        queue.drop_oldest(self.runtime(), self.id(), lane, dropped);
        if let Some((hops, wait)) = wait {
            wait.sorted(hops, Arc::<SharedMailbox>::clone(queue));
        }
    }
}

/// Passes the actor a message whose room in the mailbox is free from now on, unless the message
/// keeps it.
#[inline]
fn receive_with_room<A: Actor, M: MessageTo<A>>(
    cell: &mut ActorCell<A>,
    permit: Option<Permit>,
    mut message: M,
    reply: Reply<M::Reply>,
) {
    if let Some(room) = permit {
        message.leaves_mailbox(room);
    }
    cell.receive(message, reply);
}

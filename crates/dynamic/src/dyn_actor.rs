//! The actor, its address and its messages. They are in one file because they refer to each other:
//! a message has its sender's address.

use std::any::Any;
use std::fmt::{self, Debug, Formatter};
use std::mem::{forget, take};

use coact_actor::actor::{Addr, Context, Down, ExitReason, Exited, Handler, Receive, Reply};
use coact_actor::internals::{is_of_ask, note_place};
use coact_actor::{Actor, Message};
use coact_core::credits::Permit;
use coact_core::internals::WorkerPlace;
use coact_tuple::{AnyTuple, Atom, IntoTuple};

use crate::cases::NoMatch;

/// An actor that takes tuples, by cases that it changes as it runs.
///
/// [`spawn_dyn`](crate::spawn_dyn) and [`dyn_actor`](crate::dyn_actor) create one. It is an actor
/// like others: its place, mailbox, group, names, supervisor and signals are those of every actor.
/// All have this one type, whatever their state is, so an address does not say what they take.
///
/// ```
/// use coact::dynamic::{DynActor, DynAddr, DynContext, atom, cases};
/// use coact::supervise::{Supervisor, permanent};
///
/// fn echo() -> DynActor {
///     DynActor::new((), |me: &mut DynContext| {
///         me.become_(cases! { |me: &mut DynContext|
///             (atom!("fail")) => panic!("as it was told"),
///             message => me.reply(message),
///         });
///     })
/// }
///
/// let mut tree = Supervisor::one_for_one();
/// let echo = DynAddr::from(tree.child(permanent(echo)));
/// let supervisor = tree.spawn();
/// echo.send(atom!("fail"))?;
/// assert_eq!(echo.ask("hello").wait()?.get::<String>(0).unwrap(), "hello");
/// # drop(supervisor);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DynActor {
    machine: Box<dyn ActorMachine>,
    /// Where it is to handle messages, if it is tied to a worker.
    place: Option<WorkerPlace>,
}

/// What such an actor consists of, without the type of its state.
pub(crate) trait ActorMachine: Any + Send {
    /// Returns the worker that is to handle messages, if that is a certain one.
    fn start(&mut self, context: &mut Context<DynActor>) -> Option<WorkerPlace>;
    /// Takes what it needs of the message, or all of it.
    fn receive(&mut self, message: &mut DynMessage, context: &mut Context<DynActor>);
    /// The same for one that was asked.
    fn receive_asked(
        &mut self,
        message: &mut DynMessage,
        reply: Reply<AnyTuple>,
        context: &mut Context<DynActor>,
    );
    /// Goes on with what is to come before the next message.
    fn go_on(&mut self, context: &mut Context<DynActor>);
    /// Does what comes before its end: see [`Actor::prepare_end`].
    fn prepare_end(&mut self, context: &mut Context<DynActor>) -> bool {
        let _ = context;
        false
    }
    /// Puts the messages that wait here into the stash.
    fn give_back(&mut self, context: &mut Context<DynActor>);
    /// The messages that wait here, and why.
    fn skipped(&self) -> Vec<NoMatch>;
    fn state(&self) -> &dyn Any;
    fn state_mut(&mut self) -> &mut dyn Any;
}

impl DynActor {
    pub(crate) fn of(machine: impl ActorMachine) -> Self {
        Self { machine: Box::new(machine), place: None }
    }

    /// The state, if it is an `S`.
    #[must_use]
    pub fn state<S: 'static>(&self) -> Option<&S> {
        self.machine.state().downcast_ref()
    }

    /// The same to write to.
    #[must_use]
    pub fn state_mut<S: 'static>(&mut self) -> Option<&mut S> {
        self.machine.state_mut().downcast_mut()
    }

    /// The messages that the actor has skipped, oldest first, each with the case that comes
    /// nearest. (Those of a body that waits are not known: at the level `debug`, `tracing` has said
    /// it when the message was skipped.)
    ///
    /// ```
    /// use coact::call;
    /// use coact::dynamic::{DynActor, DynContext, cases, spawn_dyn};
    ///
    /// let it = spawn_dyn(|me: &mut DynContext| {
    ///     me.become_(cases! { |me: &mut DynContext| (n: i64) => me.reply(n) });
    /// });
    /// it.send(5)?;
    /// let skipped = call(&*it, |actor: &mut DynActor| actor.skipped()).wait()?;
    /// assert_eq!(
    ///     skipped[0].to_string(),
    ///     "no case takes (5,): the nearest is `(n: i64)`, but `5` is `i32`, and `i64` is wanted"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn skipped(&self) -> Vec<NoMatch> {
        self.machine.skipped()
    }

    /// Ties the actor to a worker, or to none.
    pub(crate) fn stays_on(&mut self, place: Option<WorkerPlace>, context: &Context<Self>) {
        self.place = place;
        if place.is_some() {
            note_place(context);
        }
    }

    /// The machine, whose type the caller knows.
    pub(crate) fn machine<M: ActorMachine>(&mut self) -> Option<&mut M> {
        (&mut *self.machine as &mut dyn Any).downcast_mut()
    }
}

impl Actor for DynActor {
    fn prepare_end(&mut self, context: &mut Context<Self>) -> bool {
        self.machine.prepare_end(context)
    }

    const MAY_HAVE_PLACE: bool = true;

    #[inline]
    fn place(&self) -> Option<WorkerPlace> {
        self.place
    }

    fn started(&mut self, context: &mut Context<Self>) {
        let place = self.machine.start(context);
        self.stays_on(place, context);
    }

    fn give_back(&mut self, context: &mut Context<Self>) {
        self.machine.give_back(context);
    }
}

impl Receive<DynMessage> for DynActor {
    fn receive(
        &mut self,
        mut message: DynMessage,
        reply: Reply<AnyTuple>,
        context: &mut Context<Self>,
    ) {
        if is_of_ask(&reply) {
            self.machine.receive_asked(&mut message, reply, context);
        } else {
            self.machine.receive(&mut message, context);
        }
    }

    #[inline]
    fn receive_sent(&mut self, mut message: DynMessage, context: &mut Context<Self>) {
        self.machine.receive(&mut message, context);
        message.drop_rest();
    }
}

/// What it monitors has ended: comes as a tuple of one element.
impl Handler<Down> for DynActor {
    fn handle(&mut self, down: Down, context: &mut Context<Self>) {
        self.machine.receive(&mut DynMessage::notice(down), context);
    }
}

/// What it is linked to has ended, and it traps exits: comes as a tuple of one element.
impl Handler<Exited> for DynActor {
    fn handle(&mut self, exited: Exited, context: &mut Context<Self>) {
        self.machine.receive(&mut DynMessage::notice(exited), context);
    }
}

/// Ends the actor for a reason.
pub(crate) struct StopWith(pub(crate) ExitReason);

impl Message for StopWith {
    type Reply = ();
}

impl Handler<StopWith> for DynActor {
    fn handle(&mut self, StopWith(reason): StopWith, context: &mut Context<Self>) {
        context.stop_with(reason);
    }
}

/// What comes before the next message.
pub(crate) struct ExtraTurn;

impl Message for ExtraTurn {
    type Reply = ();
}

impl Handler<ExtraTurn> for DynActor {
    fn handle(&mut self, _: ExtraTurn, context: &mut Context<Self>) {
        self.machine.go_on(context);
    }
}

impl Debug for DynActor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynActor").finish_non_exhaustive()
    }
}

/// The address of an actor that takes tuples.
///
/// It is an [`Addr`] whose messages are tuples, and has all that addresses have.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct DynAddr(pub(crate) Addr<DynActor>);

/// A tuple that is sent to an actor, with its sender.
///
/// Programs send tuples; this is the type of message to name where one is needed, such as in
/// [`Recipient<DynMessage>`](coact_actor::actor::Recipient).
#[derive(Default)]
pub struct DynMessage {
    pub(crate) tuple: AnyTuple,
    pub(crate) header: MessageHeader,
}

/// What is known of a message besides its tuple.
#[derive(Default)]
pub(crate) enum MessageHeader {
    /// Its sender is unknown.
    #[default]
    Empty,
    /// The receiver has sent it itself, and is not kept alive by it.
    FromReceiver,
    From(DynAddr),
    /// More than that.
    Boxed(Box<BoxedHeader>),
}

/// What few messages have.
#[derive(Default)]
pub(crate) struct BoxedHeader {
    /// Its sender: not in a box again.
    pub(crate) sender: MessageHeader,
    pub(crate) tag: Option<Atom>,
    /// Its room in a bounded mailbox, until a case takes it.
    pub(crate) room: Option<Permit>,
    /// It is for one state of the actor, which has asked to be told.
    pub(crate) is_notice: bool,
}

impl MessageHeader {
    pub(crate) fn boxed(&mut self) -> &mut BoxedHeader {
        if !matches!(self, Self::Boxed(_)) {
            let sender = take(self);
            *self = Self::Boxed(Box::new(BoxedHeader { sender, ..BoxedHeader::default() }));
        }
        match self {
            Self::Boxed(header) => header,
            _ => unreachable!("it was put there"),
        }
    }

    /// What there is about the sender.
    pub(crate) fn sender(&self) -> &MessageHeader {
        match self {
            Self::Boxed(header) => &header.sender,
            plain => plain,
        }
    }

    pub(crate) fn tag(&self) -> Option<Atom> {
        match self {
            Self::Boxed(header) => header.tag,
            _ => None,
        }
    }

    /// Another one with the same sender and tag.
    pub(crate) fn copy(&self) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::FromReceiver => Self::FromReceiver,
            Self::From(sender) => Self::From(sender.clone()),
            Self::Boxed(header) => {
                let (sender, tag) = (header.sender.copy(), header.tag);
                Self::Boxed(Box::new(BoxedHeader { sender, tag, ..BoxedHeader::default() }))
            }
        }
    }

    /// Takes the room that the message takes up.
    #[inline]
    pub(crate) fn take_room(&mut self) -> Option<Permit> {
        match self {
            Self::Boxed(header) => header.room.take(),
            _ => None,
        }
    }

    /// Has the message take up room again.
    #[inline]
    pub(crate) fn give_room(&mut self, room: Option<Permit>) {
        if room.is_some() {
            self.boxed().room = room;
        }
    }

    /// Sets the sender.
    #[inline]
    pub(crate) fn set_sender(&mut self, sender: Self) {
        match self {
            Self::Boxed(header) => header.sender = sender,
            plain => *plain = sender,
        }
    }
}

impl DynMessage {
    /// A tuple without a sender.
    #[inline]
    pub fn new(tuple: impl IntoTuple) -> Self {
        Self { tuple: AnyTuple::new(tuple), header: MessageHeader::Empty }
    }

    /// The same with a tag.
    #[must_use]
    pub fn tagged(mut self, tag: Atom) -> Self {
        self.header.boxed().tag = Some(tag);
        self
    }

    /// One that another state of the actor does not get.
    fn notice(tuple: impl IntoTuple) -> Self {
        let mut message = Self::new(tuple);
        message.header.boxed().is_notice = true;
        message
    }

    /// Whether another state of the actor does not get it.
    pub(crate) fn is_notice(&self) -> bool {
        matches!(&self.header, MessageHeader::Boxed(header) if header.is_notice)
    }

    /// Drops what is left of it, which mostly is nothing.
    #[inline]
    pub(crate) fn drop_rest(self) {
        if self.tuple.is_plain() && matches!(self.header, MessageHeader::Empty) {
            forget(self);
        }
    }

    /// The tuple.
    #[must_use]
    pub fn tuple(&self) -> &AnyTuple {
        &self.tuple
    }

    /// The tuple, by value.
    #[must_use]
    pub fn into_tuple(self) -> AnyTuple {
        self.tuple
    }
}

impl Message for DynMessage {
    type Reply = AnyTuple;

    fn leaves_mailbox(&mut self, room: Permit) {
        self.header.boxed().room = Some(room);
    }
}

impl Debug for DynMessage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.tuple, f)
    }
}

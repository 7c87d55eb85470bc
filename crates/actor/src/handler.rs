//! How an actor handles a message: the traits that users implement beside that of the actor.

use crate::message::Message;
use crate::parts::{Actor, Context};
use crate::reply::Reply;

/// An actor that may move between threads: every [`Actor`] that is [`Send`].
///
/// [`spawn`](crate::spawn) requires this trait, for its error message, which says what to do
/// instead.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an actor that workers can run",
    label = "an actor that is `Send` is needed here",
    note = "if it is no actor yet: `#[derive(Actor)]`, or `impl Actor for {Self} {{}}`",
    note = "if it is not `Send`: spawn it on the thread of a pump, by `pump.spawn(actor)`, or `spawn_local(actor)` in a handler there; as the child of a supervisor: `Child::local(pump.runtime(), ..)`"
)]
pub trait SendActor: Actor + Send {}

#[diagnostic::do_not_recommend]
impl<A: Actor + Send> SendActor for A {}

/// An actor that several behaviours may read at the same time: every [`Actor`] that is [`Sync`].
///
/// [`Addr::read`](crate::Addr::read) requires this trait, for its error message, which says what to
/// do instead.
#[diagnostic::on_unimplemented(
    message = "the actor `{Self}` cannot be read by several behaviours at the same time",
    label = "this actor is not `Sync`",
    note = "name it without `.read()`: a behaviour on `&address` has it for itself, as `&mut {Self}`"
)]
pub trait SyncActor: Actor + Sync {}

#[diagnostic::do_not_recommend]
impl<A: Actor + Sync> SyncActor for A {}

/// An actor that answers a message immediately.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message, spawn};
///
/// struct Stack(Vec<u32>);
/// impl Actor for Stack {}
///
/// struct Push(u32);
/// impl Message for Push { type Reply = (); }
/// impl Handler<Push> for Stack {
///     fn handle(&mut self, Push(value): Push, _: &mut Context<Self>) {
///         self.0.push(value);
///     }
/// }
///
/// struct Pop;
/// impl Message for Pop { type Reply = Option<u32>; }
/// impl Handler<Pop> for Stack {
///     fn handle(&mut self, _: Pop, _: &mut Context<Self>) -> Option<u32> {
///         self.0.pop()
///     }
/// }
///
/// let stack = spawn(Stack(Vec::new()));
/// stack.send(Push(7))?;
/// assert_eq!(stack.ask(Pop).wait()?, Some(7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the actor `{Self}` does not handle `{M}`",
    label = "`{M}` cannot be sent to this actor",
    note = "write `impl Handler<{M}> for {Self}`, or, for a message that is to be named after a method, mark that `#[message]` in an `impl` block under `#[handlers]`"
)]
pub trait Handler<M: Message>: Actor {
    /// Handles the message and returns the answer.
    ///
    /// A panic fails the actor: it stops, or its supervisor restarts it.
    fn handle(&mut self, message: M, context: &mut Context<Self>) -> M::Reply;

    /// Handles the message, and sends the answer. For actors whose answers come later, and from
    /// their state: no other crate can implement [`Receive`] for a type that is generic.
    #[doc(hidden)]
    #[inline]
    fn handle_asked(&mut self, message: M, reply: Reply<M::Reply>, context: &mut Context<Self>) {
        reply.send(self.handle(message, context));
    }

    /// The same without an answer.
    #[doc(hidden)]
    #[inline]
    fn handle_sent(&mut self, message: M, context: &mut Context<Self>) {
        drop(self.handle(message, context));
    }
}

/// An actor that receives a message, and may answer it later or elsewhere: the general form of
/// [`Handler`], which every `Handler` implements.
///
/// The [`Reply`] can be kept, sent to another actor, or given to a future ([`Context::detach`],
/// [`Context::hold`]).
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// # use coact::{Actor, Addr, Context, Handler, Message, spawn};
/// # use coact::actor::{Receive, Reply};
/// # struct Back;
/// # impl Actor for Back {}
/// # struct Price(&'static str);
/// # impl Message for Price { type Reply = Option<u32>; }
/// # impl Handler<Price> for Back {
/// #     fn handle(&mut self, Price(of): Price, _: &mut Context<Self>) -> Option<u32> {
/// #         (of == "tea").then_some(3)
/// #     }
/// # }
/// struct Front { back: Addr<Back>, asked: u32 }
/// impl Actor for Front {}
/// impl Receive<Price> for Front {
///     /// Leaves the answer to the next actor, and continues with the next message.
///     fn receive(&mut self, price: Price, reply: Reply<Option<u32>>, _: &mut Context<Self>) {
///         self.asked += 1;
///         if let Err(error) = self.back.forward(price, reply) {
///             eprintln!("{error}");
///         }
///     }
/// }
///
/// let front = spawn(Front { back: spawn(Back), asked: 0 });
/// assert_eq!(front.ask(Price("tea")).wait(), Ok(Some(3)));
/// ```
#[diagnostic::on_unimplemented(
    message = "the actor `{Self}` does not handle `{M}`",
    label = "`{M}` cannot be sent to this actor",
    note = "write `impl Handler<{M}> for {Self}`, or, for a message that is to be named after a method, mark that `#[message]` in an `impl` block under `#[handlers]`",
    note = "or `impl Receive<{M}> for {Self}`, to answer later"
)]
pub trait Receive<M: Message>: Actor {
    /// Receives the message.
    ///
    /// A panic fails the actor: it stops, or its supervisor restarts it.
    fn receive(&mut self, message: M, reply: Reply<M::Reply>, context: &mut Context<Self>);

    /// Receives a message that was sent, not asked: with no asker, the return value of a handler is
    /// dropped.
    #[doc(hidden)]
    #[inline]
    fn receive_sent(&mut self, message: M, context: &mut Context<Self>) {
        self.receive(message, Reply::unwanted(), context);
    }
}

impl<A: Handler<M>, M: Message> Receive<M> for A {
    #[inline]
    fn receive(&mut self, message: M, reply: Reply<M::Reply>, context: &mut Context<Self>) {
        self.handle_asked(message, reply, context);
    }

    #[inline]
    fn receive_sent(&mut self, message: M, context: &mut Context<Self>) {
        self.handle_sent(message, context);
    }
}

/// No address has this: where a message is called as a method, which needs the option `api` of the
/// macro `#[handlers]`, the compiler has the text of this trait.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a message is not a method of `{Self}` without `api`",
    label = "this is a message, which is sent or asked",
    note = "write `#[handlers(api)]` above the actor's `impl` block: this generates such methods, in a trait that is to be imported where they are called",
    note = "or use the message: `address.ask(TheMessage {{ .. }})`, `address.send(TheMessage {{ .. }})`"
)]
pub trait HasApi {}

/// The messages that an actor receives: those that can be sent to an [`Addr<A>`](crate::Addr).
/// Every message implements it for every actor that [receives](Receive) it.
///
/// This is [`Receive`] with the roles exchanged, so that the compiler, which knows the message,
/// reports that the actor does not handle it, instead of searching for what the actor does handle.
#[diagnostic::on_unimplemented(
    message = "the actor `{A}` does not handle `{Self}`",
    label = "`{Self}` cannot be sent to this actor",
    note = "write `impl Handler<{Self}> for {A}`, or, for a message that is to be named after a method, mark that `#[message]` in an `impl` block under `#[handlers]`",
    note = "or `impl Receive<{Self}> for {A}`, to answer later"
)]
pub trait MessageTo<A: Actor>: Message {
    /// Passes the message to the actor.
    #[doc(hidden)]
    fn give(self, actor: &mut A, reply: Reply<Self::Reply>, context: &mut Context<A>);

    /// Like [`give`](Self::give), for a message that was sent, not asked.
    #[doc(hidden)]
    fn give_sent(self, actor: &mut A, context: &mut Context<A>);
}

impl<A: Receive<M>, M: Message> MessageTo<A> for M {
    #[inline]
    fn give(self, actor: &mut A, reply: Reply<M::Reply>, context: &mut Context<A>) {
        actor.receive(self, reply, context);
    }

    #[inline]
    fn give_sent(self, actor: &mut A, context: &mut Context<A>) {
        actor.receive_sent(self, context);
    }
}

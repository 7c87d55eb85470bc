//! The parts of an actor: its trait, its cell, its context and its addresses.
//!
//! These types refer to one another, so they are defined in one place; their operations are in the
//! modules above.

mod addr;
mod context;
mod erased_addr;
mod weak_addr;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use coact_core::internals::{
    CatchDrop, CommitParticipant, InterruptibleHandle, ThreadBound, WorkerPlace,
};
use coact_core::{Cown, WeakCown};
use coact_sync::shim::process::Mutex;

use crate::context_extras::ContextExtras;
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::lifecycle::CellCore;
use crate::timeout_slots::ActorTimeouts;

/// State with an address, messages and a lifecycle: the type of an actor.
///
/// All hooks have defaults, so the minimum is `impl Actor for Account {}`. They run like messages:
/// on the actor's host, one at a time. A hook that must await something uses [`Context::hold`]:
/// messages wait until its future has ended.
///
/// Most actors are [`Send`], because they move between workers:
/// [`SendActor`](crate::actor::SendActor). An actor that is not stays on the thread of a
/// [`Pump`](coact_core::runtime::Pump): [`actor_local`](crate::actor::actor_local).
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message, spawn};
///
/// struct Account { balance: i64 }
/// impl Actor for Account {}
///
/// struct Deposit(i64);
/// impl Message for Deposit { type Reply = i64; }
///
/// impl Handler<Deposit> for Account {
///     fn handle(&mut self, message: Deposit, _: &mut Context<Self>) -> i64 {
///         self.balance += message.0;
///         self.balance
///     }
/// }
///
/// let account = spawn(Account { balance: 0 });
/// account.send(Deposit(5))?;
/// assert_eq!(account.ask(Deposit(7)).wait()?, 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "gen_server")]
#[doc(alias = "process")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an actor",
    label = "an actor is needed here",
    note = "derive it: `#[derive(Actor)]`, or write `impl Actor for {Self} {{}}`: all of its hooks have defaults",
    note = "if it is the state of a durable actor: the actor is `Durable<{Self}>`, its address an `Addr<Durable<{Self}>>`, and a command of it an `impl Decide<..> for {Self}`"
)]
pub trait Actor: Sized + 'static {
    /// Called once, before the first message.
    fn started(&mut self, context: &mut Context<Self>) {
        let _ = context;
    }

    /// Called on the new state after a restart, before the next message. By default, calls
    /// [`started`](Self::started).
    fn restarted(&mut self, reason: &ExitReason, context: &mut Context<Self>) {
        let _ = reason;
        self.started(context);
    }

    /// Called before the state is dropped, at a stop and at a restart, unless the actor is
    /// [killed](crate::Addr::kill). After a panic the state is as the panic left it.
    ///
    /// A panic in it is published as [`ActorFailed`](crate::pubsub::ActorFailed), and becomes the
    /// exit reason if that was [normal](ExitReason::is_normal).
    fn stopped(&mut self, reason: &ExitReason, context: &mut Context<Self>) {
        let _ = (reason, context);
    }

    /// Called between two messages, after it was asked for, and before anything else sees the
    /// state.
    #[doc(hidden)]
    fn on_interrupt(&mut self, context: &mut Context<Self>) {
        let _ = context;
    }

    /// Called before a signal ends the state, which may have something to do elsewhere first.
    /// Returns whether it has requested that (`finish_handler`): the signal waits until then.
    #[doc(hidden)]
    fn prepare_end(&mut self, context: &mut Context<Self>) -> bool {
        let _ = context;
        false
    }

    /// Whether [`place`](Self::place) may return anything.
    #[doc(hidden)]
    const MAY_HAVE_PLACE: bool = false;

    /// The worker that is to handle the actor's messages, if the state is tied to one.
    #[doc(hidden)]
    #[inline]
    fn place(&self) -> Option<WorkerPlace> {
        None
    }

    /// Whether behaviours on the actor end with a [commit](CommitParticipant): they are detained
    /// until what they have changed is committed.
    #[doc(hidden)]
    const COMMITS: bool = false;

    /// Returns the state's part in a commit.
    #[doc(hidden)]
    fn commit_participant(&self) -> Option<&dyn CommitParticipant> {
        None
    }

    /// The same, for a behaviour that holds the actor exclusively. It is this one.
    #[doc(hidden)]
    fn commit_participant_mut(&mut self, id: ActorId) -> Option<&mut dyn CommitParticipant> {
        let _ = id;
        None
    }

    /// Called when the last address is gone, if the state [commits](Self::COMMITS). Returns whether
    /// the actor ends: not if the state knows that there is an address again.
    #[doc(hidden)]
    fn may_end(&mut self) -> bool {
        true
    }

    /// Called before the state is dropped, also where [`stopped`](Self::stopped) is not. For states
    /// that keep messages in an order of their own: what they put into the stash comes first after
    /// a restart, and is reported at the end.
    #[doc(hidden)]
    #[inline]
    fn give_back(&mut self, context: &mut Context<Self>) {
        let _ = context;
    }
}

/// The address of an actor: one pointer, cheap to clone, to send from any thread.
///
/// Messages from one sender arrive in the order in which they were sent. More than that, the order
/// is causal, and one with that of behaviours. An address can be a member of a behaviour's set,
/// where it gives access to `&mut A`, or, with [`read`](Self::read), to `&A`:
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, call, spawn, when};
///
/// struct Account { balance: i64 }
/// impl Actor for Account {}
///
/// let (a, b) = (spawn(Account { balance: 100 }), spawn(Account { balance: 0 }));
/// when((&a, &b), |(a, b)| {
///     a.balance -= 30;
///     b.balance += 30;
/// });
/// let sum = call((a.read(), b.read()), |(a, b)| (a.balance, b.balance));
/// assert_eq!(sum.wait(), Ok((70, 30)));
/// ```
///
/// A behaviour that panics fails every actor that it held exclusively, once. A behaviour whose set
/// contains an actor that has ended is skipped ([`Broken::Closed`](coact_core::Broken::Closed)).
///
/// When the last address of an actor is dropped, the actor handles the messages that it has
/// (suspended or not), and ends.
#[doc(alias = "ActorRef")]
#[doc(alias = "Pid")]
#[doc(alias = "Sender")]
pub struct Addr<A: Actor> {
    pub(crate) cown: InterruptibleHandle<ActorCell<A>>,
}

/// An address that does not keep the actor alive.
#[doc(alias = "WeakActorRef")]
pub struct WeakAddr<A: Actor>(pub(crate) WeakCown<ActorCell<A>>);

/// An actor's view of itself: its address, and its requests to the runtime.
#[doc(alias = "ActorContext")]
pub struct Context<A: Actor> {
    pub(crate) this: WeakAddr<A>,
    /// `None` until the actor first needs one of these.
    pub(crate) extras: Option<Box<Mutex<ContextExtras>>>,
    /// While an answer is handled: the address that came with it, until an ask takes it.
    pub(crate) lent: Option<Cown<ActorCell<A>>>,
}

/// The part of [`ContextExtras`] that depends on the actor's type.
pub(crate) struct TypedExtras<A: Actor> {
    /// Futures that will hold the actor.
    pub(crate) holds: VecDeque<CatchDrop<HoldRequest<A>>>,
    /// What finishes the handler that has just run: it comes before signals.
    pub(crate) unfinished: Option<CatchDrop<HoldRequest<A>>>,
    pub(crate) timeouts: ActorTimeouts<TimeoutAction<A>>,
}

/// What an actor does when one of its timeouts fires.
pub(crate) type TimeoutAction<A> = Box<dyn FnMut(&mut A, &mut Context<A>) + Send>;

/// The state of an actor's cown.
pub struct ActorCell<A: Actor> {
    /// `None` while a future holds the actor, and once it has ended.
    pub(crate) body: Option<ActorAndContext<A>>,
    /// The actor's address while there is no context, which otherwise has it.
    pub(crate) this: Option<WeakAddr<A>>,
    pub(crate) core: CellCore,
}

/// The actor and its context: they move together.
pub(crate) struct ActorAndContext<A: Actor> {
    pub(crate) actor: ThreadBound<A>,
    pub(crate) context: Context<A>,
}

/// The future of a handler that holds its actor; see [`Context::hold`].
pub type HeldFuture<'a, R> = Pin<Box<dyn Future<Output = R> + Send + 'a>>;

/// A request to hold the actor: creates the future from the actor's state and the place to which
/// that is returned.
pub(crate) type HoldRequest<A> =
    Box<dyn FnOnce(ActorAndContext<A>, ReturnPlace<A>) -> HeldFuture<'static, ()> + Send>;

/// The place to which the actor's state is returned.
pub(crate) type ReturnPlace<A> = Arc<Mutex<Option<ActorAndContext<A>>>>;

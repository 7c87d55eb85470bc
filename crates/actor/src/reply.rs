//! Replies: the right, and the duty, to answer a message.

use std::any::type_name;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::thread;

use coact_core::Promise;
use coact_core::cown::CownId;
use coact_core::internals::{
    is_cancelling, is_kept_back, once_caught, resolve_in_time_with, scoped, with_scoped,
};
use coact_core::promise::Resolver;

use crate::any_addr::AnyAddr;
use crate::cycle::AskWait;
use crate::events;
use crate::exit::ExitReason;
use crate::once_lock::OnceLock;
use crate::send_error::AskError;

/// The value of an ask's promise.
pub(crate) type AskResult<R> = Result<R, AskError>;

/// The right to answer one message, once: by any owner, at any time, from any thread.
///
/// If the message was sent rather than asked, the answer is dropped, because nothing waits for it;
/// see [`is_wanted`](Self::is_wanted). A reply that is dropped without an answer fails the ask, at
/// once.
///
/// As an argument it comes after the message, and before the answer or the context:
/// [`receive(message, reply, context)`](crate::actor::Receive::receive),
/// [`forward(message, reply)`](crate::Addr::forward),
/// [`stash(message, reply)`](crate::Context::stash),
/// [`detach(reply, future)`](crate::Context::detach),
/// [`hold(reply, closure)`](crate::Context::hold).
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Message, spawn, when};
/// use coact::actor::{AskError, Receive, Reply};
///
/// /// Answers when there is a table.
/// struct Waiter(Vec<Reply<u32>>);
/// impl Actor for Waiter {}
///
/// struct Table;
/// impl Message for Table { type Reply = u32; }
/// impl Receive<Table> for Waiter {
///     fn receive(&mut self, _: Table, reply: Reply<u32>, _: &mut Context<Self>) {
///         self.0.push(reply);
///     }
/// }
///
/// let waiter = spawn(Waiter(Vec::new()));
/// let [first, second] = [Table, Table].map(|table| waiter.ask(table));
/// when(&waiter, |waiter| waiter.0.remove(0).send(12));
/// assert_eq!(first.wait(), Ok(12));
/// when(&waiter, |waiter| waiter.0.clear());
/// assert_eq!(second.wait(), Err(AskError::NoReply));
/// ```
#[doc(alias = "RpcReplyPort")]
#[doc(alias = "DelegatedReply")]
#[must_use = "dropping a reply fails the ask that waits for it"]
pub struct Reply<R: Send + 'static> {
    resolver: Option<Resolver<AskResult<R>>>,
    /// Present if the ask holds its actor.
    wait: Option<ReplyWait>,
}

/// The wait of an ask that holds its actor; it is answered when this is dropped.
struct ReplyWait(Arc<AskWait>);

impl Drop for ReplyWait {
    fn drop(&mut self) {
        self.0.released();
    }
}

/// Creates a reply, and the promise of its answer, without a message: for tests of what answers.
pub fn reply_channel<R: Send + 'static>() -> (Reply<R>, Promise<AskResult<R>>) {
    Reply::channel()
}

impl<R: Send + 'static> Reply<R> {
    /// Creates the reply to a message that was sent, not asked: nothing waits for it. A hook that
    /// [holds](crate::Context::hold) its actor passes this one.
    #[inline]
    pub fn unwanted() -> Self {
        Self { resolver: None, wait: None }
    }

    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub(crate) fn channel() -> (Self, Promise<AskResult<R>>) {
        let (resolver, promise) = Promise::channel();
        (Self { resolver: Some(resolver), wait: None }, promise)
    }

    /// Creates a reply whose answer goes to the resolver, if there is one.
    #[inline]
    pub(crate) fn to(resolver: Option<Resolver<AskResult<R>>>) -> Self {
        Self { resolver, wait: None }
    }

    /// Returns what the answer goes to.
    ///
    /// # Errors
    /// Returns the reply if it is tracked.
    #[inline(always)]
    pub(crate) fn into_resolver(self) -> Result<Option<Resolver<AskResult<R>>>, Self> {
        if self.wait.is_some() { Err(self) } else { Ok(self.into_parts().0) }
    }

    /// Returns the resolver of the answer, and the wait that ends with it.
    #[inline]
    fn into_parts(self) -> (Option<Resolver<AskResult<R>>>, Option<ReplyWait>) {
        let mut this = ManuallyDrop::new(self);
        (this.resolver.take(), this.wait.take())
    }

    /// Sends the answer.
    ///
    /// An answer that arrives after the [timeout](crate::actor::Ask::timeout) of its ask is
    /// dropped, and reported as a [`LateReply`](crate::pubsub::LateReply).
    #[inline]
    pub fn send(self, answer: R) {
        match self.into_resolver() {
            Ok(Some(resolver)) => send(resolver, answer),
            Ok(None) => {}
            Err(this) => this.send_tracked(answer),
        }
    }

    #[cold]
    #[inline(never)]
    fn send_tracked(self, answer: R) {
        let (resolver, _answered) = self.into_parts();
        if let Some(resolver) = resolver {
            send(resolver, answer);
        }
    }

    /// Fails the ask: there will be no answer, for this reason.
    pub fn fail(self, why: AskError) {
        let (resolver, _answered) = self.into_parts();
        if let Some(resolver) = resolver {
            resolver.resolve(Err(why));
        }
    }

    /// Returns whether the answer is still awaited.
    pub fn is_wanted(&self) -> bool {
        self.resolver.as_ref().is_some_and(|resolver| !resolver.is_abandoned())
    }

    /// Notes that the answer is left to another actor, given with the queue in which its messages
    /// wait.
    #[inline]
    pub(crate) fn forwarded_to(&self, to: impl FnOnce() -> (AnyAddr, CownId)) {
        if let Some(tracked) = &self.wait {
            let (to, queue) = to();
            tracked.0.forwarded(to, queue);
        }
    }

    /// Makes it the reply of an ask that holds its actor.
    pub(crate) fn tracked(self, wait: &Arc<AskWait>) -> Self {
        let mut this = self;
        this.wait = Some(ReplyWait(Arc::clone(wait)));
        this
    }

    /// Returns the wait of a tracked reply.
    #[inline]
    pub(crate) fn wait(&self) -> Option<Arc<AskWait>> {
        self.wait.as_ref().map(|tracked| Arc::clone(&tracked.0))
    }

    /// Notes that a handler receives the message now. Returns whether it must still be handled.
    #[inline]
    pub(crate) fn take_up(&self) -> bool {
        self.resolver.iter().for_each(is_kept_back);
        self.wait.as_ref().is_none_or(|tracked| tracked.0.begin())
    }

    /// Notes that a future that holds an actor has the reply.
    pub(crate) fn held_by(&self, actor: impl FnOnce() -> AnyAddr) {
        if let Some(tracked) = &self.wait {
            tracked.0.held_by(&actor());
        }
    }

    /// Whether it is the reply to an ask.
    #[inline]
    pub(crate) fn is_of_ask(&self) -> bool {
        self.resolver.is_some()
    }

    /// Notes that the reply may be used at any time again.
    pub(crate) fn released(&self) {
        if let Some(tracked) = &self.wait {
            tracked.0.released();
        }
    }

    /// Fails a reply whose message arrived at an actor that has ended.
    pub(crate) fn refuse(self, reason: &ExitReason) {
        self.refuse_with(|| AskError::Stopped(reason.clone()));
    }

    /// Like [`refuse`](Self::refuse), with the error that the actor has for its end.
    pub(crate) fn refuse_with(self, error: impl FnOnce() -> AskError) {
        if self.resolver.is_some() {
            let cancelled = is_cancelling();
            self.fail(if cancelled { AskError::Cancelled } else { error() });
        }
    }
}

impl<R: Send + 'static> Drop for Reply<R> {
    #[inline]
    fn drop(&mut self) {
        drop(self.wait.take());
        if let Some(resolver) = self.resolver.take() {
            fail_dropped(resolver);
        }
    }
}

#[inline(always)]
fn send<R: Send + 'static>(resolver: Resolver<AskResult<R>>, answer: R) {
    if !resolve_in_time_with(resolver, || Ok(answer)) {
        events::late_reply(type_name::<R>());
    }
}

/// Fails the ask because the reply is dropped: now, or once a panic was caught that may have
/// dropped it. (What unwinds the stack of an actor that ends is not the reason.)
#[cold]
fn fail_dropped<R: Send + 'static>(resolver: Resolver<AskResult<R>>) {
    if thread::panicking() && why_unwound().is_none() {
        once_caught(move |message| {
            resolver.resolve(Err(message.map_or(AskError::NoReply, AskError::Panicked)));
        });
    } else {
        resolver.resolve(Err(why_dropped()));
    }
}

/// Returns why there is no answer, by where a reply is dropped.
fn why_dropped() -> AskError {
    // Work that is dropped because its runtime has ended drops actors as well.
    if is_cancelling() {
        return AskError::Cancelled;
    }
    why_unwound().flatten().map_or(AskError::NoReply, AskError::Stopped)
}

/// Returns why the parts of an actor are dropped here, if they are: for its end, or for a new
/// state.
fn why_unwound() -> Option<Option<ExitReason>> {
    scoped(|scope| {
        let scope = scope?;
        if let Some(reason) = scope.downcast_ref::<ExitReason>() {
            return Some(Some(reason.clone()));
        }
        scope.downcast_ref::<UnwindReason>()?.0.get().cloned()
    })
}

/// Returns the reason for which an actor ends whose parts are dropped here.
pub(crate) fn end_reason() -> Option<ExitReason> {
    why_unwound().flatten()
}

/// Says that what unwinds a stack is not a panic but the end of the actor that it belongs to, or a
/// new state, for which there is no reason. Replies on the stack fail accordingly.
#[derive(Clone, Default)]
pub struct UnwindReason(Arc<OnceLock<Option<ExitReason>>>);

impl UnwindReason {
    /// For a stack that is unwound for this reason.
    pub fn new(reason: Option<ExitReason>) -> Self {
        let this = Self::default();
        this.begin(reason);
        this
    }

    /// The stack is unwound from now on.
    pub fn begin(&self, reason: Option<ExitReason>) {
        let _ = self.0.set(reason);
    }

    /// Runs what may be unwound, on its stack.
    pub fn on<R>(&self, work: impl FnOnce() -> R) -> R {
        with_scoped(self, work)
    }
}

/// Runs work that drops parts of an actor that ends. The replies in them fail for that reason.
pub(crate) fn in_end_for<R>(reason: &ExitReason, work: impl FnOnce() -> R) -> R {
    with_scoped(reason, work)
}

impl<R: Send + 'static> fmt::Debug for Reply<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("wanted", &self.is_wanted()).finish()
    }
}

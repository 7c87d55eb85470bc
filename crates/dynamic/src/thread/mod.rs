//! What takes tuples, and waits for them in the middle of its code: plain threads, and actors with
//! a body (on a fiber, on a thread of their own, or as a future).
//!
//! Reading order: `take` (what a wait takes), `source` (where the messages of a stack come from),
//! `inbox` (the mailbox of a plain thread); for actors, `exchange` (what actor and body pass each
//! other), `place` (where the body waits), `body_machine` (the actor), `task` (the view of a
//! future).

mod body_machine;
mod exchange;
mod inbox;
mod place;
mod source;
mod spawn;
mod spawn_async;
mod spawn_fiber;
mod stack_settings;
mod take;
mod task;

use std::fmt::{self, Debug, Formatter};
use std::mem::{forget, take};
use std::ops::ControlFlow;
use std::rc::Rc;

use coact_actor::actor::{SendError, WeakAddr};
use coact_core::internals::thread_extension;
use coact_tuple::{AnyTuple, Atom, IntoTuple};

use self::exchange::BodyResult;
use self::source::{MessageSource, ReceiveOutcome, ThreadState, assert_plain};
pub use self::spawn::spawn_detached;
pub use self::spawn_async::{spawn_async, spawn_async_with};
pub use self::spawn_fiber::{ThreadSpawn, ThreadSpawnError, detached, fiber, spawn_fiber};
pub use self::stack_settings::SameWorker;
use self::take::{NestedHandling, ReceivingBody, take_answer};
pub use self::task::{DynTask, TaskRequest};
use crate::cases::Cases;
use crate::dyn_actor::{DynActor, DynAddr, DynMessage};
use crate::received::{DynReply, QueuedMessage, ReceivedMessage, message};
use crate::skipped::SkippedMessages;

/// Returns the calling thread as an actor that takes tuples.
///
/// It has an address, one mailbox for messages of all types, and takes them where it says so:
/// [`receive`](DynThread::receive). Nothing needs to be spawned. When the thread ends, its address
/// has [ended](SendError::Stopped), and so has it when the runtime in which it was first used is
/// shut down; what was not received is dropped.
///
/// ```
/// use coact::dynamic::{DynContext, DynThread, atom, cases, spawn_dyn, this_thread};
/// use std::time::Duration;
///
/// let mut me = this_thread();
/// let doubler = spawn_dyn(|me: &mut DynContext| {
///     me.become_(cases! { |me: &mut DynContext| (n: i32) => me.reply((atom!("double"), 2 * n)) });
/// });
/// me.send(&doubler, 21)?;
/// let double = me.receive(cases! { |_me: &mut DynThread|
///     (atom!("double"), n: i32) => Some(n),
///     after Duration::from_secs(30) => None,
/// });
/// assert_eq!(double, Some(42));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// Inside of a behaviour, a handler or a future: these run on whatever worker is free, and must not
/// wait there. Use the context, and [`become_`](crate::DynContext::become_).
#[doc(alias = "scoped_actor")]
#[track_caller]
pub fn this_thread() -> DynThread {
    assert_plain("`this_thread`");
    DynThread::plain(thread_extension())
}

/// A thread's view of itself as an actor: a plain thread's ([`this_thread`]), or that of an actor
/// with a stack of its own ([`spawn_fiber`], [`spawn_detached`]).
///
/// All that a plain thread gets for itself share one mailbox.
pub struct DynThread<S: Send + 'static = ()> {
    source: MessageSource<S>,
    received: ReceivedMessage,
}

impl DynThread {
    fn plain(of: Rc<ThreadState>) -> Self {
        Self::of(MessageSource::Thread { of, state: Box::new(()) })
    }
}

impl<S: Send + 'static> DynThread<S> {
    fn of(source: MessageSource<S>) -> Self {
        Self { source, received: ReceivedMessage::default() }
    }

    /// Says that the body has ended whose stack this is.
    fn end(self, ended: BodyResult) {
        let Self { source, received } = self;
        drop(received);
        if let MessageSource::Body(body) = source {
            let (lent, parking) = body.into_parts();
            parking.end(lent, ended);
        }
    }

    /// The thread's address.
    ///
    /// # Panics
    /// In an actor that has ended, whose body goes on: in what its end unwinds, for instance.
    #[must_use]
    pub fn address(&self) -> DynAddr {
        self.source.address()
    }

    /// The state, which behaviours over its [`StateAddr`](crate::StateAddr) see as well while it
    /// waits for a message. So it is the thread's only between two waits: nothing borrowed from it
    /// is kept over one.
    ///
    /// ```
    /// use coact::call;
    /// use coact::dynamic::{DynThread, cases, fiber};
    ///
    /// let sum = fiber(0, |me: &mut DynThread<i32>| loop {
    ///     let n = me.receive(cases! { |_me: &mut DynThread<i32>| (n: i32) => n });
    ///     *me.state_mut() += n;
    /// })
    /// .spawn();
    /// sum.send(20)?;
    /// sum.send(22)?;
    /// assert_eq!(call(&sum, |sum| *sum).wait()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// ```compile_fail,E0502
    /// use coact::dynamic::{DynThread, cases, fiber};
    ///
    /// fiber(String::new(), |me: &mut DynThread<String>| {
    ///     let text = me.state();
    ///     me.receive(cases! { |_me: &mut DynThread<String>| _ => () });
    ///     println!("{text}");
    /// });
    /// ```
    #[track_caller]
    pub fn state(&self) -> &S {
        self.source.state()
    }

    /// The same to write to.
    #[track_caller]
    pub fn state_mut(&mut self) -> &mut S {
        self.source.state_mut()
    }

    /// Sends a tuple, with this thread as its sender.
    ///
    /// # Errors
    /// See [`DynAddr::send`].
    pub fn send(&self, to: &DynAddr, tuple: impl IntoTuple) -> Result<(), SendError<AnyTuple>> {
        to.send_message(self.message(to, tuple))
    }

    /// The same with a tag: see [`tag`](Self::tag).
    ///
    /// # Errors
    /// See [`DynAddr::send`].
    pub fn send_tagged(
        &self,
        to: &DynAddr,
        tag: Atom,
        tuple: impl IntoTuple,
    ) -> Result<(), SendError<AnyTuple>> {
        to.send_message(self.message(to, tuple).tagged(tag))
    }

    /// Puts this thread into a message to `to` as its sender.
    #[inline]
    fn message(&self, to: &DynAddr, tuple: impl IntoTuple) -> DynMessage {
        self.source.with_own(|own| message(own, to, tuple))
    }

    /// Who has sent the message that is being handled; `None` if that is unknown.
    #[must_use]
    pub fn sender(&self) -> Option<DynAddr> {
        self.source.with_own(|own| self.received.sender(own))
    }

    /// The tag of the message that is being handled, if it has one.
    #[must_use]
    pub fn tag(&self) -> Option<Atom> {
        self.received.header.tag()
    }

    /// Whether an answer to the message that is being handled is waited for.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.received.is_asked()
    }

    /// Answers the message that is being handled: see
    /// [`DynContext::reply`](crate::DynContext::reply).
    pub fn reply(&mut self, tuple: impl IntoTuple) {
        let Self { source, received } = self;
        source.with_own(|own| received.reply(own, AnyTuple::new(tuple)));
    }

    /// Takes the right to answer the message that is being handled: see
    /// [`DynContext::take_reply`](crate::DynContext::take_reply).
    pub fn take_reply(&mut self) -> DynReply {
        let Self { source, received } = self;
        source.with_own(|own| received.take_reply(own))
    }

    /// Passes a tuple on as the message that is being handled: see
    /// [`DynContext::forward`](crate::DynContext::forward).
    ///
    /// # Errors
    /// Returns the tuple if it cannot be delivered; an ask fails then.
    pub fn forward(
        &mut self,
        to: &DynAddr,
        tuple: impl IntoTuple,
    ) -> Result<(), SendError<AnyTuple>> {
        let Self { source, received } = self;
        source.with_own(|own| received.forward(own, to, DynMessage::new(tuple)))
    }

    /// Takes the oldest message that a case takes, and waits until there is one: a thread blocks,
    /// and a fiber leaves its worker to others. The other messages stay, in their order, for later
    /// calls. With an `after`, that is done when the time since the call has passed; a time of zero
    /// takes what is there.
    ///
    /// Cases may borrow from the function around them, `cases! { ref |me: &mut DynThread| .. }`,
    /// and receive themselves.
    ///
    /// # Panics
    /// If a plain thread would wait for ever: there is no `after`, and no address of it is left.
    /// (An actor ends then.) Inside of a behaviour, a handler or a future, also of one that the
    /// body of an actor runs inline (`when_here`, an actor on its callers). In a destructor that a
    /// panic runs, the actor's end, or the runtime. A panic of a case comes out, and its ask fails.
    #[track_caller]
    pub fn receive<R>(&mut self, mut cases: Cases<'_, Self, R>) -> R {
        self.receive_by(&mut cases)
    }

    /// [Receives](Self::receive) again and again, until a case breaks the loop, with a value.
    ///
    /// ```
    /// use coact::dynamic::{DynThread, atom, cases, this_thread};
    /// use std::ops::ControlFlow::{Break, Continue};
    ///
    /// let mut me = this_thread();
    /// let main = me.address();
    /// std::thread::spawn(move || {
    ///     for n in 1..=3 {
    ///         main.send(n).expect("it receives");
    ///     }
    ///     main.send(atom!("end")).expect("it receives");
    /// });
    /// let mut sum = 0;
    /// let reason = me.receive_loop(cases! { ref |_me: &mut DynThread|
    ///     (n: i32) => { sum += n; Continue(()) },
    ///     (atom!("end")) => Break("no more"),
    /// });
    /// assert_eq!((sum, reason), (6, "no more"));
    /// ```
    ///
    /// # Panics
    /// See [`receive`](Self::receive).
    #[track_caller]
    pub fn receive_loop<B>(&mut self, mut cases: Cases<'_, Self, ControlFlow<B>>) -> B {
        loop {
            if let ControlFlow::Break(value) = self.receive_by(&mut cases) {
                return value;
            }
        }
    }

    /// [Receives](Self::receive) once for each item of the range.
    ///
    /// # Panics
    /// See [`receive`](Self::receive).
    #[track_caller]
    pub fn receive_for(&mut self, range: impl IntoIterator, mut cases: Cases<'_, Self>) {
        for _ in range {
            self.receive_by(&mut cases);
        }
    }

    /// [Receives](Self::receive) until a condition holds, which is looked at after each time:
    /// `me.do_receive(cases).until(|me| ..)`.
    pub fn do_receive<'a, 'c>(&'a mut self, cases: Cases<'c, Self>) -> DoReceive<'a, 'c, S> {
        DoReceive { me: self, cases }
    }

    /// A tuple to be sent as a request, whose answer no other cases see: by
    /// [`ThreadRequest::await_`].
    pub fn request(&self, to: &DynAddr, tuple: impl IntoTuple) -> ThreadRequest {
        ThreadRequest { to: to.clone(), message: self.message(to, tuple) }
    }

    #[inline]
    #[track_caller]
    fn receive_by<R>(&mut self, cases: &mut Cases<'_, Self, R>) -> R {
        self.source.assert_may_wait();
        if !self.received.is_clear() {
            return self.receive_within(cases);
        }
        if let Some(result) = self.take_skipped(cases) {
            return result;
        }
        let mut deadline = None;
        let mut came = self.source.next(cases.timeout(), &mut deadline, &mut self.received);
        loop {
            match &mut came {
                ReceiveOutcome::Message(tuple) => {
                    if let Some(result) = self.apply(cases, tuple) {
                        if tuple.is_plain() {
                            forget(came);
                        }
                        return result;
                    }
                    self.skip(cases, take(tuple));
                }
                ReceiveOutcome::Late => return cases.time_out(self).expect("there is an `after`"),
                ReceiveOutcome::Nothing => {}
            }
            came = self.source.next_in_time(deadline, &mut self.received);
        }
    }

    /// The same while another message is handled, whose cases receive themselves.
    #[cold]
    #[track_caller]
    fn receive_within<R>(&mut self, cases: &mut Cases<'_, Self, R>) -> R {
        NestedHandling::new(self).me.receive_by(cases)
    }
}

impl<S: Send + 'static> ReceivingBody for DynThread<S> {
    #[inline]
    fn received(&mut self) -> &mut ReceivedMessage {
        &mut self.received
    }

    #[inline]
    fn with_skipped<R>(
        &mut self,
        work: impl FnOnce(&mut SkippedMessages<QueuedMessage>) -> R,
    ) -> R {
        self.source.with_skipped(work)
    }

    #[inline]
    fn with_own<R>(&self, work: impl FnOnce(&WeakAddr<DynActor>) -> R) -> R {
        self.source.with_own(work)
    }
}

impl<S: Send + 'static> Debug for DynThread<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynThread").finish_non_exhaustive()
    }
}

/// A loop that ends when a condition holds: see [`DynThread::do_receive`].
#[must_use = "nothing is received until `until` says for how long"]
pub struct DoReceive<'a, 'c, S: Send + 'static = ()> {
    me: &'a mut DynThread<S>,
    cases: Cases<'c, DynThread<S>>,
}

impl<S: Send + 'static> DoReceive<'_, '_, S> {
    /// Receives until the condition holds, at least once.
    ///
    /// # Panics
    /// See [`DynThread::receive`].
    #[track_caller]
    pub fn until(mut self, mut condition: impl FnMut(&mut DynThread<S>) -> bool) {
        loop {
            self.me.receive_by(&mut self.cases);
            if condition(self.me) {
                return;
            }
        }
    }
}

impl<S: Send + 'static> Debug for DoReceive<'_, '_, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoReceive").finish_non_exhaustive()
    }
}

/// A request of a thread, which is sent when it is said what takes its answer: see
/// [`DynThread::request`].
#[must_use = "a request is sent by `await_`; one whose answer is not needed is a `send`"]
pub struct ThreadRequest {
    to: DynAddr,
    message: DynMessage,
}

impl ThreadRequest {
    /// Sends the request, waits until the answer is there, and gives it to the cases. Messages stay
    /// where they are; an actor with a stack is held, and behaviours over it wait as well. If there
    /// will be no answer, the cases get the reason, an [`AskError`](coact_actor::actor::AskError),
    /// as a tuple of one element. After the time of `after`, a later answer is dropped.
    ///
    /// ```
    /// use coact::actor::AskError;
    /// use coact::dynamic::{DynContext, DynThread, atom, cases, spawn_dyn, this_thread};
    /// use std::time::Duration;
    ///
    /// let testee = spawn_dyn(|me: &mut DynContext| {
    ///     me.become_(cases! { |me: &mut DynContext| (atom!("get")) => me.reply("a string") });
    /// });
    /// let mut me = this_thread();
    /// let answer = me.request(&testee, atom!("get")).await_(&mut me, cases! { |_me: &mut DynThread|
    ///     (text: String) => text,
    ///     (error: AskError) => error.to_string(),
    ///     after Duration::from_secs(30) => "too late".into(),
    /// });
    /// assert_eq!(answer, "a string");
    /// ```
    ///
    /// # Panics
    /// If the cases have no `after`: an actor that does not answer would stop the thread for ever.
    /// If none of them takes the answer. Inside of a behaviour, a handler or a future.
    #[doc(alias = "receive_response")]
    #[track_caller]
    pub fn await_<S, R>(self, me: &mut DynThread<S>, mut cases: Cases<'_, DynThread<S>, R>) -> R
    where
        S: Send + 'static,
    {
        let Some(after) = cases.timeout() else {
            panic!(
                "what is awaited needs an `after`: without an answer, the thread would wait for ever"
            );
        };
        me.source.with_own(|own| me.received.note_kept(own, true));
        let answered = me.source.wait_for(self.to, self.message, after);
        me.source.with_own(|own| me.received.note_kept(own, false));
        take_answer(me, &mut cases, answered)
    }
}

impl Debug for ThreadRequest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadRequest").finish_non_exhaustive()
    }
}

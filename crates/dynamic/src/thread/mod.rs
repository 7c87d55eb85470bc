//! Plain threads that take tuples: they wait for them in the middle of a function.

mod inbox;
mod spawn;

use std::cell::{OnceCell, RefCell};
use std::fmt::{self, Debug, Formatter};
use std::mem::{replace, take};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use coact_actor::actor::{Ask, AskError, SendError, WeakAddr};
use coact_core::internals::thread_extension;
use coact_core::runtime::{RuntimeHandle, may_block};
use coact_tuple::{AnyTuple, Atom, IntoTuple};

use self::inbox::{Next, ThreadInbox};
pub use self::spawn::spawn_detached;
use crate::cases::Cases;
use crate::received::{DynReply, QueuedMessage, Received, message};
use crate::skipped::Skipped;
use crate::types::{DynActor, DynAddr, DynMessage};

/// Returns the calling thread as an actor that takes tuples.
///
/// It has an address, one mailbox for messages of all types, and takes them where it says so:
/// [`receive`](DynThread::receive). Nothing needs to be spawned. When the thread ends, its address has
/// [ended](SendError::Stopped), and so has it when the runtime in which it was first used is shut down;
/// what was not received is dropped.
///
/// ```
/// use coact::dynamic::{DynContext, DynThread, atom, cases, spawn, this_thread};
/// use std::time::Duration;
///
/// let mut me = this_thread();
/// let doubler = spawn(|me: &mut DynContext| {
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
/// Inside of a behaviour, a handler or a future: these run on whatever worker is free, and must not wait
/// there. Use the context, and [`become_`](crate::DynContext::become_).
#[doc(alias = "scoped_actor")]
#[track_caller]
pub fn this_thread() -> DynThread {
    assert_plain("`this_thread`");
    DynThread::of(thread_extension())
}

#[track_caller]
fn assert_plain(what: &str) {
    assert!(
        may_block(),
        "{what} is for plain threads: a behaviour, a handler or a future runs on whatever worker is free, and \
         must not wait there; use the context that cases have, and `become_`"
    );
}

/// A thread's view of itself as an actor: see [`this_thread`].
///
/// All that a thread gets for itself share one mailbox.
pub struct DynThread {
    state: Rc<ThreadState>,
    received: Received,
}

#[derive(Default)]
struct ThreadState {
    inbox: OnceCell<ThreadInbox>,
    skipped: RefCell<Skipped<QueuedMessage>>,
}

impl ThreadState {
    fn inbox(&self) -> &ThreadInbox {
        self.inbox.get_or_init(ThreadInbox::default)
    }
}

impl DynThread {
    fn of(state: Rc<ThreadState>) -> Self {
        Self { state, received: Received::default() }
    }

    /// The thread's address.
    #[must_use]
    pub fn address(&self) -> DynAddr {
        self.state.inbox().address()
    }

    fn own(&self) -> WeakAddr<DynActor> {
        self.state.inbox().weak_address()
    }

    /// Sends a tuple, with this thread as its sender.
    ///
    /// # Errors
    /// See [`DynAddr::send`].
    pub fn send(&self, to: &DynAddr, tuple: impl IntoTuple) -> Result<(), SendError<AnyTuple>> {
        to.send_message(message(&self.own(), to, tuple))
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
        to.send_message(message(&self.own(), to, tuple).tagged(tag))
    }

    /// Who has sent the message that is being handled; `None` if that is unknown.
    #[must_use]
    pub fn sender(&self) -> Option<DynAddr> {
        self.received.sender(&self.own())
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

    /// Answers the message that is being handled: see [`DynContext::reply`](crate::DynContext::reply).
    pub fn reply(&mut self, tuple: impl IntoTuple) {
        let own = self.own();
        self.received.reply(&own, AnyTuple::new(tuple));
    }

    /// Takes the right to answer the message that is being handled: see
    /// [`DynContext::take_reply`](crate::DynContext::take_reply).
    pub fn take_reply(&mut self) -> DynReply {
        let own = self.own();
        self.received.take_reply(&own)
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
        let own = self.own();
        self.received.forward(&own, to, DynMessage::new(tuple))
    }

    /// Takes the oldest message that a case takes, and blocks the thread until there is one. The others
    /// stay, in their order, for later calls. With an `after`, that is done when the time since the call
    /// has passed; a time of zero takes what is there.
    ///
    /// Cases may borrow from the function around them, `cases! { ref |me: &mut DynThread| .. }`, and receive
    /// themselves.
    ///
    /// # Panics
    /// If the thread would wait for ever: there is no `after`, and no address of it is left. Inside of a
    /// behaviour, a handler or a future. A panic of a case comes out, and its ask fails.
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
    pub fn do_receive<'a, 'c>(&'a mut self, cases: Cases<'c, Self>) -> DoReceive<'a, 'c> {
        DoReceive { me: self, cases }
    }

    /// Sends a tuple as a request, whose answer no other cases see: see [`ThreadRequest::await_`].
    pub fn request(&self, to: &DynAddr, tuple: impl IntoTuple) -> ThreadRequest {
        ThreadRequest(to.0.ask(message(&self.own(), to, tuple)))
    }

    #[track_caller]
    fn receive_by<R>(&mut self, cases: &mut Cases<'_, Self, R>) -> R {
        assert_plain("`DynThread::receive`");
        let deadline = cases.timeout().map(|after| now().saturating_add(after));
        if let Some(result) = self.take_skipped(cases) {
            return result;
        }
        loop {
            let left = deadline.map(|deadline| deadline.saturating_sub(now()));
            match self.state.inbox().next(left) {
                Next::Nothing => {}
                Next::Late => return cases.time_out(self).expect("there is an `after`"),
                Next::Message(mut queued) => {
                    if let Some(result) = self.take(cases, &mut queued) {
                        return result;
                    }
                    let shape = queued.message.tuple.shape();
                    self.state.skipped.borrow_mut().push(shape, false, queued);
                }
            }
        }
    }

    /// Takes the oldest message that was skipped and that a case takes.
    fn take_skipped<R>(&mut self, cases: &mut Cases<'_, Self, R>) -> Option<R> {
        let state = Rc::clone(&self.state);
        if state.skipped.borrow().is_empty() {
            return None;
        }
        let fits = |queued: &QueuedMessage| cases.may_take(&queued.message.tuple);
        state.skipped.borrow_mut().refit(fits);
        let mut places = state.skipped.borrow().fitting();
        loop {
            // Not borrowed while cases run, which may receive as well.
            let place = places.next(&state.skipped.borrow())?;
            let queued = state.skipped.borrow_mut().take(place);
            if let Some(mut queued) = queued {
                let result = self.take(cases, &mut queued);
                let mut skipped = state.skipped.borrow_mut();
                if result.is_some() {
                    skipped.remove(place);
                    return result;
                }
                skipped.put_back(place, queued);
            }
        }
    }

    /// Gives a message to the cases. If none takes it, it is as before.
    fn take<R>(&mut self, cases: &mut Cases<'_, Self, R>, queued: &mut QueuedMessage) -> Option<R> {
        let outer = take(&mut self.received);
        self.received.begin(take(&mut queued.message.header), queued.reply.take());
        let turn = Turn { me: self, outer };
        let result = cases.apply_in_place(turn.me, &mut queued.message.tuple, &mut None);
        if result.is_none() {
            turn.me.received.take_back(&mut queued.message, &mut queued.reply);
        }
        result
    }
}

/// While a message is handled: the one around it, if cases receive themselves. After a panic, what was
/// received is dropped with it, so that an ask fails for that reason.
struct Turn<'a> {
    me: &'a mut DynThread,
    outer: Received,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        drop(replace(&mut self.me.received, take(&mut self.outer)));
    }
}

fn now() -> Duration {
    RuntimeHandle::of_any().elapsed()
}

impl Debug for DynThread {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynThread").finish_non_exhaustive()
    }
}

/// A loop that ends when a condition holds: see [`DynThread::do_receive`].
#[must_use = "nothing is received until `until` says for how long"]
pub struct DoReceive<'a, 'c> {
    me: &'a mut DynThread,
    cases: Cases<'c, DynThread>,
}

impl DoReceive<'_, '_> {
    /// Receives until the condition holds, at least once.
    ///
    /// # Panics
    /// See [`DynThread::receive`].
    #[track_caller]
    pub fn until(mut self, mut condition: impl FnMut(&mut DynThread) -> bool) {
        loop {
            self.me.receive_by(&mut self.cases);
            if condition(self.me) {
                return;
            }
        }
    }
}

impl Debug for DoReceive<'_, '_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoReceive").finish_non_exhaustive()
    }
}

/// A request of a thread, which was sent: see [`DynThread::request`].
#[must_use = "a request whose answer is not needed is a `send`"]
pub struct ThreadRequest(Ask<AnyTuple>);

impl ThreadRequest {
    /// Blocks the thread until the answer is there, and gives it to the cases. Messages stay where they
    /// are. If there will be no answer, the cases get the reason, an [`AskError`], as a tuple of one
    /// element. After the time of `after`, a later answer is dropped.
    ///
    /// ```
    /// use coact::actor::AskError;
    /// use coact::dynamic::{DynContext, DynThread, atom, cases, spawn, this_thread};
    /// use std::time::Duration;
    ///
    /// let testee = spawn(|me: &mut DynContext| {
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
    /// If the cases have no `after`: an actor that does not answer would stop the thread for ever. If none
    /// of them takes the answer. Inside of a behaviour, a handler or a future.
    #[doc(alias = "receive_response")]
    #[track_caller]
    pub fn await_<R>(self, me: &mut DynThread, mut cases: Cases<'_, DynThread, R>) -> R {
        let Some(after) = cases.timeout() else {
            panic!(
                "what is awaited needs an `after`: without an answer, the thread would wait for ever"
            );
        };
        let answered = match self.0.timeout(after).wait() {
            Ok(tuple) => cases.apply(me, tuple),
            Err(AskError::Timeout(_)) => {
                return cases.time_out(me).expect("there is an `after`");
            }
            Err(error) => cases.apply(me, AnyTuple::new(error)),
        };
        match answered {
            Ok(result) => result,
            Err(tuple) => panic!("there is no case for an answer: {}", cases.explain(&tuple)),
        }
    }
}

impl Debug for ThreadRequest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadRequest").finish_non_exhaustive()
    }
}

//! Plain threads as actors: any thread can receive messages and answer asks.
//!
//! A thread gets its identity on first use; nothing needs to be spawned. It has a [`Recipient`] for
//! each kind of message; messages of one kind are kept in order of arrival until the thread
//! receives them. Its mailbox is unbounded.
//!
//! ```
//! # mod coact { pub use {coact_actor::*, coact_core::*}; }
//! use coact::{Message, this_thread};
//! use coact::actor::Recipient;
//!
//! struct Greeting(&'static str);
//! impl Message for Greeting { type Reply = usize; }
//!
//! let main: Recipient<Greeting> = this_thread::recipient();
//! let other = std::thread::spawn(move || main.ask(Greeting("hello")).wait());
//! this_thread::answer(|greeting: Greeting| greeting.0.len());
//! assert_eq!(other.join().unwrap(), Ok(5));
//! ```
//!
//! When the thread ends, its recipients have [ended](crate::actor::SendError::Stopped), and the
//! messages that it has not received are dropped; asks among them fail.
//!
//! # Not inside actors
//!
//! Behaviours, handlers and futures run on whatever worker is free, so "this thread" has no meaning
//! there, and waiting would stop other work: all functions here except [`id`] panic there. Use
//! [`Context::address`](crate::Context::address) instead. (Behaviours on blocking threads may wait,
//! so nothing panics there; the thread is any of the pool.)

use std::any::{Any, TypeId, type_name};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use coact_core::Promise;
use coact_core::internals::{catch, drop_quietly, owed_by, thread_extension, wait_for};
use coact_core::runtime::may_block;

use crate::ask::Ask;
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::in_flight::InFlightToken;
use crate::message::Message;
use crate::recipient::{MessageReceiver, Recipient};
use crate::reply::Reply;
use crate::send_error::SendError;
use crate::thread_queue::ThreadQueue;

/// Returns the identity of the calling thread, among those of actors.
pub fn id() -> ActorId {
    thread_extension::<ThreadIdentity>().id
}

/// Returns the calling thread as the recipient of one kind of message.
///
/// # Panics
/// Panics inside a behaviour, a handler or a future.
#[track_caller]
pub fn recipient<M: Message>() -> Recipient<M> {
    assert_plain("`this_thread::recipient`");
    Recipient::of(inbox::<M>())
}

/// Receives the next message of a kind, and blocks the calling thread until it arrives. If it was
/// asked rather than sent, the ask fails: see [`answer`] and [`receive_with_reply`].
///
/// # Panics
/// Panics inside a behaviour, a handler or a future; and if this thread's recipient for such
/// messages no longer exists, or never did, so that no message can arrive.
#[track_caller]
pub fn receive<M: Message>() -> M {
    assert_plain("`this_thread::receive`");
    wait_for_next().0
}

/// Receives the next message of a kind, if it arrives in time.
///
/// # Panics
/// See [`receive`].
#[track_caller]
pub fn receive_timeout<M: Message>(timeout: Duration) -> Option<M> {
    assert_plain("`this_thread::receive_timeout`");
    next(Some(timeout)).map(|(message, _)| message)
}

/// Receives the next message of a kind, if it has already arrived.
///
/// # Panics
/// See [`receive`].
#[track_caller]
pub fn try_receive<M: Message>() -> Option<M> {
    assert_plain("`this_thread::try_receive`");
    inbox::<M>().queue.take().map(|(message, _)| message)
}

/// Receives the next message of a kind with its reply; blocks like [`receive`].
///
/// # Panics
/// See [`receive`].
#[track_caller]
pub fn receive_with_reply<M: Message>() -> (M, Reply<M::Reply>) {
    assert_plain("`this_thread::receive_with_reply`");
    wait_for_next()
}

/// Handles the next message of a kind, and answers it; blocks like [`receive`].
///
/// # Panics
/// See [`receive`]. A panic of the closure is passed on, and the ask fails.
#[track_caller]
pub fn answer<M: Message>(handle: impl FnOnce(M) -> M::Reply) {
    assert_plain("`this_thread::answer`");
    let (message, reply) = wait_for_next();
    reply.send(handle(message));
}

#[track_caller]
fn assert_plain(what: &str) {
    assert!(
        may_block(),
        "{what} is for plain threads: a behaviour, a handler or a future runs on whatever worker is free, and \
         must not wait there; use `Context::address` and handle the message"
    );
}

#[track_caller]
fn wait_for_next<M: Message>() -> IncomingMessage<M> {
    next(None).expect("there is no timeout")
}

type IncomingMessage<M> = (M, Reply<<M as Message>::Reply>);

#[track_caller]
fn next<M: Message>(timeout: Option<Duration>) -> Option<IncomingMessage<M>> {
    let inbox = inbox::<M>();
    let what = fmt::from_fn(|f| write!(f, "a message `{}` to this thread", type_name::<M>()));
    loop {
        let (resolver, woken) = Promise::channel();
        if let Some(message) = inbox.queue.take_or_wait(resolver, timeout.is_some()) {
            return Some(message);
        }
        match timeout {
            None => {
                assert!(
                    inbox.can_get_more(),
                    "this thread would wait forever for {what}: it has no recipient \
                     (`this_thread::recipient`)"
                );
                drop(wait_for(woken, &what));
            }
            // Only this thread takes messages: if it was woken, there is one.
            Some(timeout) => {
                drop(woken.wait_timeout(timeout));
                return inbox.queue.take();
            }
        }
    }
}

/// Returns the calling thread's inbox for one kind of message.
fn inbox<M: Message>() -> Arc<MessageInbox<M>> {
    let identity = thread_extension::<ThreadIdentity>();
    let mut inboxes = identity.inboxes.borrow_mut();
    let inbox = inboxes.entry(TypeId::of::<M>()).or_insert_with(|| {
        Box::new(Arc::new(MessageInbox::<M> { owner: identity.id, queue: ThreadQueue::default() }))
    });
    let inbox = inbox.as_any().downcast_ref::<Arc<MessageInbox<M>>>().expect("kept by its type");
    Arc::clone(inbox)
}

/// The state that makes a thread an actor.
struct ThreadIdentity {
    id: ActorId,
    inboxes: RefCell<BTreeMap<TypeId, Box<dyn AnyInbox>>>,
}

impl Default for ThreadIdentity {
    fn default() -> Self {
        Self { id: ActorId::next(), inboxes: RefCell::default() }
    }
}

impl Drop for ThreadIdentity {
    fn drop(&mut self) {
        for inbox in self.inboxes.take().values() {
            inbox.end();
        }
    }
}

/// An inbox for any kind of message.
trait AnyInbox {
    fn as_any(&self) -> &dyn Any;
    /// Called when the thread has ended.
    fn end(&self);
}

/// The messages of one kind that have arrived for one thread.
struct MessageInbox<M: Message> {
    owner: ActorId,
    queue: ThreadQueue<IncomingMessage<M>>,
}

impl<M: Message> MessageInbox<M> {
    /// Returns whether there is a message, or a recipient to which one could be sent. This thread
    /// has two references itself: the caller's, and that of its identity.
    fn can_get_more(self: &Arc<Self>) -> bool {
        if Arc::strong_count(self) > 2 {
            return true;
        }
        // ORDERING: Acquire pairs with the release of the last recipient's drop, perhaps after a
        // last message.
        fence(Ordering::Acquire);
        !self.queue.is_empty()
    }
}

impl<M: Message> AnyInbox for Arc<MessageInbox<M>> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn end(&self) {
        for (message, reply) in self.queue.close() {
            drop_quietly(|| drop(message));
            // The waker may run user code: its panic must not keep the other replies from being
            // refused.
            let _ = catch(|| reply.refuse(&ExitReason::Normal));
        }
    }
}

impl<M: Message> MessageReceiver<M> for MessageInbox<M> {
    fn send(&self, message: M) -> Result<(), SendError<M>> {
        self.forward(message, Reply::unwanted())
    }

    fn forward(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>> {
        self.queue.add((message, reply)).map_err(|(message, reply)| {
            reply.refuse(&ExitReason::Normal);
            SendError::Stopped(message)
        })
    }

    fn ask(&self, message: M) -> Ask<M::Reply> {
        // If the thread has ended, the reply says so.
        self.ask_counted(message, None).0
    }

    /// Messages that a thread has not received are not counted.
    fn send_counted(&self, message: M, _: Option<InFlightToken>) -> Result<(), SendError<M>> {
        self.send(message)
    }

    fn ask_counted(
        &self,
        message: M,
        _: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        let (reply, promise) = Reply::channel();
        owed_by(&promise, |f| write!(f, "a thread's answer to `{}`", type_name::<M>()));
        let sent = self.forward(message, reply);
        (Ask::new(promise), sent)
    }

    fn id(&self) -> ActorId {
        self.owner
    }

    fn has_ended(&self) -> bool {
        self.queue.is_closed()
    }
}

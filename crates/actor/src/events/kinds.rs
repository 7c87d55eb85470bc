//! What the runtime itself tells, and how often it did.

use std::any::{TypeId, type_name};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use coact_core::runtime::RuntimeHandle;

use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::services::Services;
use crate::traits::{Actor, Message};

/// A message was dropped, since its receiver ended before the message's turn came.
///
/// (A message that could not be sent at all is not dead: its sender gets it back.)
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The name of the message's type.
    pub message: &'static str,
    /// Whom it was for.
    pub actor: ActorId,
    /// The name of that actor's type.
    pub actor_type: &'static str,
    /// Why that actor ended.
    pub reason: ExitReason,
}

/// An actor has begun: its [`started`](Actor::started) was called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorStarted {
    /// Who.
    pub actor: ActorId,
    /// The name of its type.
    pub actor_type: &'static str,
}

/// An actor has ended; its state is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorStopped {
    /// Who.
    pub actor: ActorId,
    /// The name of its type.
    pub actor_type: &'static str,
    /// Why.
    pub reason: ExitReason,
}

/// An actor has panicked, and nothing was done about it yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorFailed {
    /// Who.
    pub actor: ActorId,
    /// The name of its type.
    pub actor_type: &'static str,
    /// How.
    pub reason: ExitReason,
}

/// An actor goes on with a new state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorRestarted {
    /// Who.
    pub actor: ActorId,
    /// The name of its type.
    pub actor_type: &'static str,
    /// What became of the old state.
    pub reason: ExitReason,
}

/// A mailbox has dropped a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageDropped {
    /// The name of the message's type.
    pub message: &'static str,
    /// Whose mailbox.
    pub actor: ActorId,
    /// Why.
    pub cause: DropCause,
}

/// Why a mailbox drops a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropCause {
    /// It was full when the message came from a [`Topic`](crate::pubsub::Topic), which has nobody to give it
    /// back to.
    Full,
    /// It was full, and its policy is to drop the [newest](crate::mailbox::Mailbox::drop_newest) message, or the
    /// [oldest](crate::mailbox::Mailbox::drop_oldest).
    Policy,
}

/// An answer came after the time that the asker would wait, and was dropped.
///
/// It is told in the runtime of the thread that answers; if that has entered none, in the
/// [default](coact_core::runtime::Builder::as_default) one, or else in any that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LateReply {
    /// The name of the answer's type.
    pub reply: &'static str,
}

macro_rules! messages {
    ($($event:ty),*) => {
        // Whoever has forgotten to make a message of a type is not helped by a list of these.
        $(#[diagnostic::do_not_recommend]
        impl Message for $event {
            type Reply = ();
        })*
    };
}

messages!(
    DeadLetter,
    ActorStarted,
    ActorStopped,
    ActorFailed,
    ActorRestarted,
    MessageDropped,
    LateReply
);

/// How often things have gone wrong in a runtime and the others of its group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventCounts {
    /// See [`DeadLetter`].
    pub dead_letters: u64,
    /// See [`ActorFailed`].
    pub failures: u64,
    /// See [`ActorRestarted`].
    pub restarts: u64,
    /// See [`MessageDropped`].
    pub dropped_messages: u64,
    /// See [`LateReply`].
    pub late_replies: u64,
}

/// [`EventCounts`] that go on.
#[derive(Default)]
pub(super) struct Counts {
    dead_letters: AtomicU64,
    failures: AtomicU64,
    restarts: AtomicU64,
    dropped_messages: AtomicU64,
    late_replies: AtomicU64,
}

impl Counts {
    pub(super) fn get(&self) -> EventCounts {
        // ORDERING: Relaxed, all. They count, and tell of nothing else, not even of one another.
        EventCounts {
            dead_letters: self.dead_letters.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            restarts: self.restarts.load(Ordering::Relaxed),
            dropped_messages: self.dropped_messages.load(Ordering::Relaxed),
            late_replies: self.late_replies.load(Ordering::Relaxed),
        }
    }
}

fn count(counter: &AtomicU64) {
    // ORDERING: Relaxed. See `Counts::get`.
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Whether anybody in the process has ever asked for the beginnings or ends of actors: they come too often to look for
/// each one's subscribers.
static ARE_LIVES_WATCHED: AtomicBool = AtomicBool::new(false);

#[inline]
pub(crate) fn are_lives_watched() -> bool {
    // ORDERING: Relaxed. Who is to see a subscription has learnt of it by other means, and of this before it.
    ARE_LIVES_WATCHED.load(Ordering::Relaxed)
}

/// The topic of these events was asked for.
pub(super) fn note_topic_of(event: TypeId) {
    if [TypeId::of::<ActorStarted>(), TypeId::of::<ActorStopped>()].contains(&event) {
        // ORDERING: Relaxed, as above.
        ARE_LIVES_WATCHED.store(true, Ordering::Relaxed);
    }
}

/// Who something is told of: its type is but a name here, so that the telling exists only once.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    actor: ActorId,
    actor_type: &'static str,
}

impl Subject {
    #[inline]
    pub(crate) fn new<A: Actor>(actor: ActorId) -> Self {
        Self { actor, actor_type: type_name::<A>() }
    }

    #[cold]
    pub(crate) fn missed(self, message: &'static str, reason: &ExitReason) {
        let Self { actor, actor_type } = self;
        let bus = &Services::here().bus;
        count(&bus.counts.dead_letters);
        let event = || DeadLetter { message, actor, actor_type, reason: reason.clone() };
        bus.dead_letters.publish_with(event);
    }

    #[inline]
    pub(crate) fn started(self) {
        if are_lives_watched() {
            self.tell_start();
        }
    }

    #[cold]
    fn tell_start(self) {
        let Self { actor, actor_type } = self;
        Services::here().bus.started.publish_with(|| ActorStarted { actor, actor_type });
    }

    #[inline]
    pub(crate) fn stopped(self, reason: &ExitReason) {
        if are_lives_watched() {
            self.tell_end(reason);
        }
    }

    #[cold]
    fn tell_end(self, reason: &ExitReason) {
        let Self { actor, actor_type } = self;
        let event = || ActorStopped { actor, actor_type, reason: reason.clone() };
        Services::here().bus.stopped.publish_with(event);
    }

    #[cold]
    pub(crate) fn failed(self, reason: &ExitReason) {
        let Self { actor, actor_type } = self;
        let bus = &Services::here().bus;
        count(&bus.counts.failures);
        bus.failed.publish_with(|| ActorFailed { actor, actor_type, reason: reason.clone() });
    }

    #[cold]
    pub(crate) fn restarted(self, reason: &ExitReason) {
        let Self { actor, actor_type } = self;
        let bus = &Services::here().bus;
        count(&bus.counts.restarts);
        bus.restarted.publish_with(|| ActorRestarted { actor, actor_type, reason: reason.clone() });
    }
}

#[cold]
pub(crate) fn message_dropped(
    home: RuntimeHandle,
    actor: ActorId,
    message: &'static str,
    cause: DropCause,
) {
    let bus = &Services::of(home).bus;
    count(&bus.counts.dropped_messages);
    if message == type_name::<MessageDropped>() {
        // Its receiver has no room for the news that it has no room.
        return;
    }
    bus.dropped.publish_with(|| MessageDropped { message, actor, cause });
}

/// An answer of this type has come too late.
#[cold]
pub(crate) fn late_reply(reply: &'static str) {
    let bus = &Services::here().bus;
    count(&bus.counts.late_replies);
    bus.late.publish_with(|| LateReply { reply });
}

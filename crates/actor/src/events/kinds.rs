//! The runtime's own events, and their counts.

use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::message::Message;

/// A message was dropped because its receiver ended before the message's turn.
///
/// (A message that could not be sent at all is not a dead letter: the error returns it to its
/// sender.)
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The name of the message's type.
    pub message: &'static str,
    /// The actor that it was for.
    pub actor: ActorId,
    /// The name of that actor's type.
    pub actor_type: &'static str,
    /// Why that actor ended.
    pub reason: ExitReason,
}

/// An actor has started: its [`started`](crate::Actor::started) was called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorStarted {
    /// The actor.
    pub actor: ActorId,
    /// The name of its type.
    pub actor_type: &'static str,
}

/// An actor has ended; its state has been dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorStopped {
    /// The actor.
    pub actor: ActorId,
    /// The name of its type.
    pub actor_type: &'static str,
    /// Why it ended.
    pub reason: ExitReason,
}

/// An actor has panicked, and the panic has not been handled yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorFailed {
    /// The actor.
    pub actor: ActorId,
    /// The name of its type.
    pub actor_type: &'static str,
    /// The panic.
    pub reason: ExitReason,
}

/// An actor continues with a new state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorRestarted {
    /// The actor.
    pub actor: ActorId,
    /// The name of its type.
    pub actor_type: &'static str,
    /// Why the old state was replaced.
    pub reason: ExitReason,
}

/// A message was dropped in the mailbox of an actor that is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageDropped {
    /// The name of the message's type.
    pub message: &'static str,
    /// The actor whose mailbox it is.
    pub actor: ActorId,
    /// Why the message was dropped.
    pub cause: DropCause,
}

/// Why a message was dropped in the mailbox of an actor that is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropCause {
    /// It was full when the message arrived from a [`Topic`](crate::pubsub::Topic), which has no
    /// sender to return it to.
    Full,
    /// It was full, and its policy is to drop the [newest](crate::mailbox::Mailbox::drop_newest)
    /// message, or the [oldest](crate::mailbox::Mailbox::drop_oldest).
    Policy,
    /// The actor was restarted, and reads the message again: it is an item of a stream that is
    /// [replayed](crate::stream::Feed::replayed_at_restart) to the next state.
    Restart,
}

/// An answer arrived after the asker's time limit, and was dropped.
///
/// Published in the runtime of the thread that answers; if that has entered none, in the
/// [default](coact_core::runtime::Builder::as_default) one, or else in any that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LateReply {
    /// The name of the answer's type.
    pub reply: &'static str,
}

macro_rules! messages {
    ($($event:ty),*) => {
        // A list of these types does not help to fix a missing `Message` implementation.
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

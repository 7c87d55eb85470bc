//! What the runtime itself tells, and how often it did.

use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::message::Message;

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

/// An actor has begun: its [`started`](crate::Actor::started) was called.
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

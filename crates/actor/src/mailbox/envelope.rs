//! Envelopes: messages of any type on their way to an actor.

use std::any::Any;
use std::collections::VecDeque;

use coact_core::credits::Permit;
use coact_core::internals::drop_quietly;
use coact_core::runtime::RuntimeHandle;

use crate::events::{DropCause, EventSubject, message_dropped};
use crate::id::ActorId;
use crate::message::Message;
use crate::reply::Reply;
use crate::send_error::AskError;

/// A message with its reply, independent of its type.
pub(crate) trait Envelope: Send {
    /// Gives the message the room that it had in a bounded mailbox.
    fn leaves_mailbox(&mut self, room: Permit);

    /// Delivers the message to the actor, whose [`ActorCell`] this is.
    fn deliver(self: Box<Self>, cell: &mut dyn Any);

    /// Returns the function that names it in reports.
    fn name(&self) -> fn() -> &'static str;

    /// Drops the message because there is no room.
    fn drop_for_room(self: Box<Self>, home: RuntimeHandle, actor: ActorId);
}

/// A queue of envelopes. They are dropped one by one, so that a destructor that panics does not
/// affect the next.
#[derive(Default)]
pub(crate) struct Envelopes(VecDeque<Box<dyn Envelope>>);

impl Envelopes {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push_back(&mut self, envelope: Box<dyn Envelope>) {
        self.0.push_back(envelope);
    }

    pub(crate) fn pop_front(&mut self) -> Option<Box<dyn Envelope>> {
        self.0.pop_front()
    }

    /// Takes up to `count` from the front.
    pub(crate) fn take_first(&mut self, count: usize) -> Envelopes {
        Envelopes(self.0.drain(..count.min(self.0.len())).collect())
    }

    /// Puts these before the others.
    pub(crate) fn prepend(&mut self, mut first: Envelopes) {
        first.0.append(&mut self.0);
        std::mem::swap(&mut first.0, &mut self.0);
    }
}

impl Drop for Envelopes {
    fn drop(&mut self) {
        while let Some(envelope) = self.pop_front() {
            drop_quietly(move || drop(envelope));
        }
    }
}

/// Drops a message to an actor of type `A` because there is no room. The message may be another
/// sender's, so a panic of its destructor is caught.
pub(crate) fn drop_for_room<A, M: Message>(
    home: RuntimeHandle,
    actor: ActorId,
    message: M,
    reply: Reply<M::Reply>,
) {
    message_dropped(home, EventSubject::new::<A>(actor), message, DropCause::Policy);
    reply.fail(AskError::Full);
}

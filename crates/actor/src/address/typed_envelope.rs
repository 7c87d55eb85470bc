//! Messages without their type, for an actor of a certain type.

use std::any::{Any, type_name};
use std::marker::PhantomData;

use coact_core::credits::Permit;
use coact_core::internals::named;
use coact_core::runtime::RuntimeHandle;

use crate::handler::MessageTo;
use crate::id::ActorId;
use crate::mailbox::{Envelope, drop_for_room};
use crate::message::Message;
use crate::parts::{Actor, ActorCell};
use crate::reply::Reply;

/// A message to an actor of type `A`.
struct TypedEnvelope<A, M: Message> {
    message: M,
    reply: Reply<M::Reply>,
    to: PhantomData<fn(A)>,
}

/// Puts a message, with its reply, into an envelope.
pub(crate) fn envelope<A, M>(message: M, reply: Reply<M::Reply>) -> Box<dyn Envelope>
where
    A: Actor,
    M: MessageTo<A>,
{
    Box::new(TypedEnvelope::<A, M> { message, reply, to: PhantomData })
}

impl<A: Actor, M: MessageTo<A>> Envelope for TypedEnvelope<A, M> {
    fn leaves_mailbox(&mut self, room: Permit) {
        self.message.leaves_mailbox(room);
    }

    fn deliver(self: Box<Self>, cell: &mut dyn Any) {
        let cell = cell
            .downcast_mut::<ActorCell<A>>()
            .expect("an envelope is delivered to the actor to which it is addressed");
        named::<(A, M), _>(|| cell.receive(self.message, self.reply));
    }

    fn name(&self) -> fn() -> &'static str {
        type_name::<(A, M)>
    }

    fn drop_for_room(self: Box<Self>, home: RuntimeHandle, actor: ActorId) {
        drop_for_room::<A, M>(home, actor, self.message, self.reply);
    }
}

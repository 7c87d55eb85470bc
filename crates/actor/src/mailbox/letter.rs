//! Messages on their way to an actor, of any type.

use std::any::Any;
use std::collections::VecDeque;
use std::marker::PhantomData;

use coact_core::catch;

use crate::cell::Cell;
use crate::{Actor, AskError, Message, MessageTo, Reply};

/// A message with its reply, whatever its type.
pub(crate) trait Letter: Send {
    /// Gives it to the actor, whose [`Cell`] this is.
    fn deliver(self: Box<Self>, cell: &mut dyn Any);

    /// Drops it, since there is no room for it. Returns the name of the message's type.
    fn drop_for_room(self: Box<Self>) -> &'static str;
}

/// Messages in their order.
pub(crate) type Letters = VecDeque<Box<dyn Letter>>;

struct Addressed<A, M: Message> {
    message: M,
    reply: Reply<M::Reply>,
    to: PhantomData<fn(A)>,
}

pub(crate) fn letter<A, M>(message: M, reply: Reply<M::Reply>) -> Box<dyn Letter>
where
    A: Actor,
    M: MessageTo<A>,
{
    Box::new(Addressed::<A, M> { message, reply, to: PhantomData })
}

impl<A: Actor, M: MessageTo<A>> Letter for Addressed<A, M> {
    fn deliver(self: Box<Self>, cell: &mut dyn Any) {
        let cell = cell.downcast_mut::<Cell<A>>().expect("a letter comes to whom it was written");
        cell.receive(self.message, self.reply);
    }

    fn drop_for_room(self: Box<Self>) -> &'static str {
        drop_for_room(self.message, self.reply)
    }
}

/// Drops a message that there is no room for. It is somebody else's, maybe: its destructor's panic
/// is not the caller's.
pub(super) fn drop_for_room<M: Message>(message: M, reply: Reply<M::Reply>) -> &'static str {
    let _ = catch(move || drop(message));
    reply.fail(AskError::Full);
    std::any::type_name::<M>()
}

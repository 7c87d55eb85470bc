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

/// Messages in their order. Each is somebody's: what is left in the end is dropped one by one, so
/// that the panic of one's destructor does not concern the next.
#[derive(Default)]
pub(crate) struct Letters(VecDeque<Box<dyn Letter>>);

impl Letters {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push_back(&mut self, letter: Box<dyn Letter>) {
        self.0.push_back(letter);
    }

    pub(crate) fn pop_front(&mut self) -> Option<Box<dyn Letter>> {
        self.0.pop_front()
    }

    /// Takes so many from the front, or all if there are fewer.
    pub(crate) fn take_first(&mut self, count: usize) -> Letters {
        Letters(self.0.drain(..count.min(self.0.len())).collect())
    }

    /// Puts these before the others.
    pub(crate) fn prepend(&mut self, mut first: Letters) {
        first.0.append(&mut self.0);
        std::mem::swap(&mut first.0, &mut self.0);
    }
}

impl Drop for Letters {
    fn drop(&mut self) {
        while let Some(letter) = self.pop_front() {
            let _ = catch(move || drop(letter));
        }
    }
}

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

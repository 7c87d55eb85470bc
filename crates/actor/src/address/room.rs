//! Waiting for room in mailboxes: in one, in one of several, and by held actors.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use coact_core::credits::{Acquire, Permit};

use super::Addr;
use crate::ask::Ask;
use crate::backpressure::{PermitFuture, SendPermit};
use crate::cycle::{self, AskCycle, AskWait, TrackedWait};
use crate::handler::MessageTo;
use crate::parts::Actor;
use crate::reply::Reply;
use crate::send_error::SendError;

/// Room for one message in a mailbox for which senders wait. Its position among the waiting senders
/// is taken when it is created.
///
/// If the waiting actor is held meanwhile, and there can only be room after it has continued, the
/// wait fails; the error contains the circle.
pub(crate) struct RoomWait {
    acquire: Acquire,
    waiting: Option<TrackedWait>,
}

impl RoomWait {
    pub(super) fn new<A: Actor>(of: &Addr<A>, acquire: Acquire, alone: bool) -> Self {
        let held_actor = cycle::held_actor().filter(|_| alone);
        let waiting = held_actor.map(|held_actor| {
            TrackedWait::new(AskWait::for_room(held_actor, of.to_any(), of.queue_id()))
        });
        Self { acquire, waiting }
    }
}

impl Future for RoomWait {
    type Output = Result<Permit, Arc<AskCycle>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Poll::Ready(permit) = Pin::new(&mut this.acquire).poll(context) {
            this.waiting = None;
            return Poll::Ready(Ok(permit));
        }
        if let Some(waiting) = &mut this.waiting {
            waiting.goes_on(context.waker());
            if let Some(circle) = waiting.failure() {
                return Poll::Ready(Err(circle));
            }
        }
        Poll::Pending
    }
}

struct PermitAt<A: Actor> {
    to: Addr<A>,
    permit: Permit,
}

impl<A: Actor, M: MessageTo<A>> SendPermit<M> for PermitAt<A> {
    fn send(self: Box<Self>, message: M) -> Result<(), SendError<M>> {
        self.to.post_with(Some(self.permit), message, Reply::unwanted())
    }

    fn ask(self: Box<Self>, message: M) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        let (reply, ask) = self.to.question::<M>();
        (ask, self.to.post_with(Some(self.permit), message, reply))
    }
}

impl<A: Actor> Addr<A> {
    /// Waits for room for a message of this type; `None` if there is nothing to wait for, because
    /// the mailbox is unbounded or has another policy. `alone`: whether no other mailbox would do.
    pub(crate) fn reserve<M: MessageTo<A>>(&self, alone: bool) -> Option<PermitFuture<M>> {
        let (to, room) = (self.clone(), self.room::<M>(alone)?);
        Some(Box::pin(async move {
            let permit = room.await?;
            Ok(Box::new(PermitAt { to, permit }) as Box<dyn SendPermit<M>>)
        }))
    }
}

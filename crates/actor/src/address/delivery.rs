//! Deliveries: what the runtime's own behaviours bring to an actor.

use std::any::type_name;

use coact_core::credits::Permit;
use coact_core::internals::QueuePosition;

use super::lane_ticket::LaneTicket;
use crate::cell::receive::drop_unhandled;
use crate::in_flight::InFlightToken;
use crate::mailbox::Envelope;
use crate::parts::{Actor, ActorCell, Addr};

/// One message. All kinds of it share the code of their behaviour.
pub(super) enum Delivery {
    /// The permit is returned before the message is handled, the token is dropped after that.
    Message { envelope: Box<dyn Envelope>, permit: Option<Permit>, token: Option<InFlightToken> },
    /// The message of the mailbox whose turn it is; with the lane of the message for which the
    /// ticket was made.
    Next(LaneTicket, usize),
}

impl Delivery {
    /// A closure whose type does not depend on the message's.
    fn bring<A: Actor>(self) -> impl FnOnce(&mut ActorCell<A>) + Send + 'static {
        move |cell| self.deliver(cell)
    }

    fn deliver<A: Actor>(self, cell: &mut ActorCell<A>) {
        match self {
            Self::Message { mut envelope, permit, token } => {
                let _token = token;
                if let Some(room) = permit {
                    envelope.leaves_mailbox(room);
                }
                envelope.deliver(cell);
            }
            Self::Next(ticket, lane) => ticket.come(lane, cell),
        }
    }
}

impl<A: Actor> Addr<A> {
    /// Queues what brings a message of type `M`. Returns its place, if it is in a queue by itself.
    #[cfg_attr(feature = "sim", track_caller)]
    pub(super) fn queue_delivery<M>(&self, delivery: Delivery) -> Option<QueuePosition> {
        self.cown().spawn_placed_as::<(A, M), _>(delivery.bring())
    }

    /// Gives a message of type `M` to an actor that runs on its callers, at once, on this thread.
    ///
    /// # Errors
    /// Returns it if the actor is busy.
    #[inline]
    pub(super) fn serve<M, P: Send>(
        &self,
        batch: u32,
        put: P,
        give: impl FnOnce(P, &mut ActorCell<A>) + Send,
    ) -> Result<(), P> {
        let (mut put, mut give) = (Some(put), Some(give));
        let is_served = self.cown().serve_by_ref(batch, type_name::<(A, M)>, &mut |cell| {
            if let (Some(put), Some(give)) = (put.take(), give.take()) {
                give(put, cell);
            }
        });
        match put {
            None => Ok(()),
            Some(put) if !is_served => Err(put),
            // The runtime is past its shutdown's deadline.
            Some(put) => {
                drop_unhandled(put);
                Ok(())
            }
        }
    }
}

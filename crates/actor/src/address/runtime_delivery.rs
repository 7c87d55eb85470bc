//! Deliveries: what the runtime's own behaviours bring to an actor.

use coact_core::credits::Permit;
use coact_core::internals::QueuePosition;

use super::lane_ticket::Ticket;
use crate::definitions::{Actor, Addr, Cell};
use crate::in_flight::InFlightToken;
use crate::mailbox::Envelope;

/// One message. All kinds of it share the code of their behaviour.
pub(super) enum Delivery {
    /// The permit is returned before the message is handled, the token is dropped after that.
    Message { envelope: Box<dyn Envelope>, permit: Option<Permit>, token: Option<InFlightToken> },
    /// The message of the mailbox whose turn it is; with the lane of the message for which the
    /// ticket was made.
    Next(Ticket, usize),
}

impl Delivery {
    fn deliver<A: Actor>(self, cell: &mut Cell<A>) {
        match self {
            Self::Message { envelope, permit, token } => {
                let _token = token;
                drop(permit);
                envelope.deliver(cell);
            }
            Self::Next(ticket, lane) => ticket.come(lane, cell),
        }
    }
}

impl<A: Actor> Addr<A> {
    /// Queues the message. Returns its place, if it is in a queue by itself.
    pub(super) fn queue_delivery(&self, delivery: Delivery) -> Option<QueuePosition> {
        self.cown().spawn_placed(move |cell| delivery.deliver(cell))
    }

    /// Like [`queue_delivery`](Self::queue_delivery), for an actor that runs on its callers: the
    /// message is handled at once if the actor is idle.
    pub(super) fn serve_delivery(&self, batch: u32, delivery: Delivery) -> Option<QueuePosition> {
        self.cown().serve_placed(batch, move |cell| delivery.deliver(cell))
    }
}

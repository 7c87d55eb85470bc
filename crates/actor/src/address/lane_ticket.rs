//! Tickets: they are in the cown's queue in the place of messages kept in lanes.

use std::sync::Arc;

use coact_core::internals::goes_on_with;
use coact_core::runtime::RuntimeHandle;

use crate::mailbox::{QueuedMessage, SharedMailbox, SortedMessages, TicketNumber};
use crate::parts::{Actor, ActorCell};

/// The right to take one message. If dropped unused, as at the end of the runtime, it takes a
/// message with it.
pub(super) struct LaneTicket {
    queue: Arc<SharedMailbox>,
    number: TicketNumber,
    used: bool,
}

impl LaneTicket {
    pub(super) fn new(queue: Arc<SharedMailbox>, number: TicketNumber) -> Self {
        Self { queue, number, used: false }
    }

    fn sorted(&self) -> &SortedMessages {
        self.queue.sorted.as_ref().expect("there are tickets only where messages are sorted")
    }

    /// Handles the ticket, made for a message in this lane, at the actor: passes it the message
    /// whose turn it is.
    pub(super) fn come<A: Actor>(mut self, lane: usize, cell: &mut ActorCell<A>) {
        self.used = true;
        let (queued, dropped) = self.sorted().take(self.number);
        self.queue.drop_oldest(RuntimeHandle::current(), cell.shared().id(), lane, dropped);
        drop(self);
        if let Some(QueuedMessage { mut envelope, permit }) = queued {
            // Its room is free from now on, unless the message keeps it.
            if let Some(room) = permit {
                envelope.leaves_mailbox(room);
            }
            // Known only now.
            goes_on_with(envelope.name());
            envelope.deliver(cell);
        }
    }
}

impl Drop for LaneTicket {
    fn drop(&mut self) {
        if !self.used {
            drop(self.sorted().take(self.number));
        }
    }
}

//! What stands in the cown's queue in the place of messages that lie in lanes.

use std::sync::Arc;

use coact_core::runtime::RuntimeHandle;

use crate::mailbox::{Number, Queue, QueuedMessage, Sorted};
use crate::parts::{Actor, Cell};

/// The right to take one message. Dropped unused, as at the end of the runtime, it takes a message
/// along.
pub(super) struct Ticket {
    queue: Arc<Queue>,
    number: Number,
    used: bool,
}

impl Ticket {
    pub(super) fn new(queue: Arc<Queue>, number: Number) -> Self {
        Self { queue, number, used: false }
    }

    fn sorted(&self) -> &Sorted {
        self.queue.sorted.as_ref().expect("there are tickets only where messages are sorted")
    }

    /// The ticket, made for a message in this lane, has come to the actor: the message whose turn it
    /// is goes to it.
    pub(super) fn come<A: Actor>(mut self, lane: usize, cell: &mut Cell<A>) {
        self.used = true;
        let (queued, dropped) = self.sorted().take(self.number);
        self.queue.drop_oldest(RuntimeHandle::current(), cell.shared().id(), lane, dropped);
        drop(self);
        if let Some(QueuedMessage { envelope, permit }) = queued {
            // Its place is free from here on.
            drop(permit);
            envelope.deliver(cell);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.used {
            drop(self.sorted().take(self.number));
        }
    }
}

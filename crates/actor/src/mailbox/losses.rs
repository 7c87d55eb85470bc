//! Messages that no handler sees: each one is counted, and reported here.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::front::Front;

/// Why no handler saw a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Loss {
    /// The actor had ended when the message came.
    DeadLetter,
    /// The mailbox was full, and the message was dropped by its policy.
    Dropped,
}

/// A message of this type was lost. The one place that knows of all of them.
#[cold]
pub(crate) fn lost(front: &Front, message: &'static str, why: Loss) {
    if why == Loss::DeadLetter {
        front.count_dead_letter();
    }
    tracing::debug!(actor = %front.id, message, ?why, "a message was lost");
}

/// A number that only rises.
#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn rise(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

//! How a message is handed to its receiver, or to those who are told.

use std::pin::Pin;

use coact_persist::{EntityId, NoteId};

use crate::stored_message::StoredMessage;

/// Hands messages over, by the types that a program has said it receives.
pub(crate) trait MessageDelivery: Send + Sync {
    /// Whether it knows entities of this kind to receive messages of this name, or, without a kind,
    /// who publishes them.
    fn knows(&self, kind: Option<&str>, name: &str) -> bool;

    /// Hands a message over. `None` if the journal is gone, or does not know the message.
    fn deliver(&self, attempt: DeliveryRequest) -> Option<DeliveryFuture>;
}

/// A message that is handed over.
pub(crate) struct DeliveryRequest {
    pub(crate) note: NoteId,
    pub(crate) message: StoredMessage,
    /// Who receives it. `None` for one that is published.
    pub(crate) to: Option<EntityId>,
    /// How often that was tried before.
    pub(crate) failures: u32,
}

pub(crate) type DeliveryFuture = Pin<Box<dyn Future<Output = AttemptResult> + Send>>;

/// The result of an attempt.
pub(crate) enum AttemptResult {
    /// It was received, and is taken. (A timer may be another one by now, or none: then there was
    /// nothing to be taken.)
    Received,
    /// It is not there any more: it was taken before, or is another one by now.
    Gone,
    /// It was published, and is to be taken.
    Published,
    /// It was not; `is_final` if it never will be, as it cannot be read.
    Failed { why: String, is_final: bool },
    /// It was not, for a reason that is none of its own: the store cannot be reached, or its
    /// receiver was replaced.
    Later,
}

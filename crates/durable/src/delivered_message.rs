//! Messages that were left to be delivered, as their receivers get them.

use coact_actor::actor::Message;
use coact_persist::{NoteId, NoteKind};

use crate::decide::Decide;
use crate::durable::Durable;
use crate::stored_message::{StoredMessage, present_rank};

/// A message that is delivered: what is decided on it takes it away.
pub(crate) struct DeliveredMessage<M> {
    pub(crate) note: NoteId,
    pub(crate) stored: StoredMessage,
    pub(crate) message: M,
}

impl<M: Message> Message for DeliveredMessage<M> {
    type Reply = ();
}

impl<E: Decide<M>, M: Message> Decide<DeliveredMessage<M>> for E {
    fn decide(durable: &mut Durable<Self>, delivered: DeliveredMessage<M>) {
        let DeliveredMessage { note, stored, message } = delivered;
        if note.kind == NoteKind::Timer {
            if !durable.take_timer(&note) {
                return;
            }
            // Before the decision, which may set it anew, or cancel it.
            if let Some(due) = stored.due_after(note.rank, present_rank()) {
                durable.put_timer(note.key.clone(), due, stored.to_event());
            }
        }
        durable.take_note(note);
        E::decide(durable, message);
    }
}

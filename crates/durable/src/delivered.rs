//! Messages that were left to be delivered, as their receivers get them.

use coact_actor::actor::Message;
use coact_persist::{NoteId, NoteKind};

use crate::decide::Decide;
use crate::durable::Durable;
use crate::outgoing::{StoredMessage, name_of, now, rank_of};

/// A message that is delivered: what is decided on it takes it away.
pub(crate) struct Delivered<M> {
    pub(crate) note: NoteId,
    pub(crate) stored: StoredMessage,
    pub(crate) message: M,
}

impl<M: Message> Message for Delivered<M> {
    type Reply = ();
}

impl<E: Decide<M>, M: Message> Decide<Delivered<M>> for E {
    fn decide(durable: &mut Durable<Self>, delivered: Delivered<M>) {
        let Delivered { note, stored, message } = delivered;
        if note.kind == NoteKind::Timer {
            let name = name_of(&note.key);
            if !durable.begin_timer(&name, note.rank) {
                return;
            }
            // Before the decision, which may set it anew, or cancel it.
            if let Some(due) = stored.due_after(note.rank, rank_of(now())) {
                durable.put_timer(&name, due, stored.to_event());
            }
        }
        durable.take_note(note);
        E::decide(durable, message);
    }
}

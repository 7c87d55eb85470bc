//! Messages.

use coact_core::credits::Permit;
use coact_core::internals::ConfirmedQuestion;

/// A type that can be sent to actors.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message",
    label = "a message is needed here",
    note = "derive it: `#[derive(Message)]`, with `#[message(reply = R)]` if it has an answer"
)]
pub trait Message: Send + 'static {
    /// The type of the answer; `()` if there is none.
    type Reply: Send + 'static;

    /// Is given the room that the message had in a bounded mailbox, when its handler begins. For
    /// messages that are set aside without being handled, and count until they are.
    #[doc(hidden)]
    #[inline]
    fn leaves_mailbox(&mut self, room: Permit) {
        drop(room);
    }
}

/// (Durable actors take it, as they take the command.)
impl<C: Message> Message for ConfirmedQuestion<C> {
    type Reply = C::Reply;
}

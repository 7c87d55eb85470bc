//! Messages.

/// A type that can be sent to actors.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message",
    label = "a message is needed here",
    note = "derive it: `#[derive(Message)]`, with `#[message(reply = R)]` if it has an answer"
)]
pub trait Message: Send + 'static {
    /// The type of the answer; `()` if there is none.
    type Reply: Send + 'static;
}

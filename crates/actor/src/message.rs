//! Messages.

/// What can be sent to actors.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message",
    label = "a message is needed here",
    note = "derive it: `#[derive(Message)]`, with `#[message(reply = R)]` if it has an answer"
)]
pub trait Message: Send + 'static {
    /// What the actor answers; `()` if nothing.
    type Reply: Send + 'static;
}

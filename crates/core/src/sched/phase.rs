//! How far a runtime's life has come.

/// The phases of a runtime's life, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Phase {
    Running,
    /// The deadline of a shutdown has passed: bodies are dropped.
    Cancelling,
    /// No worker is left.
    Stopped,
}

//! The phases of a runtime's lifecycle.

/// The phases of a runtime's lifecycle, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum RuntimePhase {
    Running,
    /// The deadline of a shutdown has passed: bodies are dropped.
    Cancelling,
    /// No worker is left.
    Stopped,
}

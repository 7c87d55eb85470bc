//! What a fiber has done when it returns to the code that resumed it.

/// Why [`Fiber::resume`](crate::Fiber::resume) has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeOutcome<O> {
    /// The fiber has called [`suspend`](crate::suspend) with this, and can be resumed.
    Suspended(O),
    /// Its function has returned.
    Ended,
}

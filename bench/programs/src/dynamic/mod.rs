//! Programs of actors that take tuples by cases.

pub mod ask;
pub mod cases;
pub mod counter;
pub mod mixed;
pub mod rings;
pub mod skipped;

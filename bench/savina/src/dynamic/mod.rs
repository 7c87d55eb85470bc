//! The same programs with actors that take tuples.

pub mod ping_pong;
pub mod thread_ring;

//! Programs of behaviours on cowns.

pub mod ask;
pub mod bank;
pub mod cache;
pub mod chains;
pub mod counter;
pub mod dining;
pub mod fork_join;
pub mod front;
pub mod idle;
pub mod rings;
pub mod skynet;
pub mod tellers;

//! Programs of actors that send messages.

pub mod ask;
pub mod cache;
pub mod counter;
pub mod fan_out;
pub mod idle;
pub mod lives;
pub mod mixed;
pub mod pairs;
pub mod request;
pub mod ring_nfold;
pub mod rings;
pub mod skynet;
pub mod tellers;

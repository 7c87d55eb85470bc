//! How a workload is run in a process of its own, timed, checked and recorded.
//!
//! Reading order: [`program`] is how the tool speaks to a program, ours or a peer's, [`child`] the
//! fresh process of a repetition, [`session`] the interleaving of them, and [`record`] with
//! [`table`] what comes out.

pub mod calibration;
pub mod child;
pub mod machine;
pub mod program;
pub mod progress;
pub mod record;
pub mod session;
pub mod statistics;
pub mod table;

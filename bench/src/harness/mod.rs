//! What every workload shares: how it is described, run in a process of its own, timed, checked and reported.
//!
//! Reading order: [`workload`] is the contract between a workload and the tool, [`finish`] the stopwatch that the
//! programs under test stop, [`program`] how the tool speaks to a program, ours or a peer's, [`child`] the fresh
//! process of a repetition, [`session`] the interleaving of them, and [`record`] with [`table`] what comes out.

pub mod calibration;
pub mod child;
pub mod finish;
pub mod latency;
pub mod machine;
pub mod memory;
pub mod program;
pub mod progress;
pub mod random;
pub mod record;
pub mod session;
pub mod statistics;
pub mod table;
pub mod workload;

pub use finish::{Finish, Stopwatch};
pub use workload::{Drawing, Group, Implementation, Measured, Setup, Unit, Workload};

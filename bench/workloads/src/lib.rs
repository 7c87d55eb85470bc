//! What is measured, and what the tool and a program in Rust share.
//!
//! Reading order: [`workload`] is the contract, [`table`] has a row for each, and [`work`] what is
//! computed and must come out. A [`program`] answers the tool; it stops the stopwatch of
//! [`finish`].

pub mod finish;
pub mod latency;
pub mod memory;
pub mod program;
pub mod random;
pub mod table;
pub mod threads;
pub mod work;
pub mod workload;

pub use finish::{Finish, Stopwatch};
pub use program::{Given, Way};
pub use workload::{Drawing, Group, Measured, Setup, Unit, Workload};

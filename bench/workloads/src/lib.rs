//! What the tool and a program in Rust share: the contract of a [`workload`], how a [`program`] answers the tool, the
//! stopwatch that it stops ([`finish`]), and what it computes and looks at alike in all languages.

pub mod finish;
pub mod latency;
pub mod memory;
pub mod program;
pub mod random;
pub mod threads;
pub mod workload;

pub use finish::{Finish, Stopwatch};
pub use workload::{Drawing, Group, Implementation, Measured, Setup, Unit, Workload};

//! The actor benchmark suite Savina, in the selection of L. Cheeseman et al., *When concurrency matters* (OOPSLA
//! 2023): 22 programs as actors that send messages, 11 of them also as behaviours over several cowns.
//!
//! A folder a program: `mod.rs` has the sizes and the right result, `actor.rs` the actor form and `full.rs` the full
//! form, written as a user would write them: their lines are counted ([`lines`]).

mod count;
mod fibonacci;
mod lines;
mod ping_pong;

pub use lines::{Form, LINES, Lines};

use super::runtime::run;
use crate::harness::Workload;

/// All of them, in the order of the reports.
pub const ALL: &[&dyn Workload] = &[&count::Count, &fibonacci::Fibonacci, &ping_pong::PingPong];

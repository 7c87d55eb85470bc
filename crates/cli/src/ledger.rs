//! `coact ledger`: replays a file of bank operations in parallel, with the result of a sequential
//! replay.
//!
//! Read in this order: [`operation`] and [`account`] say what a ledger means, [`sequential`] and
//! [`parallel`] are the two engines, [`replay`] is the loop that feeds one of them, and [`window`]
//! is how decisions made in any order come back in the order of the lines.

pub mod account;
pub mod cents;
pub mod command;
pub mod contention;
pub mod decisions;
pub mod fault;
pub mod generate;
pub mod operation;
pub mod outcome;
pub mod parallel;
pub mod progress;
pub mod random;
pub mod reader;
pub mod register;
pub mod replay;
pub mod report;
pub mod sequential;
pub mod source;
pub mod summary;
pub mod trail;
pub mod verification;
pub mod window;
pub mod work;

#[cfg(test)]
mod equivalence;

//! The benchmark tool of coact: the same workloads in coact and beside it in what else a Rust program would use.
//!
//! Every repetition runs in a fresh process and checks its own result; the repetitions of the implementations of a
//! workload are interleaved. [`harness`] is what all workloads share, [`workloads`] is a folder a workload with our
//! version and the peers' beside it; [`cli`] is the tool, for the programs that measure.

pub mod cli;
pub mod harness;
pub mod workloads;

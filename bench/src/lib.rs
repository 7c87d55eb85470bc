//! The benchmark tool of coact: the same workloads in coact and beside it in what else a program
//! could be built on.
//!
//! Every repetition runs in a fresh process and its result is checked; the repetitions of the
//! implementations of a workload are interleaved. [`measure`] runs and records them, [`ours`] says
//! what this program does of them, [`peers`] finds the programs that do the same with something
//! else, [`instructions`] and [`coherence`] count instead of measuring, [`report`] and [`compare`]
//! read what was measured, and [`cli`] is the tool.

pub mod cli;
pub mod coherence;
pub mod compare;
pub mod instructions;
pub mod measure;
pub mod ours;
pub mod peers;
pub mod report;

//! The workloads: what is done, how much of it, which result is right, and our way to do it.
//!
//! `bench/PROGRAMS.md` describes them for all languages. Sizes are the full ones; [`Setup`] scales them.
//!
//! [`Setup`]: crate::harness::Setup

pub mod headline;
pub mod micro;
mod runtime;
pub mod savina;
pub mod threads;

#[cfg(test)]
mod tests;

use crate::harness::Workload;

/// Every workload, in the order of the reports.
pub fn all() -> Vec<&'static dyn Workload> {
    [headline::ALL, savina::ALL, micro::ALL].concat()
}

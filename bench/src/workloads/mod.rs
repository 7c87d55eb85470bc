//! All workloads, with our way to do each.

#[cfg(test)]
mod tests;

use coact_bench_programs::{headline, micro};
use coact_bench_savina as savina;
use coact_bench_workloads::Workload;

/// Every workload, in the order of the reports.
pub fn all() -> Vec<&'static dyn Workload> {
    [headline::ALL, savina::ALL, micro::ALL].concat()
}

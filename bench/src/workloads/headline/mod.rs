//! What the papers and pages measure that this runtime stands on; a folder each.

use crate::harness::Workload;

/// All of them, in the order of the reports.
pub const ALL: &[&dyn Workload] = &[];

//! Where a row of the table begins.

use crate::workload::{Drawing, Group, Unit, Workload};

/// What most rows have in common.
pub const ROW: Workload = Workload {
    name: "",
    about: "",
    group: Group::Micro,
    unit: Unit::NanosPerOperation,
    drawing: |_| Drawing::Bars,
    sizes: &[],
    result: "",
    expected: |_| 0,
};

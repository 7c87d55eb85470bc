//! Workloads that another crate does, too.

use std::sync::OnceLock;

use super::workload::{Implementation, Measured, Mismatch, Setup, Unit, Workload};

/// A workload with more implementations beside its own: for a program whose peers are not in this
/// crate.
pub struct Beside {
    workload: &'static dyn Workload,
    more: &'static [Implementation],
    all: OnceLock<Vec<Implementation>>,
}

impl Beside {
    /// The workload, and who else does it.
    pub const fn new(workload: &'static dyn Workload, more: &'static [Implementation]) -> Beside {
        Beside { workload, more, all: OnceLock::new() }
    }
}

impl Workload for Beside {
    fn name(&self) -> &'static str {
        self.workload.name()
    }

    fn about(&self) -> &'static str {
        self.workload.about()
    }

    fn unit(&self) -> Unit {
        self.workload.unit()
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        self.workload.parameters(setup)
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        self.workload.check(setup, measured)
    }

    fn implementations(&self) -> &[Implementation] {
        self.all.get_or_init(|| [self.workload.implementations(), self.more].concat())
    }
}

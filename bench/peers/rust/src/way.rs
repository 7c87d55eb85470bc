//! Who does which workloads.

use coact_bench_workloads::Measured;
use coact_bench_workloads::program::{Given, Offer};

/// One way to do workloads that differ in their sizes alone.
pub struct Way {
    workloads: &'static [&'static str],
    name: &'static str,
    about: &'static str,
    share: u32,
    run: fn(&Given) -> anyhow::Result<Measured>,
}

impl Way {
    /// A way that does the whole.
    pub const fn new(
        workloads: &'static [&'static str],
        name: &'static str,
        about: &'static str,
        run: fn(&Given) -> anyhow::Result<Measured>,
    ) -> Way {
        Way { workloads, name, about, share: 1, run }
    }

    /// The same, for a part of the work: one n-th of the sizes.
    pub const fn share(self, share: u32) -> Way {
        Way { share, ..self }
    }

    /// As the tool is told of it: one a workload.
    pub fn offers(&self) -> impl Iterator<Item = Offer> {
        let &Way { workloads, name, about, share, run } = self;
        let offer = move |&workload| Offer { workload, name, about, share, run: Box::new(run) };
        workloads.iter().map(offer)
    }
}

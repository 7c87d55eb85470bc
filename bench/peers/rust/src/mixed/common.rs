//! What all who do it have in common.

use coact_bench_workloads::Finish;
use coact_bench_workloads::work::mixed::MixedSizes;

/// What the collector is told: the sum of a number's factors, or that a master has no ring to build
/// any more.
pub enum Told {
    Factors(u64),
    Over,
}

/// What the collector knows.
pub struct Collected {
    pub missing: u64,
    pub sum: u64,
    pub finish: Finish,
}

impl Collected {
    pub fn new(size: MixedSizes, finish: Finish) -> Collected {
        Collected { missing: size.rings * (size.rebuilds + 1), sum: 0, finish }
    }

    pub fn take(&mut self, told: Told) {
        if let Told::Factors(sum) = told {
            self.sum += sum;
        }
        self.missing -= 1;
        if self.missing == 0 {
            self.finish.part(self.sum);
        }
    }
}

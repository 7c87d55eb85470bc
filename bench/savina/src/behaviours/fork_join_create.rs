//! A cown a behaviour, which takes it along and frees it.

use coact::prelude::*;
use coact_bench_workloads::Finish;

use crate::sizes::computed;

pub fn start(workers: u64, done: Finish) {
    for _ in 0..workers {
        when(Cown::new(done.clone()), |done| done.part(u64::from(computed() > 0.0)));
    }
}

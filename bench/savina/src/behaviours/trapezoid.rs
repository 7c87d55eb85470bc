//! A cown an area; one behaviour over all of them adds them up.

use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::work::integral::{Integral, area, result};

pub fn start(integral: Integral, done: Finish) {
    let worker = |pieces| {
        let part = Cown::new(0.0);
        when(&part, move |part| *part = area(integral, pieces));
        part
    };
    let parts: Vec<_> = integral.parts().map(worker).collect();
    when(&parts, move |parts| done.part(result(parts.iter().sum())));
}

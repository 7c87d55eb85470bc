//! The counter is a cown; what is spawned after the increments runs after them.

use coact::prelude::*;
use coact_bench_workloads::Finish;

pub fn start(messages: u64, done: Finish) {
    let counter = Cown::new(0_u64);
    for _ in 0..messages {
        when(&counter, |counter| *counter += 1);
    }
    when(&counter, move |counter| done.part(*counter));
}

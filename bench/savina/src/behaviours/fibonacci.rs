//! A cown a call; a behaviour over two adds one to the other.

use coact::prelude::*;
use coact_bench_workloads::Finish;

fn fibonacci(n: u64) -> Cown<u64> {
    if n <= 2 {
        return Cown::new(1);
    }
    let (sum, other) = (fibonacci(n - 1), fibonacci(n - 2));
    when((&sum, &other), |(sum, other)| *sum += *other);
    sum
}

pub fn start(n: u64, done: Finish) {
    when(&fibonacci(n), move |sum| done.part(*sum));
}

//! Threads that are no part of the runtime add to one counter, as fast as they can; then it is asked for the sum.

mod actor;
mod cown;

use coact::prelude::{Cown, when, when_here};

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

/// How many threads, and how many adds each.
#[derive(Clone, Copy)]
struct Size {
    threads: u64,
    each: u64,
}

impl Size {
    fn of(threads: u64, setup: &Setup) -> Size {
        Size { threads, each: setup.scaled_at_least(3_000_000, threads) / threads }
    }

    fn messages(self) -> u64 {
        self.threads * self.each
    }
}

/// So many threads and a counter.
pub struct Counter<const THREADS: u64> {
    /// The name of the workload.
    pub name: &'static str,
}

impl<const THREADS: u64> Counter<THREADS> {
    fn size(setup: &Setup) -> Size {
        Size::of(THREADS, setup)
    }
}

impl<const THREADS: u64> Workload for Counter<THREADS> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "plain threads post 3,000,000 adds to one actor, which is then asked for the sum; an add"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("threads", THREADS), ("messages", Self::size(setup).messages())]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the sum", Self::size(setup).messages(), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "a message an add, then an ask",
                run: |setup| actor::on_workers(setup, Self::size(setup)),
            },
            Implementation {
                name: "coact-caller",
                about: "the same, and the actor runs on the threads that send to it",
                run: |setup| actor::on_callers(setup, Self::size(setup)),
            },
            Implementation {
                name: "coact-here",
                about: "a cown, worked on at once by the thread if it is free: `when_here`",
                run: |setup| {
                    cown::run(setup, Self::size(setup), |counter: &Cown<u64>| {
                        when_here(counter, |counter| *counter += 1);
                    })
                },
            },
            Implementation {
                name: "coact-cowns",
                about: "a cown, a behaviour an add, then one with a promise",
                run: |setup| {
                    cown::run(setup, Self::size(setup), |counter| {
                        when(counter, |counter| *counter += 1);
                    })
                },
            },
        ]
    }
}

//! The naive recursion, an actor a call.

mod actor;
mod full;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Unit, Workload};

/// 25, or the greatest whose calls are within the scale.
fn n(setup: &Setup) -> u64 {
    let most = setup.scaled(fibonacci(25));
    (2..=25).rev().find(|&n| fibonacci(n) <= most).unwrap_or(2)
}

fn fibonacci(n: u64) -> u64 {
    let (mut last, mut next) = (0, 1);
    for _ in 0..n {
        (last, next) = (next, last + next);
    }
    last
}

/// Calls until 1 or 2: all but the leaves have two.
fn calls(n: u64) -> u64 {
    2 * fibonacci(n) - 1
}

/// Fork and join.
pub struct Fibonacci;

impl Workload for Fibonacci {
    fn name(&self) -> &'static str {
        "fibonacci"
    }

    fn about(&self) -> &'static str {
        "the 25th number by naive recursion; the whole"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn unit(&self) -> Unit {
        Unit::Seconds
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("n", n(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the Fibonacci number", fibonacci(n(setup)), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "an actor a call, which answers its parent and ends",
                run: |setup| {
                    let n = n(setup);
                    super::run(setup, calls(n), 1, move |done| actor::start(n, done))
                },
            },
            Implementation {
                name: "coact-full",
                about: "a cown a call; one behaviour adds the other's to its own",
                run: |setup| {
                    let n = n(setup);
                    super::run(setup, calls(n), 1, move |done| full::start(n, done))
                },
            },
        ]
    }
}

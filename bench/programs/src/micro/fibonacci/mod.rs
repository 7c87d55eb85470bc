//! Fork-join Fibonacci: hardly any work, so that the cost of a fork and a join shows.

mod coact;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Implementation, Measured, Setup, Workload};

/// The number asked for: 25, or the greatest whose calls are within the scale.
fn number(setup: &Setup) -> u64 {
    let most = setup.scaled(calls(25));
    (2..=25).rev().find(|&number| calls(number) <= most).unwrap_or(2)
}

/// Calls of the naive recursion.
fn calls(number: u64) -> u64 {
    if number < 2 { 1 } else { 1 + calls(number - 1) + calls(number - 2) }
}

/// Each call is asked and answers.
pub fn behaviours(number: u64) -> u64 {
    2 * calls(number)
}

fn fibonacci(number: u64) -> u64 {
    if number < 2 { number } else { fibonacci(number - 1) + fibonacci(number - 2) }
}

/// Fork-join.
pub struct Fibonacci;

impl Workload for Fibonacci {
    fn name(&self) -> &'static str {
        "fork-join"
    }

    fn about(&self) -> &'static str {
        "fork-join Fibonacci of 25, a request and a reply a call; one of 485,570 behaviours"
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("number", number(setup)), ("calls", calls(number(setup)))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the Fibonacci number", fibonacci(number(setup)), measured)
    }

    fn implementations(&self) -> &'static [Implementation] {
        &[Implementation {
            name: "coact",
            about: "a cown a call; a behaviour for the request, one for the reply",
            run: |setup| coact::run(setup, number(setup)),
        }]
    }
}

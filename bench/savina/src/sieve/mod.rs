//! The sieve of Eratosthenes as a chain of actors.

mod actor;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Unit, Workload};

fn limit(setup: &Setup) -> u64 {
    setup.scaled_at_least(100_000, 3)
}

/// 1,000, and less where there are fewer primes, so that there is always a chain.
fn buffer(setup: &Setup) -> u64 {
    (limit(setup) / 100).clamp(1, 1000)
}

fn expected(limit: usize) -> u64 {
    let mut is_prime = vec![true; limit];
    let mut primes = 0;
    for number in 2..limit {
        if is_prime[number] {
            primes += 1;
            is_prime[number..].iter_mut().step_by(number).for_each(|multiple| *multiple = false);
        }
    }
    primes
}

/// A chain that grows.
pub struct Sieve;

impl Workload for Sieve {
    fn name(&self) -> &'static str {
        "sieve"
    }

    fn about(&self) -> &'static str {
        "primes below 100,000, in a chain of actors with 1,000 each; the whole"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn unit(&self) -> Unit {
        Unit::Seconds
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("limit", limit(setup)), ("buffer", buffer(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of primes", expected(limit(setup) as usize), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "a message a number and an actor",
            run: |setup| {
                let (limit, buffer) = (limit(setup) as u32, buffer(setup) as usize);
                super::run(setup, 1, 1, move |done| actor::start(limit, buffer, done))
            },
        }]
    }
}

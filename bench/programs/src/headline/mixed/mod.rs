//! Rings that are torn down and built again, beside a processor's heavy work.

mod actor;

use crate::runtime;
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Drawing, Group, Implementation, Measured, Setup, Unit, Workload};

#[derive(Clone, Copy)]
struct Size {
    rings: u64,
    links: u64,
    /// What the token is worth at first.
    token: u64,
    /// How often each ring is built.
    rebuilds: u64,
    /// What is to be factorised beside each ring: the product of two primes.
    number: u64,
}

impl Size {
    fn of(setup: &Setup) -> Size {
        let (less, greater) = primes(setup);
        Size {
            rings: 20,
            links: 49,
            token: setup.scaled(10_000),
            rebuilds: 5,
            number: less * greater,
        }
    }

    fn messages(self) -> u64 {
        self.rings * self.rebuilds * (self.token + 1) * (self.links + 1)
    }
}

/// The factors of the number; less work needs less of them.
fn primes(setup: &Setup) -> (u64, u64) {
    let next = |full: u64, least| {
        let from = setup.scaled_at_least(full, least);
        (from..).find(|&number| is_prime(number)).expect("there are infinitely many")
    };
    (next(86_028_157, 101), next(329_545_133, 1_009))
}

fn is_prime(number: u64) -> bool {
    let mut roots = (2..).take_while(|root| root * root <= number);
    roots.all(|root| !number.is_multiple_of(root))
}

/// The sum of a number's prime factors, by trial division.
fn sum_of_factors(mut number: u64) -> u64 {
    let mut sum = 0;
    let mut take_out = |divisor: u64, number: &mut u64| {
        while number.is_multiple_of(divisor) {
            *number /= divisor;
            sum += divisor;
        }
    };
    take_out(2, &mut number);
    let mut divisor = 3;
    while divisor * divisor <= number {
        take_out(divisor, &mut number);
        divisor += 2;
    }
    // What is left has no divisor up to its root: it is 1, or a prime.
    if number > 1 { sum + number } else { sum }
}

/// Messages, beginnings, ends, and arithmetic.
pub struct Mixed;

impl Workload for Mixed {
    fn name(&self) -> &'static str {
        "mixed"
    }

    fn about(&self) -> &'static str {
        "20 rings of 50 actors pass a token 10,000 times, are built 5 times, and factorise a number beside it; the whole"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn drawing(&self, _: &Setup) -> Drawing {
        Drawing::Memory
    }

    fn unit(&self) -> Unit {
        Unit::Seconds
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let Size { rings, links, token, rebuilds, number } = Size::of(setup);
        vec![
            ("rings", rings),
            ("links", links),
            ("token", token),
            ("rebuilds", rebuilds),
            ("number", number),
        ]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        let Size { rings, rebuilds, .. } = Size::of(setup);
        let (less, greater) = primes(setup);
        expect("the sum of the factors", rings * rebuilds * (less + greater), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "an actor a link, a master, a worker and the collector",
            run: |setup| {
                let size = Size::of(setup);
                runtime::run(setup, size.messages(), 1, move |done| actor::start(size, done))
            },
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::{Size, sum_of_factors};
    use coact_bench_workloads::Setup;

    #[test]
    fn the_full_size_is_that_of_the_paper() {
        let size = Size::of(&Setup { scale: 1.0, workers: 2 });
        assert_eq!(size.number, 28_350_160_440_309_881);
        assert_eq!(size.messages(), 50_005_000);
    }

    #[test]
    fn factors_count_as_often_as_they_divide() {
        let cases = [(1, 0), (2, 2), (8, 6), (9, 6), (97, 97), (360, 17), (101 * 1_009, 1_110)];
        assert_eq!(cases.map(|(number, _)| sum_of_factors(number)), cases.map(|(_, sum)| sum));
    }
}

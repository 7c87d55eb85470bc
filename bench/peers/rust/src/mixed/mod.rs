//! Rings that are torn down and built again, beside a processor's heavy work.

mod actix;
mod kameo;
mod ractor;
mod tokio;

use coact_bench_workloads::Finish;
use coact_bench_workloads::{Given, Way};

/// The rings, and what is to be factorised beside each.
#[derive(Clone, Copy)]
pub struct Size {
    rings: u64,
    links: u64,
    /// What the token is worth at first.
    token: u64,
    /// How often each ring is built.
    rebuilds: u64,
    number: u64,
}

impl Size {
    fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            rings: given.number("rings")?,
            links: given.number("links")?,
            token: given.number("token")?,
            rebuilds: given.number("rebuilds")?,
            number: given.number("number")?,
        })
    }

    fn messages(self) -> u64 {
        self.rings * self.rebuilds * (self.token + 1) * (self.links + 1)
    }
}

/// What the collector is told: the sum of a number's factors, or that a master has no ring to build any more.
enum Told {
    Factors(u64),
    Over,
}

/// What the collector knows.
struct Collected {
    missing: u64,
    sum: u64,
    finish: Finish,
}

impl Collected {
    fn new(size: Size, finish: Finish) -> Collected {
        Collected { missing: size.rings * (size.rebuilds + 1), sum: 0, finish }
    }

    fn take(&mut self, told: Told) {
        if let Told::Factors(sum) = told {
            self.sum += sum;
        }
        self.missing -= 1;
        if self.missing == 0 {
            self.finish.part(self.sum);
        }
    }
}

/// The sum of a number's prime factors, by trial division.
fn sum_of_factors(mut number: u64) -> u64 {
    let mut sum = 0;
    let mut divisor = 2;
    while divisor * divisor <= number {
        while number.is_multiple_of(divisor) {
            number /= divisor;
            sum += divisor;
        }
        divisor += if divisor == 2 { 1 } else { 2 };
    }
    // What is left has no divisor up to its root: it is 1, or a prime.
    if number > 1 { sum + number } else { sum }
}

const THIS: &[&str] = &["mixed"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(THIS, "tokio", "a task and an unbounded mpsc an actor", |given| {
        tokio::run(given, Size::of(given)?)
    }),
    Way::new(THIS, "kameo", "`tell` without waiting", |given| kameo::run(given, Size::of(given)?)),
    Way::new(THIS, "ractor", "`cast`", |given| ractor::run(given, Size::of(given)?)),
    Way::new(THIS, "actix", "all on one arbiter, `do_send`", |given| {
        Ok(actix::run(1, Size::of(given)?))
    }),
    Way::new(THIS, "actix-arbiters", "a ring and its worker an arbiter, by turns", |given| {
        Ok(actix::run(given.workers()?, Size::of(given)?))
    }),
];

#[cfg(test)]
mod tests {
    use super::sum_of_factors;

    #[test]
    fn each_factor_counts_as_often_as_it_divides() {
        assert_eq!([1, 2, 12, 97, 101 * 103].map(sum_of_factors), [0, 2, 7, 97, 204]);
    }
}

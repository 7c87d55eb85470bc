//! What all who do it have in common.

use coact_bench_workloads::Finish;
use coact_bench_workloads::Given;

/// The rings, and what is to be factorised beside each.
#[derive(Clone, Copy)]
pub struct Size {
    pub rings: u64,
    pub links: u64,
    /// What the token is worth at first.
    pub token: u64,
    /// How often each ring is built.
    pub rebuilds: u64,
    pub number: u64,
}

impl Size {
    pub fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            rings: given.number("rings")?,
            links: given.number("links")?,
            token: given.number("token")?,
            rebuilds: given.number("rebuilds")?,
            number: given.number("number")?,
        })
    }

    pub fn messages(self) -> u64 {
        self.rings * self.rebuilds * (self.token + 1) * (self.links + 1)
    }
}

/// What the collector is told: the sum of a number's factors, or that a master has no ring to build
/// any more.
pub enum Told {
    Factors(u64),
    Over,
}

/// What the collector knows.
pub struct Collected {
    pub missing: u64,
    pub sum: u64,
    pub finish: Finish,
}

impl Collected {
    pub fn new(size: Size, finish: Finish) -> Collected {
        Collected { missing: size.rings * (size.rebuilds + 1), sum: 0, finish }
    }

    pub fn take(&mut self, told: Told) {
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
pub fn sum_of_factors(mut number: u64) -> u64 {
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

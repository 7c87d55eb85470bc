//! What all who do it have in common.

use coact_bench_workloads::Given;

/// The server replies with the number of requests that it has seen.
#[derive(Default)]
pub struct Server {
    pub requests: u64,
}

impl Server {
    pub fn answer(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }
}

/// How often, and what is made of the answers.
#[derive(Clone, Copy)]
pub struct Size {
    pub rounds: u64,
    pub tally: fn(u64, u64) -> u64,
}

impl Size {
    /// The answers are counted.
    pub fn headline(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { rounds: given.number("asks")?, tally: |count, _| count + 1 })
    }

    /// The answers are added up.
    pub fn micro(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { rounds: given.number("round_trips")?, tally: |sum, answer| sum + answer })
    }
}

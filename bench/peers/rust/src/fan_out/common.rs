//! What all who do it have in common.

use std::hint::black_box;
use std::sync::Arc;

use coact_bench_workloads::Given;

/// How many receivers, how often, and the bytes of a page.
#[derive(Clone, Copy)]
pub struct Size {
    pub receivers: u64,
    pub rounds: u64,
    pub bytes: u64,
}

impl Size {
    pub fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            receivers: given.number("receivers")?,
            rounds: given.number("rounds")?,
            bytes: given.number("size")?,
        })
    }

    pub fn messages(self) -> u64 {
        self.receivers * self.rounds
    }

    pub fn page(self) -> Arc<[u8]> {
        (0..self.bytes).map(|place| (place % 251) as u8).collect()
    }
}

/// Looks at both ends of a page, and says how long it is.
pub fn read(page: &[u8]) -> u64 {
    black_box((page.first(), page.last()));
    page.len() as u64
}

/// What a sender that is an actor knows of the rounds.
pub struct Rounds {
    pub size: Size,
    pub begun: u64,
    pub missing: u64,
    pub sum: u64,
}

/// What is to be done when a receiver has answered.
pub enum Next {
    Wait,
    Send(Arc<[u8]>),
    End(u64),
}

impl Rounds {
    pub fn new(size: Size) -> Rounds {
        Rounds { size, begun: 0, missing: 0, sum: 0 }
    }

    pub fn begin(&mut self) -> Arc<[u8]> {
        self.begun += 1;
        self.missing = self.size.receivers;
        self.size.page()
    }

    pub fn got(&mut self, bytes: u64) -> Next {
        self.sum += bytes;
        self.missing -= 1;
        match self.missing {
            0 if self.begun < self.size.rounds => Next::Send(self.begin()),
            0 => Next::End(self.sum),
            _ => Next::Wait,
        }
    }
}

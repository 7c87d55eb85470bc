//! Large messages to many receivers, each page shared and not copied.

mod actix;
mod kameo;
mod ractor;
mod tokio;

use std::hint::black_box;
use std::sync::Arc;

use coact_bench_workloads::{Given, Way};

/// How many receivers, how often, and the bytes of a page.
#[derive(Clone, Copy)]
pub struct Size {
    receivers: u64,
    rounds: u64,
    bytes: u64,
}

impl Size {
    fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            receivers: given.number("receivers")?,
            rounds: given.number("rounds")?,
            bytes: given.number("size")?,
        })
    }

    fn messages(self) -> u64 {
        self.receivers * self.rounds
    }

    fn page(self) -> Arc<[u8]> {
        (0..self.bytes).map(|place| (place % 251) as u8).collect()
    }
}

/// Looks at both ends of a page, and says how long it is.
fn read(page: &[u8]) -> u64 {
    black_box((page.first(), page.last()));
    page.len() as u64
}

/// What a sender that is an actor knows of the rounds.
struct Rounds {
    size: Size,
    begun: u64,
    missing: u64,
    sum: u64,
}

/// What is to be done when a receiver has answered.
enum Next {
    Wait,
    Send(Arc<[u8]>),
    End(u64),
}

impl Rounds {
    fn new(size: Size) -> Rounds {
        Rounds { size, begun: 0, missing: 0, sum: 0 }
    }

    fn begin(&mut self) -> Arc<[u8]> {
        self.begun += 1;
        self.missing = self.size.receivers;
        self.size.page()
    }

    fn got(&mut self, bytes: u64) -> Next {
        self.sum += bytes;
        self.missing -= 1;
        match self.missing {
            0 if self.begun < self.size.rounds => Next::Send(self.begin()),
            0 => Next::End(self.sum),
            _ => Next::Wait,
        }
    }
}

const THIS: &[&str] = &["fan-out"];

/// Who does it. A part of it is enough where the whole would take a minute.
pub const WAYS: &[Way] = &[
    Way::new(THIS, "tokio", "a task and an unbounded mpsc a receiver, an `Arc` a page", |given| {
        tokio::run(given, Size::of(given)?)
    }),
    Way::new(THIS, "kameo", "an actor a receiver, an `Arc` a page", |given| {
        kameo::run(given, Size::of(given)?)
    })
    .share(10),
    Way::new(THIS, "ractor", "an actor a receiver, an `Arc` a page", |given| {
        ractor::run(given, Size::of(given)?)
    })
    .share(10),
    Way::new(THIS, "actix", "an actor a receiver, an `Arc` a page", |given| {
        Ok(actix::run(1, Size::of(given)?))
    }),
    Way::new(THIS, "actix-arbiters", "the same, the receivers dealt to the arbiters", |given| {
        Ok(actix::run(given.workers()?, Size::of(given)?))
    }),
];

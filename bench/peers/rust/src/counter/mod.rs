//! Producers that add to one counter, which is then asked for the sum.

mod crossbeam;
mod mutex;
mod tokio;

use coact_bench::harness::program::Given;

use crate::way::Way;

/// How many producers, and how many adds each.
#[derive(Clone, Copy)]
pub struct Size {
    producers: u64,
    each: u64,
}

impl Size {
    /// By what the workloads call them.
    fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { producers: given.number("producers")?, each: given.number("adds_each")? })
    }

    fn total(self) -> u64 {
        self.producers * self.each
    }
}

const TWO: &[&str] = &["two-producers"];

const TWENTY: &[&str] = &["many-to-one"];

const SPAWNED: &[&str] = &["two-producers-spawned", "many-to-one-spawned", "one-cown"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(TWO, "tokio", "unbounded mpsc into a task", |given| {
        tokio::unbounded(given, Size::of(given)?)
    }),
    // Senders that the system has interrupted stall the receiver.
    Way::new(TWENTY, "tokio", "unbounded mpsc into a task", |given| {
        tokio::unbounded(given, Size::of(given)?)
    })
    .share(10),
    Way::new(TWENTY, "tokio-bounded", "mpsc of 1,024 into a task", |given| {
        tokio::bounded(given, Size::of(given)?)
    }),
    Way::new(SPAWNED, "tokio", "tasks, unbounded mpsc into another", |given| {
        tokio::spawned(given, Size::of(given)?)
    }),
    Way::new(
        &["two-producers", "many-to-one"],
        "crossbeam",
        "unbounded channel into a thread",
        |given| Ok(crossbeam::unbounded(Size::of(given)?)),
    ),
    Way::new(TWENTY, "crossbeam-bounded", "channel of 1,024 into a thread", |given| {
        Ok(crossbeam::bounded(Size::of(given)?))
    }),
    Way::new(
        &["two-producers", "many-to-one"],
        "mutex",
        "a std mutex around the counter",
        |given| Ok(mutex::std(Size::of(given)?)),
    ),
];

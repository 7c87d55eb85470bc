//! Tasks that use one cache, sleep, and use it again.

mod actix;
mod kameo;
mod mutex;
mod ractor;
mod tokio;

use std::collections::HashMap;
use std::time::Duration;

use coact_bench_workloads::{Given, Way};

/// How many tasks, which keys, and for how long a task sleeps.
#[derive(Clone, Copy)]
pub struct Size {
    tasks: u64,
    keys: u64,
    sleep: Duration,
}

impl Size {
    fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            tasks: given.number("tasks")?,
            keys: given.number("keys")?,
            sleep: Duration::from_micros(given.number("sleep")?),
        })
    }
}

/// What is cached.
#[derive(Default)]
struct Cache(HashMap<String, String>);

impl Cache {
    /// Some values are read, and stored one higher.
    fn calc(&mut self, keys: u64) {
        for key in 0..keys {
            let value = self.0.entry(format!("key{key}")).or_default();
            let number: u64 = value.parse().unwrap_or(0);
            *value = (number + 1).to_string();
        }
    }

    fn sum(&self) -> u64 {
        self.0.values().filter_map(|value| value.parse::<u64>().ok()).sum()
    }
}

const THIS: &[&str] = &["cache-calc-8", "cache-calc-64"];

/// Who does it. Tokio sleeps for whole milliseconds.
pub const WAYS: &[Way] = &[
    Way::new(THIS, "tokio", "tasks; the cache is one too: mpsc there, oneshot back", |given| {
        tokio::run(given, Size::of(given)?)
    }),
    Way::new(THIS, "kameo", "tokio tasks ask an actor", |given| {
        kameo::run(given, Size::of(given)?)
    }),
    Way::new(THIS, "ractor", "tokio tasks call an actor", |given| {
        ractor::run(given, Size::of(given)?)
    }),
    Way::new(THIS, "actix", "futures on the arbiter of the actor that they ask", |given| {
        Ok(actix::run(1, Size::of(given)?))
    }),
    Way::new(THIS, "actix-arbiters", "futures, dealt to the arbiters, ask an actor", |given| {
        Ok(actix::run(given.workers()?, Size::of(given)?))
    }),
    Way::new(THIS, "mutex", "tokio tasks and a std mutex", |given| {
        mutex::blocking::<std::sync::Mutex<Cache>>(given, Size::of(given)?)
    }),
    Way::new(THIS, "mutex-parking", "tokio tasks and a parking_lot mutex", |given| {
        mutex::blocking::<parking_lot::Mutex<Cache>>(given, Size::of(given)?)
    }),
    Way::new(THIS, "mutex-tokio", "tokio tasks and a tokio mutex", |given| {
        mutex::tokio(given, Size::of(given)?)
    }),
];

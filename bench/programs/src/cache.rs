//! Tasks that use one cache, sleep, and use it again.

use std::collections::HashMap;
use std::time::Duration;

use coact_bench_workloads::{Finish, Given, Measured};

use crate::runtime;

#[derive(Clone, Copy)]
pub struct Size {
    pub tasks: u64,
    pub keys: u64,
    pub sleep: Duration,
}

/// What is cached.
#[derive(Default)]
pub struct Cache(HashMap<String, String>);

impl Cache {
    /// The work: some values are read, and stored one higher.
    pub fn calc(&mut self, keys: u64) {
        for key in 0..keys {
            let value = self.0.entry(format!("key{key}")).or_default();
            let number: u64 = value.parse().unwrap_or(0);
            *value = (number + 1).to_string();
        }
    }

    pub fn sum(&self) -> u64 {
        self.0.values().filter_map(|value| value.parse::<u64>().ok()).sum()
    }
}

/// Runs a form of it.
pub fn run(given: &Given, start: fn(Size, Finish)) -> anyhow::Result<Measured> {
    let (tasks, keys) = (given.number("tasks")?, given.number("keys")?);
    let size = Size { tasks, keys, sleep: Duration::from_micros(given.number("sleep")?) };
    runtime::run(given, 2 * tasks, 1, move |done| start(size, done))
}

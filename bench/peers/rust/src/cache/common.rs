//! What all who do it have in common.

use std::collections::HashMap;
use std::time::Duration;

use coact_bench_workloads::Given;

/// How many tasks, which keys, and for how long a task sleeps.
#[derive(Clone, Copy)]
pub struct Size {
    pub tasks: u64,
    pub keys: u64,
    pub sleep: Duration,
}

impl Size {
    pub fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            tasks: given.number("tasks")?,
            keys: given.number("keys")?,
            sleep: Duration::from_micros(given.number("sleep")?),
        })
    }
}

/// What is cached.
#[derive(Default)]
pub struct Cache(HashMap<String, String>);

impl Cache {
    /// Some values are read, and stored one higher.
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

//! Tasks that use one cache, sleep, and use it again.

use std::collections::HashMap;
use std::time::Duration;

use crate::program::Given;

/// How many tasks, which keys, and for how long a task sleeps.
#[derive(Clone, Copy)]
pub struct CacheSizes {
    /// How many tasks.
    pub tasks: u64,
    /// How many keys each of them uses.
    pub keys: u64,
    /// For how long it sleeps in between.
    pub sleep: Duration,
}

impl CacheSizes {
    /// Those of a run.
    pub fn of(given: &Given) -> anyhow::Result<CacheSizes> {
        Ok(CacheSizes {
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
    /// The work: some values are read, and stored one higher.
    pub fn calc(&mut self, keys: u64) {
        for key in 0..keys {
            let value = self.0.entry(format!("key{key}")).or_default();
            let number: u64 = value.parse().unwrap_or(0);
            *value = (number + 1).to_string();
        }
    }

    /// The result: how often values were raised.
    pub fn sum(&self) -> u64 {
        self.0.values().filter_map(|value| value.parse::<u64>().ok()).sum()
    }
}

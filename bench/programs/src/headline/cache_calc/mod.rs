//! Tasks that use one cache, sleep, and use it again.

mod actor;
mod behaviour;

use std::collections::HashMap;
use std::time::Duration;

use crate::runtime;
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Finish, Group, Implementation, Measured, Setup, Unit, Workload};

#[derive(Clone, Copy)]
struct Size {
    tasks: u64,
    keys: u64,
    sleep: Duration,
}

/// What is cached.
#[derive(Default)]
struct Cache(HashMap<String, String>);

impl Cache {
    /// The work: some values are read, and stored one higher.
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

/// Tasks that sleep so many microseconds.
pub struct CacheCalc<const SLEEP: u64> {
    /// The name of the workload.
    pub name: &'static str,
}

impl<const SLEEP: u64> CacheCalc<SLEEP> {
    fn size(setup: &Setup) -> Size {
        Size { tasks: setup.scaled(1_000), keys: 10, sleep: Duration::from_micros(SLEEP) }
    }
}

impl<const SLEEP: u64> Workload for CacheCalc<SLEEP> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "1,000 tasks change 10 strings in a shared map, sleep, and do it again; the whole"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn unit(&self) -> Unit {
        Unit::Seconds
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let Size { tasks, keys, .. } = Self::size(setup);
        vec![("tasks", tasks), ("keys", keys), ("sleep", SLEEP)]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        let Size { tasks, keys, .. } = Self::size(setup);
        expect("the sum of the values", 2 * tasks * keys, measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "futures that ask an actor, and sleep by the runtime's timers",
                run: |setup| run(setup, Self::size(setup), actor::start),
            },
            Implementation {
                name: "coact-when",
                about: "a behaviour on a cown, and another by a timer",
                run: |setup| run(setup, Self::size(setup), behaviour::start),
            },
        ]
    }
}

fn run(setup: &Setup, size: Size, start: fn(Size, Finish)) -> Measured {
    runtime::run(setup, 2 * size.tasks, 1, move |done| start(size, done))
}

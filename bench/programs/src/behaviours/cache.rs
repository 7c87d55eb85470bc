//! The cache is a cown, a task two behaviours and a timer between them.

use coact::prelude::*;
use coact_bench_workloads::work::cache::{Cache, CacheSizes};
use coact_bench_workloads::{Finish, Given, Measured};

use crate::cache;

struct Shared {
    cache: Cache,
    /// Tasks that have not ended.
    tasks: u64,
}

pub fn run(given: &Given) -> anyhow::Result<Measured> {
    cache::run(given, start)
}

fn start(size: CacheSizes, done: Finish) {
    let cache = Cown::new(Shared { cache: Cache::default(), tasks: size.tasks });
    for _ in 0..size.tasks {
        task(&cache, size, done.clone());
    }
}

fn task(cache: &Cown<Shared>, CacheSizes { keys, sleep: pause, .. }: CacheSizes, done: Finish) {
    when(cache.clone(), move |shared| {
        let (shared, cache) = shared.into_parts();
        shared.cache.calc(keys);
        after(pause, &cache, move |shared| {
            shared.cache.calc(keys);
            shared.tasks -= 1;
            if shared.tasks == 0 {
                done.part(shared.cache.sum());
            }
        });
    });
}

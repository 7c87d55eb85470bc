//! The cache is shared.

use std::sync::Arc;

use coact_bench_workloads::work::cache::{Cache, CacheSizes};
use coact_bench_workloads::{Given, Measured};
use tokio::sync::Mutex;

use crate::lock::Lock;
use crate::runtime;

/// A mutex that blocks the thread; no task waits for anything else while it has it.
pub fn blocking<L: Lock<Cache> + 'static>(
    given: &Given,
    size: CacheSizes,
) -> anyhow::Result<Measured> {
    let runtime = runtime::start_with_time(given.workers()?)?;
    Ok(runtime::run(runtime, 2 * size.tasks, 1, move |finish| async move {
        let cache = Arc::new(L::new(Cache::default()));
        let task = |cache: Arc<L>| async move {
            cache.hold().calc(size.keys);
            tokio::time::sleep(size.sleep).await;
            cache.hold().calc(size.keys);
        };
        let tasks: Vec<_> =
            (0..size.tasks).map(|_| tokio::spawn(task(Arc::clone(&cache)))).collect();
        for task in tasks {
            task.await.expect("no task panics");
        }
        finish.part(cache.hold().sum());
    }))
}

/// A mutex that a task waits for.
pub fn tokio(given: &Given, size: CacheSizes) -> anyhow::Result<Measured> {
    let runtime = runtime::start_with_time(given.workers()?)?;
    Ok(runtime::run(runtime, 2 * size.tasks, 1, move |finish| async move {
        let cache = Arc::new(Mutex::new(Cache::default()));
        let task = |cache: Arc<Mutex<Cache>>| async move {
            cache.lock().await.calc(size.keys);
            tokio::time::sleep(size.sleep).await;
            cache.lock().await.calc(size.keys);
        };
        let tasks: Vec<_> =
            (0..size.tasks).map(|_| tokio::spawn(task(Arc::clone(&cache)))).collect();
        for task in tasks {
            task.await.expect("no task panics");
        }
        finish.part(cache.lock().await.sum());
    }))
}

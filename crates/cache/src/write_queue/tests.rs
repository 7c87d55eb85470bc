//! Who is told of news, and for how long.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use coact_actor::spawn;
use coact_core::Runtime;

use super::WriteQueue;
use crate::builder::WriteMode;
use crate::{Backing, BackingError, BoxError, Cache, CacheSpec, Caching, Write, WriteBehind};

struct StuckStore;

impl Backing<u32, u32> for StuckStore {
    async fn load(&self, _: u32) -> Result<Option<u32>, BoxError> {
        Ok(None)
    }

    async fn write(&self, writes: Vec<Write<u32, u32>>) -> Result<(), BackingError> {
        if writes.iter().any(|write| write.value == Some(0)) {
            pending::<()>().await;
        }
        Ok(())
    }
}

fn spec(settings: WriteBehind<u32, u32>) -> CacheSpec<u32, u32> {
    Cache::builder().max_entries(10).write_behind(StuckStore, settings).build().unwrap()
}

fn queue(spec: &CacheSpec<u32, u32>) -> Arc<WriteQueue<u32, u32>> {
    match &spec.0.writing {
        WriteMode::Behind(queue) => Arc::clone(queue),
        _ => unreachable!("the specification says so"),
    }
}

#[test]
fn a_cache_that_has_ended_leaves_no_listener_behind() {
    let spec = spec(WriteBehind::new());
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| {
        for n in 0..100 {
            let cache = spec.spawn();
            assert_eq!(cache.get_cached(1).wait(), Ok(None));
            assert!((1..=n + 1).contains(&queue(&spec).state().listeners.len()));
            match n % 3 {
                0 => cache.kill().unwrap(),
                1 => cache.stop().unwrap(),
                _ => drop(cache),
            }
        }
    });
    assert_eq!(queue(&spec).state().listeners.len(), 0);
    assert_eq!(queue(&spec).state().room_wanted.len(), 0);
}

#[test]
fn a_cache_that_ends_wants_no_room() {
    let settings = WriteBehind::new().max_waiting(1).delay(Duration::ZERO).on_lost(|_| {});
    let spec = spec(settings);
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let entered = runtime.enter();
    let cache = spec.spawn();
    // The store takes it, and does not end.
    cache.put(1, 0).wait().unwrap().unwrap();
    let held = cache.put(2, 1);
    assert_eq!(cache.get_cached(1).wait(), Ok(Some(0)));
    assert_eq!(queue(&spec).state().room_wanted.len(), 1);
    cache.stop().unwrap();
    assert!(held.wait().is_err());
    // Another one, whose turn comes behind the end of the first.
    let other = spawn(spec.cache());
    assert_eq!(other.get_cached(7).wait(), Ok(None));
    while queue(&spec).state().listeners.len() > 1 {
        std::thread::yield_now();
    }
    assert_eq!(queue(&spec).state().room_wanted.len(), 0);
    drop(entered);
    assert!(!runtime.shutdown(Duration::from_millis(50)).is_complete());
}

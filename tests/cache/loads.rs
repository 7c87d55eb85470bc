//! Loads: one for all askers, and no value that is older than one already known.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use coact::cache::{Cache, Caching, Get, GetCached, LoadError};
use coact::prelude::*;
use coact::sim::{Config, Sim};
use coact::time::sleep;
use coact_tests::{everywhere, everywhere_with_faults};

use crate::table::{Fate, Table};

const MS: Duration = Duration::from_millis(1);

fn through(table: &Table) -> Addr<Cache<u32, u64>> {
    Cache::builder().max_entries(100).read_through(table.clone()).build().unwrap().spawn()
}

#[test]
fn c3_a_thousand_who_ask_for_one_key_have_one_load() {
    everywhere(|| {
        let table = Table::slow(500, 1).with([(7, 49)]);
        let cache = through(&table);
        let asked: Vec<_> = (0..1_000).map(|_| cache.get(7)).collect();
        assert!(asked.into_iter().all(|asked| asked.wait().unwrap().unwrap() == Some(49)));
        assert_eq!(table.inner().loads, 1);
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.loads, counts.hits + counts.misses, counts.loading), (1, 1_000, 0));
    });
}

#[test]
fn c3_a_function_on_a_blocking_thread_is_called_once() {
    everywhere(|| {
        let calls = Arc::new(AtomicU64::new(0));
        let far = Arc::clone(&calls);
        let load = move |key: u32| {
            far.fetch_add(1, Ordering::Relaxed);
            Ok(Some(u64::from(key) * 2))
        };
        let cache = Cache::builder().max_entries(10).load_blocking(load).build().unwrap().spawn();
        let asked: Vec<_> = (0..50).map(|_| cache.get(7)).collect();
        assert!(asked.into_iter().all(|asked| asked.wait().unwrap().unwrap() == Some(14)));
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    });
}

/// The messages by their names.
#[test]
fn messages_can_be_asked_and_sent() {
    everywhere(|| {
        let cache = through(&Table::new().with([(1, 1)]));
        assert_eq!(cache.ask(GetCached::new(1)).wait(), Ok(None));
        assert!(cache.send(Get::new(1)).is_ok());
        assert_eq!(cache.ask(Get::new(1)).wait().unwrap().unwrap(), Some(1));
        assert_eq!(cache.ask(GetCached::new(1)).wait(), Ok(Some(1)));
    });
}

#[test]
fn c4_what_is_put_while_a_load_is_under_way_stays() {
    everywhere(|| {
        let table = Table::slow(500, 2).with([(7, 1)]);
        let cache = through(&table);
        let before = cache.get(7);
        let put = cache.put(7, 2);
        let behind = cache.get(7);
        assert!(matches!(before.wait().unwrap().unwrap(), Some(1)));
        assert!(put.wait().unwrap().is_ok());
        assert_eq!(behind.wait().unwrap().unwrap(), Some(2));
        assert_eq!(cache.get(7).wait().unwrap().unwrap(), Some(2));
    });
}

#[test]
fn c4_what_was_invalidated_while_it_was_loaded_is_loaded_again() {
    everywhere(|| {
        let table = Table::slow(500, 3).with([(7, 1)]);
        let cache = through(&table);
        let before = cache.get(7);
        // It has read the old value, or will read the new one. It is not asked for by those behind.
        let changed = table.clone();
        let far = cache.clone();
        let done = call(&cache, move |_| {
            changed.inner().values.insert(7, 2);
            changed.supersede(7);
            far.invalidate(7)
        });
        done.wait().unwrap().wait().unwrap();
        let behind: Vec<_> = (0..10).map(|_| cache.get(7)).collect();
        assert!(matches!(before.wait().unwrap().unwrap(), Some(1 | 2)));
        assert!(behind.into_iter().all(|asked| asked.wait().unwrap().unwrap() == Some(2)));
        assert!(table.inner().loads <= 2);
        cache.invalidate_all().wait().unwrap();
        table.inner().values.insert(7, 3);
        assert_eq!(cache.get(7).wait().unwrap().unwrap(), Some(3));
    });
}

#[test]
fn c4_a_put_answers_those_who_wait_behind_a_load_that_is_void() {
    everywhere(|| {
        let table = Table::new();
        table.fate(|_| Fate::Hangs);
        let cache = through(&table);
        let hangs = cache.get(7);
        table.supersede(7);
        cache.invalidate(7).wait().unwrap();
        let behind = cache.get(7);
        cache.put(7, 5).wait().unwrap().unwrap();
        assert_eq!(behind.wait().unwrap().unwrap(), Some(5));
        assert_eq!(cache.get(7).wait().unwrap().unwrap(), Some(5));
        cache.stop().unwrap();
        assert!(matches!(hangs.wait(), Err(AskError::Stopped(_))));
    });
}

/// The stale load concerns only those who had asked before.
#[test]
fn c4_a_get_behind_an_invalidation_waits_for_no_load_from_before() {
    everywhere(|| {
        let table = Table::new().with([(7, 1)]);
        let (go, gate) = Promise::channel();
        table.inner().until = Some(gate);
        let cache = through(&table);
        let before = [cache.get(7), cache.get(7)];
        table.supersede(7);
        let invalidated = cache.invalidate(7);
        // Both were handled, and the load has read the old value.
        invalidated.wait().unwrap();
        while table.inner().until.is_some() {
            assert_eq!(cache.get_cached(9).wait(), Ok(None));
        }
        table.inner().values.insert(7, 2);
        let behind = [cache.get(7), cache.get(7)];
        behind.into_iter().for_each(|get| assert_eq!(get.wait().unwrap().unwrap(), Some(2)));
        assert_eq!(cache.counts().wait().unwrap().loading, 1);
        go.resolve(());
        before.into_iter().for_each(|get| assert_eq!(get.wait().unwrap().unwrap(), Some(1)));
        // What is told to these is not kept.
        assert_eq!(cache.get(7).wait().unwrap().unwrap(), Some(2));
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.loads, counts.loading, table.inner().loads), (2, 0, 2));
    });
}

#[test]
fn c4_a_load_that_is_void_and_not_waited_for_is_dropped() {
    everywhere(|| {
        let table = Table::new().with([(7, 1)]);
        table.fate(|_| Fate::Hangs);
        let cache = through(&table);
        // Nothing waits for either.
        cache.send(Get::new(7)).unwrap();
        drop(cache.get(7));
        table.supersede(7);
        cache.invalidate(7).wait().unwrap();
        while cache.counts().wait().unwrap().loading > 0 {}
        assert_eq!(table.inner().pending_loads(), 0);
        cache.send(Get::new(7)).unwrap();
        table.supersede(7);
        cache.invalidate_all().wait().unwrap();
        while cache.counts().wait().unwrap().loading > 0 {}
        cache.send(Get::new(7)).unwrap();
        cache.put(7, 5).wait().unwrap().unwrap();
        while cache.counts().wait().unwrap().loading > 0 {}
        assert_eq!(table.inner().pending_loads(), 0);
        assert_eq!(cache.counts().wait().unwrap().load_failures, 0);
        assert_eq!(cache.get(7).wait().unwrap().unwrap(), Some(5));
    });
}

/// A function on a blocking thread cannot be dropped: it goes on, and its result is ignored.
#[test]
fn c4_a_function_that_is_void_goes_on_beside_the_next() {
    everywhere(|| {
        let (go, gate) = Promise::channel();
        let gate = Arc::new(std::sync::Mutex::new(Some(gate)));
        let calls = Arc::new(AtomicU64::new(0));
        let far = Arc::clone(&calls);
        let load = move |_: u32| {
            let call = far.fetch_add(1, Ordering::Relaxed) + 1;
            let gate: Option<Promise<()>> = gate.lock().unwrap().take();
            if let Some(gate) = gate {
                gate.wait().unwrap();
            }
            Ok(Some(call))
        };
        let cache = Cache::builder().max_entries(10).load_blocking(load).build().unwrap().spawn();
        let before = cache.get(1);
        while calls.load(Ordering::Relaxed) == 0 {
            assert_eq!(cache.get_cached(9).wait(), Ok(None));
        }
        cache.invalidate(1).wait().unwrap();
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(2));
        assert_eq!(cache.counts().wait().unwrap().loading, 1);
        go.resolve(());
        assert_eq!(before.wait().unwrap().unwrap(), Some(1));
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(2));
    });
}

#[test]
fn c3_a_get_with_a_loader_of_its_own_joins_a_load_that_is_current() {
    everywhere(|| {
        let table = Table::slow(300, 6).with([(7, 1)]);
        let cache = through(&table);
        let own = Arc::new(AtomicU64::new(0));
        let with = |value: u64| {
            let own = Arc::clone(&own);
            cache.get_with(7, move |_| async move {
                own.fetch_add(1, Ordering::Relaxed);
                let _ = sleep(MS).await;
                Ok(Some(value))
            })
        };
        let (first, second) = (cache.get(7), with(2));
        assert_eq!(first.wait().unwrap().unwrap(), Some(1));
        assert_eq!(second.wait().unwrap().unwrap(), Some(1));
        // It is there.
        assert_eq!(with(3).wait().unwrap().unwrap(), Some(1));
        assert_eq!((own.load(Ordering::Relaxed), table.inner().loads), (0, 1));
        table.supersede(7);
        cache.invalidate(7).wait().unwrap();
        let (first, second) = (with(4), cache.get(7));
        assert_eq!(first.wait().unwrap().unwrap(), Some(4));
        assert_eq!(second.wait().unwrap().unwrap(), Some(4));
        assert_eq!(cache.get(7).wait().unwrap().unwrap(), Some(4));
        assert_eq!((own.load(Ordering::Relaxed), table.inner().loads), (1, 1));
    });
}

#[test]
fn c5_loaders_of_single_gets_fail_like_others() {
    everywhere_with_faults(|_| {
        // One without a loader of its own.
        let spec = Cache::<u32, u64>::builder().max_entries(10).load_timeout(MS);
        let cache = spec.build().unwrap().spawn();
        let failed = cache.get_with(1, |_| async { Err("not today".into()) });
        assert!(matches!(failed.wait().unwrap(), Err(LoadError::Failed(_))));
        let panicked = cache.get_with(1, |_| async { coact_tests::fail("oh") });
        assert!(matches!(panicked.wait().unwrap(), Err(LoadError::Panicked(_))));
        let early = cache.get_with(1, |key| {
            if key == 1 {
                coact_tests::fail("early");
            }
            async { Ok(None) }
        });
        assert!(matches!(early.wait().unwrap(), Err(LoadError::Panicked(_))));
        let hangs = cache.get_with(1, |_| std::future::pending());
        assert!(matches!(hangs.wait().unwrap(), Err(LoadError::TimedOut(MS))));
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), None);
        let absent = cache.get_with(1, |_| async { Ok(None) });
        assert_eq!(absent.wait().unwrap().unwrap(), None);
        let loaded = cache.get_with(1, |key| async move { Ok(Some(u64::from(key) + 1)) });
        assert_eq!(loaded.wait().unwrap().unwrap(), Some(2));
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(2));
        assert_eq!(cache.counts().wait().unwrap().load_failures, 4);
    });
}

/// It waits behind a write, with its loader.
#[test]
fn c6_a_get_with_a_loader_of_its_own_waits_for_a_write() {
    everywhere(|| {
        let table = Table::slow(300, 7).with([(1, 10)]);
        let mut nth = 0;
        table.fate(move |_| {
            nth += 1;
            if nth == 1 { Fate::Fails } else { Fate::Done }
        });
        let spec = Cache::builder().max_entries(10).write_through(table.clone());
        let cache = spec.build().unwrap().spawn();
        let put = cache.put(1, 11);
        let seen = cache.get_with(1, |_| async { Ok(Some(12)) });
        let next = cache.get(1);
        assert!(put.wait().unwrap().is_err());
        assert_eq!(seen.wait().unwrap().unwrap(), Some(12));
        assert_eq!(next.wait().unwrap().unwrap(), Some(12));
        assert_eq!(table.inner().loads, 0);
    });
}

#[test]
fn c15_no_more_loads_are_under_way_than_may_be() {
    everywhere(|| {
        let table = Table::new().with((0..10).map(|key| (key, u64::from(key))));
        table.fate(|keys| if keys[0] < 2 { Fate::Hangs } else { Fate::Done });
        let spec = Cache::builder().max_entries(10).read_through(table.clone()).max_loads(2);
        let cache = spec.build().unwrap().spawn();
        cache.put(9, 90).wait().unwrap().unwrap();
        let hang = [cache.get(0), cache.get(1)];
        for key in [2, 3] {
            match cache.get(key).wait().unwrap() {
                Err(error @ LoadError::Full(2)) => assert!(error.to_string().contains("max_loads")),
                other => panic!("{other:?}"),
            }
        }
        let own = cache.get_with(4, |_| async { Ok(Some(4)) });
        assert!(matches!(own.wait().unwrap(), Err(LoadError::Full(2))));
        // What is there is not concerned, nor those who join.
        assert_eq!(cache.get(9).wait().unwrap().unwrap(), Some(90));
        let joined = cache.get(0);
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.loading, counts.refused_loads, counts.loads), (2, 3, 2));
        assert_eq!(counts.load_failures, 0);
        // One that is not waited for any more gives its place back.
        drop((hang, joined));
        table.supersede(0);
        cache.invalidate(0).wait().unwrap();
        while cache.counts().wait().unwrap().loading > 1 {}
        assert_eq!(cache.get(2).wait().unwrap().unwrap(), Some(2));
        cache.kill().unwrap();
    });
}

#[test]
fn c15_a_load_that_has_ended_gives_its_place_back_however_it_has() {
    everywhere_with_faults(|_| {
        let table = Table::slow(200, 8);
        let spec = Cache::builder().max_entries(10).read_through(table.clone()).max_loads(1);
        let cache = spec.load_timeout(MS).build().unwrap().spawn();
        for fate in [Fate::Fails, Fate::Panics, Fate::Hangs, Fate::Done] {
            table.fate(move |_| fate);
            let seen = cache.get(1).wait().unwrap();
            assert_eq!(seen.is_ok(), fate == Fate::Done, "{seen:?}");
        }
        assert_eq!(cache.counts().wait().unwrap().refused_loads, 0);
    });
}

#[test]
fn c5_a_load_that_fails_is_told_to_all_and_tried_again() {
    everywhere_with_faults(|_| {
        let table = Table::slow(200, 4).with([(7, 1)]);
        let cache = through(&table);
        for fate in [Fate::Fails, Fate::Panics] {
            table.fate(move |_| fate);
            let asked: Vec<_> = (0..20).map(|_| cache.get(7)).collect();
            for asked in asked {
                match (fate, asked.wait().unwrap()) {
                    (Fate::Fails, Err(LoadError::Failed(error))) => {
                        assert_eq!(error.to_string(), "not today");
                    }
                    (Fate::Panics, Err(LoadError::Panicked(message))) => {
                        assert_eq!(&*message, "the store has a bad day");
                    }
                    (_, other) => panic!("{other:?}"),
                }
            }
        }
        table.fate(|_| Fate::Done);
        assert_eq!(cache.get(7).wait().unwrap().unwrap(), Some(1));
        let counts = cache.counts().wait().unwrap();
        assert_eq!(counts.load_failures + 1, counts.loads);
        assert!((2..=40).contains(&counts.load_failures));
    });
}

#[test]
fn c5_a_load_that_never_ends_is_in_the_way_of_its_key_alone() {
    everywhere(|| {
        let table = Table::new().with([(1, 1), (2, 2)]);
        table.fate(|keys| if keys == [1] { Fate::Hangs } else { Fate::Done });
        let cache = through(&table);
        let hangs = cache.get(1);
        for _ in 0..3 {
            assert_eq!(cache.get(2).wait().unwrap().unwrap(), Some(2));
        }
        // What is put is there.
        cache.put(1, 5).wait().unwrap().unwrap();
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(5));
        cache.kill().unwrap();
        assert!(matches!(hangs.wait(), Err(AskError::Stopped(ExitReason::Killed))));
    });
}

#[test]
fn c5_a_load_that_takes_too_long_is_cut_off() {
    everywhere(|| {
        let table = Table::new().with([(1, 1)]);
        table.fate(|_| Fate::Hangs);
        let spec = Cache::builder().max_entries(10).read_through(table.clone());
        let cache = spec.load_timeout(MS).build().unwrap().spawn();
        let asked: Vec<_> = (0..10).map(|_| cache.get(1)).collect();
        for asked in asked {
            assert!(matches!(asked.wait().unwrap(), Err(LoadError::TimedOut(MS))));
        }
        table.fate(|_| Fate::Done);
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
    });
}

/// One on a blocking thread cannot be cut off.
#[test]
fn c5_a_function_that_takes_too_long_is_not_called_again_before_it_has_returned() {
    everywhere(|| {
        let (go, gate) = Promise::channel();
        let gate = Arc::new(std::sync::Mutex::new(Some(gate)));
        let calls = Arc::new(AtomicU64::new(0));
        let far = Arc::clone(&calls);
        let load = move |key: u32| {
            far.fetch_add(1, Ordering::Relaxed);
            let gate: Option<Promise<()>> = gate.lock().unwrap().take();
            if let Some(gate) = gate {
                gate.wait().unwrap();
            }
            Ok(Some(u64::from(key)))
        };
        let spec = Cache::builder().max_entries(10).load_blocking(load).load_timeout(MS);
        let cache = spec.build().unwrap().spawn();
        for _ in 0..3 {
            assert!(matches!(cache.get(1).wait().unwrap(), Err(LoadError::TimedOut(MS))));
        }
        // It may not even have begun.
        assert!(calls.load(Ordering::Relaxed) <= 1);
        go.resolve(());
        // What it has returned is good, and found by and by.
        while cache.get_cached(1).wait().unwrap().is_none() {}
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn c5_failures_are_kept_if_that_is_asked_for() {
    Sim::new().config(Config::new().runs(20)).check(|| {
        let table = Table::new();
        table.fate(|_| Fate::Fails);
        let spec = Cache::builder().max_entries(10).read_through(table.clone());
        let cache = spec.negative_time_to_live(10 * MS).build().unwrap().spawn();
        for _ in 0..5 {
            assert!(matches!(cache.get(1).wait().unwrap(), Err(LoadError::Failed(_))));
        }
        assert_eq!(table.inner().loads, 1);
        sleep(10 * MS).wait().unwrap();
        assert!(cache.get(1).wait().unwrap().is_err());
        assert_eq!(table.inner().loads, 2);
        // A put is newer than that.
        cache.put(1, 1).wait().unwrap().unwrap();
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
    });
}

/// A loader may ask other actors, and the cache itself.
#[test]
fn loaders_may_use_the_runtime() {
    everywhere(|| {
        let fibonacci = |n: u32, cache: Addr<Cache<u32, u64>>| async move {
            if n < 2 {
                return Ok(Some(u64::from(n)));
            }
            let (a, b) = (cache.get(n - 1), cache.get(n - 2));
            Ok(Some(a.await??.unwrap_or(0) + b.await??.unwrap_or(0)))
        };
        let own = Arc::new(std::sync::OnceLock::<coact::actor::WeakAddr<Cache<u32, u64>>>::new());
        let far = Arc::clone(&own);
        let load = move |n: u32| fibonacci(n, far.get().and_then(|own| own.upgrade()).unwrap());
        let cache = Cache::builder().max_entries(100).load(load).build().unwrap().spawn();
        let _ = own.set(cache.downgrade());
        assert_eq!(cache.get(50).wait().unwrap().unwrap(), Some(12_586_269_025));
        assert_eq!(cache.counts().wait().unwrap().loads, 51);
    });
}

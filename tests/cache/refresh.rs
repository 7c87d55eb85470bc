//! Refreshes: values that are loaded again before they expire.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use coact::cache::{Cache, CacheBuilder, Caching, LoadError, RemovalCause, WriteBehind};
use coact::prelude::*;
use coact::sim::{Config, Sim};
use coact::time::sleep;
use coact_tests::Log;

use crate::table::{Fate, Table};

const MS: Duration = Duration::from_millis(1);

type Numbers = Addr<Cache<u32, u64>>;

fn in_virtual_time(program: impl Fn() + 'static) {
    Sim::new().config(Config::new().runs(20)).allow_faults(true).check(program);
}

/// Values are loaded again after 10 ms, and live for 100 ms.
fn refreshing() -> CacheBuilder<u32, u64> {
    Cache::builder().max_entries(10).time_to_live(100 * MS).refresh_after_write(10 * MS)
}

fn pass(time: Duration) {
    sleep(time).wait().unwrap();
}

fn get(cache: &Numbers, key: u32) -> Option<u64> {
    cache.get(key).wait().unwrap().unwrap()
}

/// Waits until no load is running.
fn settle(cache: &Numbers) {
    while cache.counts().wait().unwrap().loading > 0 {
        pass(MS / 10);
    }
}

#[test]
fn c13_the_old_value_is_answered_while_it_is_loaded_again() {
    in_virtual_time(|| {
        let table = Table::new().with([(1, 1)]);
        let cache = refreshing().read_through(table.clone()).build().unwrap().spawn();
        assert_eq!(get(&cache, 1), Some(1));
        table.inner().values.insert(1, 2);
        pass(9 * MS);
        assert_eq!(get(&cache, 1), Some(1));
        assert_eq!(cache.counts().wait().unwrap().refreshes, 0);
        pass(MS);
        let (go, gate) = Promise::channel();
        table.inner().until = Some(gate);
        // One load for all of them, which none waits for.
        (0..10).for_each(|_| assert_eq!(get(&cache, 1), Some(1)));
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.refreshes, counts.loads, counts.loading), (1, 2, 1));
        assert_eq!(counts.hits, 11);
        go.resolve(());
        settle(&cache);
        assert_eq!(get(&cache, 1), Some(2));
        // Its time begins anew, with its load.
        pass(95 * MS);
        assert_eq!(get(&cache, 1), Some(2));
        assert_eq!(cache.counts().wait().unwrap().expired, 0);
    });
}

/// A value that no one asks for is not loaded: the runtime is idle, and the value expires.
#[test]
fn c13_no_value_is_loaded_again_that_is_not_asked_for() {
    in_virtual_time(|| {
        let table = Table::new().with([(1, 1)]);
        let cache = refreshing().read_through(table.clone()).build().unwrap().spawn();
        assert_eq!(get(&cache, 1), Some(1));
        pass(50 * MS);
        // Nor by those who load nothing.
        assert_eq!(cache.get_cached(1).wait(), Ok(Some(1)));
        assert_eq!(call(cache.read(), |cache| cache.cached(&1).copied()).wait(), Ok(Some(1)));
        assert_eq!(table.inner().loads, 1);
        pass(50 * MS);
        assert_eq!(cache.get_cached(1).wait(), Ok(None));
        assert_eq!(table.inner().loads, 1);
    });
}

#[test]
fn c13_a_refresh_that_fails_changes_nothing() {
    in_virtual_time(|| {
        let table = Table::new().with([(1, 1)]);
        let cache = refreshing().read_through(table.clone()).load_timeout(MS);
        // A failure of a get would be kept.
        let cache = cache.negative_time_to_live(50 * MS).build().unwrap().spawn();
        assert_eq!(get(&cache, 1), Some(1));
        pass(10 * MS);
        for (nth, fate) in [Fate::Fails, Fate::Panics, Fate::Hangs].into_iter().enumerate() {
            table.fate(move |_| fate);
            assert_eq!(get(&cache, 1), Some(1));
            settle(&cache);
            let counts = cache.counts().wait().unwrap();
            assert_eq!((counts.refreshes, counts.load_failures), (nth as u64 + 1, nth as u64 + 1));
        }
        table.fate(|_| Fate::Done);
        table.inner().values.insert(1, 2);
        assert_eq!(get(&cache, 1), Some(1));
        settle(&cache);
        assert_eq!(get(&cache, 1), Some(2));
        // An outage longer than the value lives.
        table.fate(|_| Fate::Fails);
        pass(99 * MS);
        assert_eq!(get(&cache, 1), Some(2));
        settle(&cache);
        pass(MS);
        assert!(matches!(cache.get(1).wait().unwrap(), Err(LoadError::Failed(_))));
    });
}

/// Its time is over, or there was no room: those who ask now wait for the load that is under way.
#[test]
fn c13_a_get_joins_a_refresh_if_the_old_value_is_gone() {
    in_virtual_time(|| {
        for fate in [Fate::Done, Fate::Fails] {
            let table = Table::new().with([(1, 1)]);
            let cache = refreshing().read_through(table.clone()).build().unwrap().spawn();
            assert_eq!(get(&cache, 1), Some(1));
            table.inner().values.insert(1, 2);
            table.fate(move |_| fate);
            pass(10 * MS);
            let (go, gate) = Promise::channel();
            table.inner().until = Some(gate);
            assert_eq!(get(&cache, 1), Some(1));
            (20..30).for_each(|key| cache.put(key, 0).wait().unwrap().unwrap());
            let joined = cache.get(1);
            assert_eq!(cache.counts().wait().unwrap().loads, 2);
            go.resolve(());
            match (fate, joined.wait().unwrap()) {
                (Fate::Done, seen) => assert_eq!(seen.unwrap(), Some(2)),
                (_, seen) => assert!(matches!(seen, Err(LoadError::Failed(_))), "{seen:?}"),
            }
        }
    });
}

#[test]
fn c13_a_refresh_that_finds_no_value_drops_the_old_one() {
    in_virtual_time(|| {
        for keeps_absences in [false, true] {
            let (table, log) = (Table::new().with([(1, 1)]), Log::new());
            let told = log.clone();
            let mut builder = refreshing().read_through(table.clone());
            builder = builder.eviction_listener(move |entry| {
                told.push((entry.key, entry.value, entry.cause));
            });
            if keeps_absences {
                builder = builder.negative_time_to_live(50 * MS);
            }
            let cache = builder.build().unwrap().spawn();
            assert_eq!(get(&cache, 1), Some(1));
            table.inner().values.remove(&1);
            pass(10 * MS);
            assert_eq!(get(&cache, 1), Some(1));
            settle(&cache);
            assert_eq!(get(&cache, 1), None);
            assert_eq!(table.inner().loads, if keeps_absences { 2 } else { 3 });
            let cause =
                if keeps_absences { RemovalCause::Replaced } else { RemovalCause::Explicit };
            assert_eq!(log.take(), [(1, 1, cause)]);
        }
    });
}

#[test]
fn c13_what_is_put_or_invalidated_meanwhile_makes_a_refresh_void() {
    in_virtual_time(|| {
        let table = Table::new().with([(1, 1), (2, 2)]);
        let cache = refreshing().read_through(table.clone()).build().unwrap().spawn();
        assert_eq!((get(&cache, 1), get(&cache, 2)), (Some(1), Some(2)));
        pass(10 * MS);
        table.fate(|_| Fate::Hangs);
        assert_eq!((get(&cache, 1), get(&cache, 2)), (Some(1), Some(2)));
        assert_eq!(cache.counts().wait().unwrap().loading, 2);
        cache.put(1, 5).wait().unwrap().unwrap();
        table.supersede(2);
        cache.invalidate(2).wait().unwrap();
        // They would hang for ever.
        settle(&cache);
        table.fate(|_| Fate::Done);
        assert_eq!(get(&cache, 1), Some(5));
        table.inner().values.insert(2, 7);
        assert_eq!(get(&cache, 2), Some(7));
    });
}

#[test]
fn c13_no_refresh_reads_behind_a_write_that_waits() {
    in_virtual_time(|| {
        let table = Table::new().with([(1, 1)]);
        let settings = WriteBehind::new().delay(3_600_000 * MS);
        let cache = refreshing().write_behind(table.clone(), settings).build().unwrap().spawn();
        cache.put(1, 2).wait().unwrap().unwrap();
        pass(50 * MS);
        assert_eq!(get(&cache, 1), Some(2));
        assert_eq!(cache.counts().wait().unwrap().refreshes, 0);
        cache.flush().wait().unwrap().unwrap();
        assert_eq!(get(&cache, 1), Some(2));
        settle(&cache);
        assert_eq!(get(&cache, 1), Some(2));
        assert_eq!(cache.counts().wait().unwrap().refreshes, 1);
    });
}

#[test]
fn c13_a_refresh_finds_no_room_among_the_loads_and_the_old_value_is_answered() {
    in_virtual_time(|| {
        let table = Table::new().with([(1, 1)]);
        let cache = refreshing().read_through(table.clone()).max_loads(1);
        let cache = cache.build().unwrap().spawn();
        assert_eq!(get(&cache, 1), Some(1));
        pass(10 * MS);
        table.fate(|_| Fate::Hangs);
        let hangs = cache.get(2);
        assert_eq!(get(&cache, 1), Some(1));
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.refreshes, counts.refused_loads, counts.loading), (0, 0, 1));
        cache.kill().unwrap();
        assert!(hangs.wait().is_err());
    });
}

#[test]
fn c13_a_function_on_a_blocking_thread_refreshes_as_well() {
    in_virtual_time(|| {
        let calls = Arc::new(AtomicU64::new(0));
        let far = Arc::clone(&calls);
        let load = move |_: u32| Ok(Some(far.fetch_add(1, Ordering::Relaxed)));
        let cache = refreshing().load_blocking(load).build().unwrap().spawn();
        assert_eq!(get(&cache, 1), Some(0));
        pass(10 * MS);
        assert_eq!(get(&cache, 1), Some(0));
        settle(&cache);
        assert_eq!(get(&cache, 1), Some(1));
        assert_eq!(calls.load(Ordering::Relaxed), 2);
    });
}

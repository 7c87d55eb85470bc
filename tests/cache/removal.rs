//! The calls of the listener for dropped entries.

use std::time::Duration;

use coact::cache::RemovalCause::{Expired, Explicit, Replaced, Size};
use coact::cache::{Cache, CacheBuilder, Caching, RemovalCause, WriteBehind};
use coact::prelude::*;
use coact::sim::{Config, Sim};
use coact::time::sleep;
use coact_tests::{Log, everywhere, everywhere_with_faults, finally};

use crate::table::{Fate, Table};

const MS: Duration = Duration::from_millis(1);

type Removals = Log<(u32, u64, RemovalCause)>;

fn listening(builder: CacheBuilder<u32, u64>) -> (CacheBuilder<u32, u64>, Removals) {
    let log = Log::new();
    let told = log.clone();
    let tell = move |entry: coact::cache::RemovedEntry<u32, u64>| {
        told.push((entry.key, entry.value, entry.cause));
    };
    (builder.eviction_listener(tell), log)
}

fn put(cache: &Addr<Cache<u32, u64>>, key: u32, value: u64) {
    cache.put(key, value).wait().unwrap().unwrap();
}

#[test]
fn c14_each_value_that_is_dropped_is_told_once_and_with_its_cause() {
    everywhere(|| {
        let builder = Cache::builder().max_entries(2).max_weight(100, |_, value| *value);
        let (builder, log) = listening(builder);
        let cache = builder.build().unwrap().spawn();
        put(&cache, 1, 1);
        put(&cache, 1, 2);
        assert_eq!(log.take(), [(1, 1, Replaced)]);
        cache.remove(1).wait().unwrap().unwrap();
        put(&cache, 2, 3);
        cache.invalidate(2).wait().unwrap();
        assert_eq!(log.take(), [(1, 2, Explicit), (2, 3, Explicit)]);
        (3..6).for_each(|key| put(&cache, key, u64::from(key)));
        assert_eq!(log.take(), [(3, 3, Size)]);
        // One that is never kept, and what it would have replaced.
        put(&cache, 5, 101);
        put(&cache, 6, 102);
        assert_eq!(log.take(), [(5, 5, Replaced), (5, 101, Size), (6, 102, Size)]);
        put(&cache, 7, 7);
        cache.invalidate_all().wait().unwrap();
        let mut told = log.take();
        told.sort_by_key(|(key, ..)| *key);
        assert_eq!(told, [(4, 4, Explicit), (7, 7, Explicit)]);
        // That nothing was there is not told.
        cache.remove(9).wait().unwrap().unwrap();
        cache.invalidate(9).wait().unwrap();
        assert!(log.is_empty());
    });
}

#[test]
fn c14_what_expires_is_told_when_it_is_dropped() {
    Sim::new().config(Config::new().runs(20)).check(|| {
        let load = |key: u32| async move {
            let _ = sleep(20 * MS).await;
            Ok(Some(u64::from(key)))
        };
        let builder = Cache::builder().max_entries(10).time_to_live(10 * MS).load(load);
        let (builder, log) = listening(builder);
        let cache = builder.build().unwrap().spawn();
        put(&cache, 1, 1);
        put(&cache, 2, 2);
        sleep(10 * MS).wait().unwrap();
        assert!(log.is_empty());
        // It is found to be over; it is replaced; and its load has taken longer than it lives.
        assert_eq!(cache.get_cached(1).wait(), Ok(None));
        put(&cache, 2, 3);
        assert_eq!(log.take(), [(1, 1, Expired), (2, 2, Expired)]);
        assert_eq!(cache.get(7).wait().unwrap().unwrap(), Some(7));
        // Each once; those whose time is over go first, whatever they were.
        assert_eq!(log.take(), [(2, 3, Expired), (7, 7, Expired)]);
    });
}

#[test]
fn c14_writes_to_a_store_are_told_alike() {
    everywhere(|| {
        let table = Table::new();
        let (builder, log) = listening(Cache::builder().max_entries(10));
        let spec = builder.write_through(table.clone()).build().unwrap();
        let cache = spec.spawn();
        put(&cache, 1, 1);
        put(&cache, 1, 2);
        cache.remove(1).wait().unwrap().unwrap();
        put(&cache, 1, 3);
        table.fate(|_| Fate::Fails);
        // The old value goes with the attempt, and the new one was never there.
        assert!(cache.put(1, 4).wait().unwrap().is_err());
        assert_eq!(log.take(), [(1, 1, Replaced), (1, 2, Explicit), (1, 3, Replaced)]);
    });
}

#[test]
fn c14_a_write_behind_that_is_lost_drops_its_value() {
    everywhere(|| {
        let table = Table::new();
        table.fate(|_| Fate::Refused);
        let settings = WriteBehind::new().delay(MS).on_lost(drop);
        let (builder, log) = listening(Cache::builder().max_entries(10));
        let cache = builder.write_behind(table.clone(), settings).build().unwrap().spawn();
        put(&cache, 1, 1);
        let _ = cache.flush().wait().unwrap();
        while log.is_empty() {
            assert!(cache.counts().wait().is_ok());
        }
        assert_eq!(log.take(), [(1, 1, Explicit)]);
    });
}

/// At the end of a cache only destructors run.
#[test]
fn c14_what_a_cache_has_when_it_ends_is_not_told() {
    everywhere(|| {
        let (builder, log) = listening(Cache::builder().max_entries(10));
        let cache = builder.build().unwrap().spawn();
        put(&cache, 1, 1);
        cache.stop().unwrap();
        finally(move || assert!(log.is_empty()));
    });
}

#[test]
fn c14_a_listener_that_panics_changes_nothing() {
    everywhere_with_faults(|faults| {
        let builder = Cache::builder().max_entries(2).eviction_listener(|entry| {
            if entry.key == 1 {
                coact_tests::fail("bad listener");
            }
        });
        let cache = builder.build().unwrap().spawn();
        (0..10).for_each(|key| put(&cache, key % 4, 1));
        put(&cache, 1, 2);
        cache.invalidate_all().wait().unwrap();
        assert_eq!(cache.counts().wait().unwrap().entries, 0);
        put(&cache, 1, 5);
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(5));
        assert!(!faults.is_empty());
    });
}

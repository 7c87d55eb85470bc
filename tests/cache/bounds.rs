//! Bounds: how much a cache keeps, what it drops first, and when entries expire.

use std::time::Duration;

use coact::cache::{BuildError, Cache, CacheSpec, Caching};
use coact::prelude::*;
use coact::sim::{Config, Sim};
use coact::time::sleep;
use coact_tests::{check, everywhere};

use crate::table::Table;

type Numbers = Addr<Cache<u32, u64>>;

const MS: Duration = Duration::from_millis(1);

fn put(cache: &Numbers, keys: impl IntoIterator<Item = u32>) {
    for key in keys {
        assert!(cache.put(key, u64::from(key)).wait().unwrap().is_ok());
    }
}

fn kept(cache: &Numbers, keys: impl IntoIterator<Item = u32>) -> Vec<u32> {
    // By readers, whose marks say nothing if the cache is not used again.
    let keys: Vec<_> = keys.into_iter().collect();
    let found = call(cache.read(), move |cache| {
        keys.into_iter().filter(|key| cache.cached(key).is_some()).collect()
    });
    found.wait().unwrap()
}

#[test]
fn c1_the_entry_that_was_used_least_recently_goes_first() {
    everywhere(|| {
        let cache = Cache::builder().max_entries(3).build().unwrap().spawn();
        put(&cache, [1, 2, 3]);
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
        put(&cache, [4]);
        put(&cache, [3]);
        put(&cache, [5]);
        assert_eq!(kept(&cache, 1..=5), [3, 4, 5]);
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.evicted_for_room, counts.replaced, counts.entries), (2, 1, 3));
    });
}

#[test]
fn c1_what_readers_use_counts_as_used() {
    everywhere(|| {
        let cache = Cache::builder().max_entries(3).build().unwrap().spawn();
        put(&cache, [1, 2, 3]);
        let used: Vec<_> =
            (0..4).map(|_| call(cache.read(), |cache| cache.cached(&1).copied())).collect();
        assert!(used.into_iter().all(|used| used.wait() == Ok(Some(1))));
        put(&cache, [4, 5]);
        assert_eq!(kept(&cache, 1..=5), [1, 4, 5]);
    });
}

#[test]
fn c1_entries_weigh_no_more_than_they_may() {
    everywhere(|| {
        let cache = Cache::builder().max_weight(100, |_, value: &u64| *value).build().unwrap();
        let cache = cache.spawn();
        put(&cache, [40, 50, 10]);
        assert_eq!(cache.counts().wait().unwrap().weight, 100);
        put(&cache, [20]);
        assert_eq!(kept(&cache, [40, 50, 10, 20]), [50, 10, 20]);
        // Heavier than the cache: it is not kept, and nothing goes for it, but what it replaces.
        put(&cache, [101]);
        cache.put(20, 1_000).wait().unwrap().unwrap();
        assert_eq!(kept(&cache, [50, 10, 20, 101]), [50, 10]);
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.weight, counts.entries, counts.too_heavy), (60, 2, 2));
    });
}

#[test]
fn c1_one_pass_over_many_keys_leaves_what_is_used_again() {
    everywhere(|| {
        let cache = Cache::builder().max_entries(10).scan_resistant().build().unwrap().spawn();
        put(&cache, 0..5);
        (0..5).for_each(|key| assert!(cache.get(key).wait().unwrap().unwrap().is_some()));
        put(&cache, 100..200);
        assert_eq!(kept(&cache, 0..5), [0, 1, 2, 3, 4]);
        assert_eq!(cache.counts().wait().unwrap().entries, 10);
        // But it is not for ever: what is used again later takes their place.
        for key in 300..320 {
            put(&cache, [key]);
            assert!(cache.get(key).wait().unwrap().unwrap().is_some());
        }
        assert_eq!(kept(&cache, 0..5), []);
    });
}

#[test]
fn c1_a_cache_of_one_entry() {
    everywhere(|| {
        for spec in
            [Cache::builder().max_entries(1), Cache::builder().max_entries(1).scan_resistant()]
        {
            let cache = spec.build().unwrap().spawn();
            for key in 0..5 {
                put(&cache, [key]);
                assert_eq!(cache.get(key).wait().unwrap().unwrap(), Some(u64::from(key)));
                assert_eq!(cache.counts().wait().unwrap().entries, 1);
            }
        }
    });
}

fn in_virtual_time(program: impl Fn() + 'static) {
    Sim::new().config(Config::new().runs(20)).check(program);
}

fn pass(time: Duration) {
    sleep(time).wait().unwrap();
}

#[test]
fn c2_a_value_is_not_used_longer_than_it_lives() {
    in_virtual_time(|| {
        let spec = Cache::builder().max_entries(10).time_to_live(10 * MS).build().unwrap();
        let cache = spec.spawn();
        put(&cache, [1]);
        pass(6 * MS);
        put(&cache, [2]);
        assert_eq!(kept(&cache, [1, 2]), [1, 2]);
        pass(4 * MS);
        assert_eq!(kept(&cache, [1, 2]), [2]);
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), None);
        pass(6 * MS);
        assert_eq!(kept(&cache, [1, 2]), []);
        // It is dropped when something else comes.
        put(&cache, [3]);
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.expired, counts.entries), (2, 1));
    });
}

#[test]
fn c2_the_time_of_a_loaded_value_begins_with_its_load() {
    in_virtual_time(|| {
        let load = |key: u32| async move {
            let _ = sleep(7 * MS).await;
            Ok(Some(u64::from(key)))
        };
        let spec = Cache::builder().max_entries(10).time_to_live(10 * MS).load(load).build();
        let cache = spec.unwrap().spawn();
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
        pass(2 * MS);
        assert_eq!(kept(&cache, [1]), [1]);
        pass(2 * MS);
        assert_eq!(kept(&cache, [1]), []);
    });
}

#[test]
fn c2_a_load_that_takes_longer_than_its_value_lives_is_answered_and_not_kept() {
    in_virtual_time(|| {
        let load = |key: u32| async move {
            let _ = sleep(20 * MS).await;
            Ok(Some(u64::from(key)))
        };
        let spec = Cache::builder().max_entries(10).time_to_live(10 * MS).load(load).build();
        let cache = spec.unwrap().spawn();
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
        assert_eq!(cache.counts().wait().unwrap().entries, 0);
    });
}

#[test]
fn c2_what_is_not_used_goes_after_its_time() {
    in_virtual_time(|| {
        let spec = Cache::builder().max_entries(10).time_to_idle(10 * MS).build().unwrap();
        let cache = spec.spawn();
        put(&cache, [1, 2, 3]);
        for _ in 0..5 {
            pass(6 * MS);
            assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
            // By a reader in parallel.
            assert_eq!(call(cache.read(), |cache| cache.cached(&2).copied()).wait(), Ok(Some(2)));
        }
        assert_eq!(kept(&cache, [1, 2, 3]), [1, 2]);
        pass(10 * MS);
        assert_eq!(kept(&cache, [1, 2, 3]), []);
    });
}

#[test]
fn c2_that_there_is_no_value_is_kept_for_its_own_time() {
    in_virtual_time(|| {
        let table = Table::new();
        let spec = Cache::builder().max_entries(10).read_through(table.clone());
        let cache = spec.negative_time_to_live(10 * MS).build().unwrap().spawn();
        for _ in 0..3 {
            assert_eq!(cache.get(1).wait().unwrap().unwrap(), None);
        }
        assert_eq!(table.inner().loads, 1);
        let table_of_later = table.clone().with([(1, 5)]);
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), None);
        pass(10 * MS);
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(5));
        assert_eq!(table_of_later.inner().loads, 2);
        // A value lives for ever here.
        pass(100 * MS);
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(5));
    });
}

#[test]
fn c12_each_value_lives_as_long_as_is_said_of_it() {
    in_virtual_time(|| {
        let spec = Cache::builder().max_entries(10);
        let spec = spec.expire_after(|_, value: &u64| (*value > 0).then(|| MS * *value as u32));
        let cache = spec.build().unwrap().spawn();
        for (key, lives) in [(1, 30), (2, 10), (3, 20), (4, 0)] {
            cache.put(key, lives).wait().unwrap().unwrap();
        }
        pass(10 * MS);
        assert_eq!(kept(&cache, 1..5), [1, 3, 4]);
        // Again, and so for longer.
        cache.put(3, 40).wait().unwrap().unwrap();
        pass(20 * MS);
        assert_eq!(kept(&cache, 1..5), [3, 4]);
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), None);
        pass(20 * MS);
        assert_eq!(kept(&cache, 1..5), [4]);
        pass(3_600_000 * MS);
        assert_eq!(kept(&cache, 1..5), [4]);
        // What is over is dropped when something else comes, in whatever order it was put.
        (10..19).for_each(|key| cache.put(key, 20 - u64::from(key)).wait().unwrap().unwrap());
        pass(5 * MS);
        cache.put(30, 0).wait().unwrap().unwrap();
        let counts = cache.counts().wait().unwrap();
        assert_eq!(counts.entries, 7);
        assert_eq!(kept(&cache, 0..40), [4, 10, 11, 12, 13, 14, 30]);
    });
}

#[test]
fn c12_the_shorter_time_counts_and_that_of_a_load_begins_with_it() {
    in_virtual_time(|| {
        let load = |key: u32| async move {
            let _ = sleep(7 * MS).await;
            Ok(Some(u64::from(key)))
        };
        let spec = Cache::builder().max_entries(10).time_to_live(20 * MS).load(load);
        let spec = spec.expire_after(|key: &u32, _| Some(MS * *key));
        let cache = spec.build().unwrap().spawn();
        // One that is over when it is there is answered, and not kept.
        let seen = [5, 10, 100].map(|key| cache.get(key));
        let seen: Vec<_> = seen.into_iter().map(|seen| seen.wait().unwrap().unwrap()).collect();
        assert_eq!(seen, [5, 10, 100].map(Some));
        assert_eq!(kept(&cache, [5, 10, 100]), [10, 100]);
        pass(3 * MS);
        assert_eq!(kept(&cache, [5, 10, 100]), [100]);
        pass(10 * MS);
        assert_eq!(kept(&cache, [5, 10, 100]), []);
        // No time at all.
        cache.put(0, 1).wait().unwrap().unwrap();
        assert_eq!(kept(&cache, [0]), []);
    });
}

#[test]
fn c12_a_time_that_cannot_be_said_fails_what_has_asked_for_it() {
    coact_tests::everywhere_with_faults(|_| {
        let load = |key: u32| async move { Ok(Some(u64::from(key))) };
        let spec = Cache::builder().max_entries(10).load(load);
        let spec = spec.expire_after(|key: &u32, _| {
            if *key == 1 {
                coact_tests::fail("no time");
            }
            None
        });
        let cache = spec.build().unwrap().spawn();
        assert_eq!(cache.put(1, 2).wait().unwrap_err(), AskError::Panicked("no time".into()));
        // What was loaded is answered, and not kept.
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
        assert_eq!(cache.get_cached(1).wait(), Ok(None));
        put(&cache, [2]);
        assert_eq!(kept(&cache, [1, 2]), [2]);
    });
}

/// Times are those of the runtime's clock, also outside of simulations.
#[test]
fn c2_a_value_expires_on_real_threads() {
    check(|| {
        let spec = Cache::builder().max_entries(10).time_to_live(MS).build().unwrap();
        let cache = spec.spawn();
        put(&cache, [1]);
        pass(2 * MS);
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), None);
    });
}

#[test]
fn c2_times_beyond_all_measure_are_for_ever() {
    everywhere(|| {
        let spec = Cache::builder().max_entries(10).time_to_live(Duration::MAX);
        let cache = spec.time_to_idle(Duration::MAX).build().unwrap().spawn();
        put(&cache, [1]);
        assert_eq!(kept(&cache, [1]), [1]);
    });
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let error = |spec: Result<CacheSpec<u32, u64>, BuildError>| spec.unwrap_err();
    let builder = || Cache::<u32, u64>::builder().max_entries(1);
    assert_eq!(error(Cache::builder().build()), BuildError::Unbounded);
    assert_eq!(error(Cache::builder().max_entries(0).build()), BuildError::Zero("max_entries"));
    assert_eq!(error(builder().max_weight(0, |_, _| 1).build()), BuildError::Zero("max_weight"));
    let zero = Duration::ZERO;
    assert_eq!(error(builder().time_to_live(zero).build()), BuildError::Zero("time_to_live"));
    assert_eq!(error(builder().time_to_idle(zero).build()), BuildError::Zero("time_to_idle"));
    assert_eq!(error(builder().load_timeout(zero).build()), BuildError::Zero("load_timeout"));
    assert_eq!(error(builder().write_timeout(zero).build()), BuildError::Zero("write_timeout"));
    assert_eq!(error(builder().max_loads(0).build()), BuildError::Zero("max_loads"));
    let refresh = |time| error(builder().refresh_after_write(time).build());
    assert_eq!(refresh(zero), BuildError::Zero("refresh_after_write"));
    assert_eq!(refresh(MS), BuildError::NoLoader("refresh_after_write"));
    assert!(refresh(MS).to_string().contains("needs a loader"));
    let late = |refresh_after_write, time_to_live| {
        let spec = builder().load(|key: u32| async move { Ok(Some(u64::from(key))) });
        let spec = spec.time_to_live(time_to_live).refresh_after_write(refresh_after_write).build();
        assert_eq!(
            error(spec),
            BuildError::RefreshAfterExpiry { refresh_after_write, time_to_live }
        );
    };
    late(MS, MS);
    late(2 * MS, MS);
    let spec = builder().load(|key: u32| async move { Ok(Some(u64::from(key))) });
    assert!(spec.time_to_live(2 * MS).refresh_after_write(MS).build().is_ok());
    let negative = builder().negative_time_to_live(zero).build();
    assert_eq!(error(negative), BuildError::Zero("negative_time_to_live"));
    let behind = |settings| error(builder().write_behind(Table::new(), settings).build());
    use coact::cache::WriteBehind;
    assert_eq!(behind(WriteBehind::new().max_batch(0)), BuildError::Zero("max_batch"));
    assert_eq!(behind(WriteBehind::new().max_waiting(0)), BuildError::Zero("max_waiting"));
    assert_eq!(behind(WriteBehind::new().timeout(zero)), BuildError::Zero("timeout"));
    assert_eq!(behind(WriteBehind::new().backoff(zero, MS)), BuildError::Zero("backoff"));
    let text = error(Cache::builder().build()).to_string();
    assert_eq!(text, "a cache needs a bound: `max_entries`, `max_weight`, or both");
    // What is enormous is taken as it is, and takes no memory before it is needed.
    assert!(
        builder().max_entries(usize::MAX).max_weight(u64::MAX, |_, _| u64::MAX).build().is_ok()
    );
}

#[test]
fn weights_beyond_all_measure_do_not_overflow() {
    everywhere(|| {
        let spec = Cache::builder().max_weight(u64::MAX, |_, value: &u64| *value).build().unwrap();
        let cache = spec.spawn();
        for key in 0..4_u32 {
            cache.put(key, u64::MAX - u64::from(key)).wait().unwrap().unwrap();
            assert_eq!(cache.counts().wait().unwrap().entries, 1);
        }
    });
}

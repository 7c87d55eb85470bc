//! Keys and values whose code panics: only the call that needed it fails.

use std::error::Error;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use coact::cache::{
    Backing, BackingError, BoxError, Cache, CacheSpec, Caching, Get, GetCached, LoadError, Write,
    WriteBehind,
};
use coact::prelude::*;
use coact::sim::{Config, Sim};
use coact::time::sleep;
use coact_tests::everywhere_with_faults;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The part of a key or a value that panics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bad {
    Nothing,
    Hash,
    Eq,
    Clone,
    Drop,
}

const ALL: [Bad; 4] = [Bad::Hash, Bad::Eq, Bad::Clone, Bad::Drop];

fn panic_if(is_bad: bool) {
    if is_bad && !std::thread::panicking() {
        coact_tests::fail("bad");
    }
}

#[derive(Debug)]
struct Key(u32, Bad);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        panic_if(self.1 == Bad::Hash);
        // All keys collide, so that they are compared.
        0_u32.hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        panic_if(self.1 == Bad::Eq || other.1 == Bad::Eq);
        self.0 == other.0
    }
}

impl Eq for Key {}

impl Clone for Key {
    fn clone(&self) -> Self {
        panic_if(self.1 == Bad::Clone);
        Self(self.0, self.1)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        panic_if(self.1 == Bad::Drop);
    }
}

#[derive(Debug)]
struct Value(u64, Bad);

impl Clone for Value {
    fn clone(&self) -> Self {
        panic_if(self.1 == Bad::Clone);
        Self(self.0, self.1)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        panic_if(self.1 == Bad::Drop);
    }
}

/// A store that accepts every write, and has no values.
struct Nowhere;

impl Backing<Key, Value> for Nowhere {
    async fn load(&self, key: Key) -> Result<Option<Value>, BoxError> {
        panic_if(key.0 == 666);
        Ok((key.0 >= 1_000).then(|| Value(u64::from(key.0), Bad::Nothing)))
    }

    async fn write(&self, writes: Vec<Write<Key, Value>>) -> Result<(), BackingError> {
        std::mem::forget(writes);
        Ok(())
    }
}

/// A cache of each kind.
fn specs() -> Vec<CacheSpec<Key, Value>> {
    let ms = Duration::from_millis(1);
    let builder = || {
        let builder = Cache::builder().max_entries(4).negative_time_to_live(1_000 * ms);
        builder.max_weight(100, |key: &Key, value: &Value| {
            panic_if(key.0 == 667);
            value.0.min(10)
        })
    };
    let behind = WriteBehind::new().delay(ms).backoff(ms, ms).on_lost(std::mem::forget);
    vec![
        builder().read_through(Nowhere).build().unwrap(),
        builder().write_through(Nowhere).build().unwrap(),
        builder().write_behind(Nowhere, behind).build().unwrap(),
    ]
}

fn good(key: u32) -> Key {
    Key(key, Bad::Nothing)
}

fn value(ask: Ask<Result<Option<Value>, LoadError>>) -> Option<u64> {
    let value = ask.wait().unwrap().unwrap();
    let number = value.as_ref().map(|value| value.0);
    std::mem::forget(value);
    number
}

fn is_sound(cache: &Addr<Cache<Key, Value>>) {
    for key in 1..=6 {
        let put = cache.put(good(key), Value(u64::from(key), Bad::Nothing));
        assert!(put.wait().unwrap().is_ok());
        assert_eq!(value(cache.get(good(key))), Some(u64::from(key)));
    }
    assert_eq!(value(cache.get(good(1_000))), Some(1_000));
    let counts = cache.counts().wait().unwrap();
    assert!(counts.entries <= 4 && counts.weight <= 100, "{counts:?}");
    assert_eq!(counts.loading, 0);
}

#[test]
fn c10_keys_that_panic_fail_what_has_named_them() {
    everywhere_with_faults(|_| {
        for (spec, bad) in specs().into_iter().flat_map(|spec| ALL.map(|bad| (spec.clone(), bad))) {
            let cache = spec.spawn();
            is_sound(&cache);
            // The answers differ. That there are some does not.
            let _ = cache.get(Key(1, bad)).wait();
            let _ = cache.get(Key(500, bad)).wait();
            let _ = cache.put(Key(2, bad), Value(2, Bad::Nothing)).wait();
            let _ = cache.put(Key(501, bad), Value(2, Bad::Nothing)).wait();
            let _ = cache.remove(Key(3, bad)).wait();
            let _ = cache.invalidate(Key(4, bad)).wait();
            let _ = cache.get_cached(Key(5, bad)).wait().map(std::mem::forget);
            let gets: Vec<_> = (0..5).map(|_| cache.get(Key(2_000, bad))).collect();
            gets.into_iter().for_each(|get| std::mem::forget(get.wait()));
            cache.invalidate_all().wait().unwrap();
            if bad == Bad::Eq {
                // What is there is compared with what is asked for.
                let _ = cache.flush().wait();
            } else {
                is_sound(&cache);
            }
            cache.stop().unwrap();
            assert_eq!(cache.ended().wait(), Ok(ExitReason::Shutdown));
        }
    });
}

#[test]
fn c10_values_that_panic_fail_what_has_named_them() {
    everywhere_with_faults(|_| {
        for (spec, bad) in specs().into_iter().flat_map(|spec| ALL.map(|bad| (spec.clone(), bad))) {
            let cache = spec.spawn();
            let put = cache.put(good(1), Value(1, bad)).wait();
            assert_eq!(put.is_err(), bad == Bad::Clone, "{put:?}");
            std::mem::forget(cache.get(good(1)).wait());
            std::mem::forget(cache.get_cached(good(1)).wait());
            let _ = cache.put(good(1), Value(2, Bad::Nothing)).wait();
            let _ = cache.put(good(2), Value(1, bad)).wait();
            // Out with it.
            is_sound(&cache);
            let _ = cache.put(good(3), Value(1, bad)).wait();
            cache.invalidate_all().wait().unwrap();
            is_sound(&cache);
            let _ = cache.put(good(3), Value(1, bad)).wait();
            cache.kill().unwrap();
            assert_eq!(cache.ended().wait(), Ok(ExitReason::Killed));
        }
    });
}

/// Nothing waits for the answers: they are dropped in the cache.
#[test]
fn c10_answers_that_panic_when_they_are_dropped_leave_the_cache_sound() {
    everywhere_with_faults(|_| {
        for spec in specs() {
            let cache = spec.spawn();
            cache.put(good(1), Value(1, Bad::Drop)).wait().unwrap().unwrap();
            cache.send(Get::new(good(1))).unwrap();
            cache.send(GetCached::new(good(1))).unwrap();
            is_sound(&cache);
        }
    });
}

#[test]
fn c10_weighers_and_loaders_that_panic_fail_what_has_named_them() {
    everywhere_with_faults(|_| {
        for spec in specs() {
            let cache = spec.spawn();
            for _ in 0..3 {
                let told = cache.get(good(666)).wait().unwrap();
                assert!(matches!(told, Err(LoadError::Panicked(_))), "{told:?}");
                std::mem::forget(told);
                // It is not written.
                let put = cache.put(good(667), Value(1, Bad::Nothing)).wait();
                assert_eq!(put.unwrap_err(), AskError::Panicked("bad".into()));
                assert_eq!(value(cache.get(good(667))), None);
                is_sound(&cache);
            }
        }
    });
}

/// One that panics before there is a future, one whose future panics when it is dropped, and one
/// that answers for all.
#[test]
fn c10_loaders_may_panic_anywhere() {
    everywhere_with_faults(|_| {
        let load = |key: u32| {
            panic_if(key == 1);
            let dropped = (key == 2).then(|| Value(0, Bad::Drop));
            async move {
                let _dropped = dropped;
                if key == 2 {
                    std::future::pending::<()>().await;
                }
                Ok(Some(key))
            }
        };
        let spec = Cache::builder().max_entries(10).load(load);
        let cache = spec.load_timeout(Duration::from_millis(1)).build().unwrap().spawn();
        assert!(matches!(cache.get(1).wait().unwrap(), Err(LoadError::Panicked(_))));
        assert!(matches!(cache.get(2).wait().unwrap(), Err(LoadError::TimedOut(_))));
        assert_eq!(cache.get(3).wait().unwrap().unwrap(), Some(3));
        let blocking = |key: u32| {
            panic_if(key == 1);
            Ok(Some(key))
        };
        let cache =
            Cache::builder().max_entries(10).load_blocking(blocking).build().unwrap().spawn();
        assert!(matches!(cache.get(1).wait().unwrap(), Err(LoadError::Panicked(_))));
        assert_eq!(cache.get(3).wait().unwrap().unwrap(), Some(3));
    });
}

/// An error that cannot be shown.
#[derive(Debug)]
struct UnspeakableError;

impl fmt::Display for UnspeakableError {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        coact_tests::fail("no words");
    }
}

impl Error for UnspeakableError {}

/// Formats every event, and keeps nothing.
struct Formatter;

impl Visit for Formatter {
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        drop(format!("{value:?}"));
    }
}

impl Subscriber for Formatter {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Formatter);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn with_formatted_events(program: impl Fn() + 'static) {
    tracing::subscriber::with_default(Formatter, || {
        Sim::new().config(Config::new().runs(20)).allow_faults(true).check(program);
    });
}

#[test]
fn c10_a_failed_refresh_whose_error_cannot_be_shown_leaves_the_cache_sound() {
    with_formatted_events(|| {
        let ms = Duration::from_millis(1);
        let loads = AtomicU32::new(0);
        let load = move |_: u32| {
            let is_first = loads.fetch_add(1, Ordering::Relaxed) == 0;
            async move { if is_first { Ok(Some(1)) } else { Err(UnspeakableError.into()) } }
        };
        let builder = Cache::builder().max_entries(10).time_to_live(100 * ms);
        let cache = builder.refresh_after_write(10 * ms).load(load).build().unwrap().spawn();
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
        sleep(10 * ms).wait().unwrap();
        // It begins the refresh, which fails.
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
        while cache.counts().wait().unwrap().load_failures == 0 {
            sleep(ms).wait().unwrap();
        }
        assert_eq!(cache.get_cached(1).wait().unwrap(), Some(1));
    });
}

/// A store whose first write fails.
#[derive(Default)]
struct FailingStore(AtomicU32);

impl Backing<u32, u32> for FailingStore {
    async fn load(&self, _: u32) -> Result<Option<u32>, BoxError> {
        Ok(None)
    }

    async fn write(&self, _: Vec<Write<u32, u32>>) -> Result<(), BackingError> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Err(BackingError::Unavailable(UnspeakableError.into())),
            _ => Ok(()),
        }
    }
}

#[test]
fn c10_a_failed_write_whose_error_cannot_be_shown_is_tried_again() {
    with_formatted_events(|| {
        let ms = Duration::from_millis(1);
        let behind = WriteBehind::new().delay(ms).backoff(ms, ms);
        let behind = behind.on_lost(|_| panic!("a write is lost"));
        let spec = Cache::builder().max_entries(10).write_behind(FailingStore::default(), behind);
        let cache = spec.build().unwrap().spawn();
        cache.put(1, 1).wait().unwrap().unwrap();
        assert!(matches!(cache.flush().wait().unwrap(), Ok(())));
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.writes, counts.write_failures, counts.lost_writes), (1, 1, 0));
    });
}

/// A behaviour that panics with a cache fails it, like any actor.
#[test]
fn panics_of_behaviours_are_those_of_behaviours() {
    everywhere_with_faults(|_| {
        let cache = Cache::<String, u32>::builder().max_entries(10).build().unwrap().spawn();
        assert_eq!(call(cache.read(), |cache| cache.cached("no").copied()).wait(), Ok(None));
        assert!(call(&cache, |_| coact_tests::fail("oh")).wait().is_err());
        assert!(cache.get("no".to_owned()).wait().is_err());
    });
}

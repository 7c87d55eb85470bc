//! Writes behind: answered at once, stored later, and never lost in silence.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use coact::cache::{
    Backing, BackingError, BoxError, Cache, CacheSpec, Caching, LostWrite, Put, Write, WriteBehind,
    WriteError,
};
use coact::prelude::*;
use coact::sim::{Config, Sim};
use coact::supervise::{Supervisor, permanent};
use coact::time::sleep;
use coact_tests::{Faults, Log, everywhere, everywhere_with_faults, finally, runtime};

use crate::table::{Fate, Table};

const MS: Duration = Duration::from_millis(1);

type Settings = WriteBehind<u32, u64>;

fn behind(table: &Table, settings: Settings) -> CacheSpec<u32, u64> {
    let spec = Cache::builder().max_entries(100).write_behind(table.clone(), settings);
    spec.build().unwrap()
}

fn quick() -> Settings {
    WriteBehind::new().delay(MS).backoff(MS, 4 * MS)
}

/// The lost writes, in the order of the reports.
fn reported(settings: Settings) -> (Settings, Log<(u32, Option<u64>)>) {
    let log = Log::new();
    let far = log.clone();
    (settings.on_lost(move |lost| far.push((lost.key, lost.value))), log)
}

#[test]
fn c7_what_is_written_is_seen_at_once_and_stored_later() {
    everywhere(|| {
        let table = Table::slow(200, 1);
        let cache = behind(&table, quick()).spawn();
        for n in 1..=5 {
            assert!(cache.put(1, n).wait().unwrap().is_ok());
            assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(n));
        }
        assert!(cache.remove(2).wait().unwrap().is_ok());
        assert!(cache.flush().wait().unwrap().is_ok());
        assert_eq!(table.get(1), Some(5));
        assert_eq!(table.inner().loads, 0);
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.waiting_writes, counts.lost_writes), (0, 0));
    });
}

/// Without a flush: the runtime is not idle before the write is stored.
#[test]
fn c7_what_is_written_is_stored_when_the_runtime_is_idle() {
    everywhere(|| {
        let table = Table::slow(200, 2);
        let cache = behind(&table, quick()).spawn();
        (0..50).for_each(|n| cache.send(Put { key: n % 7, value: u64::from(n) }).unwrap());
        // The last address: what waits is written all the same.
        drop(cache);
        finally(move || {
            assert_eq!((0..7).map(|key| table.get(key)).collect::<Vec<_>>(), {
                [49, 43, 44, 45, 46, 47, 48].map(Some)
            });
        });
    });
}

#[test]
fn c7_several_writes_of_a_key_are_one() {
    Sim::new().config(Config::new().runs(20)).check(|| {
        let table = Table::new();
        let cache = behind(&table, WriteBehind::new().delay(10 * MS)).spawn();
        for n in 1..=30 {
            cache.put(1, n).wait().unwrap().unwrap();
            cache.put(2, n).wait().unwrap().unwrap();
        }
        assert_eq!(cache.counts().wait().unwrap().waiting_writes, 2);
        assert_eq!(table.writes(), []);
        sleep(11 * MS).wait().unwrap();
        assert_eq!(table.writes(), [(1, Some(30)), (2, Some(30))]);
        assert_eq!(table.inner().batches.len(), 1);
    });
}

#[test]
fn c7_a_batch_is_written_when_it_is_full() {
    Sim::new().config(Config::new().runs(20)).check(|| {
        let table = Table::new();
        let hour = Duration::from_secs(3600);
        let cache = behind(&table, WriteBehind::new().delay(hour).max_batch(10)).spawn();
        for key in 0..25 {
            cache.put(key, 1).wait().unwrap().unwrap();
        }
        sleep(MS).wait().unwrap();
        assert_eq!(table.writes().len(), 20);
        cache.flush().wait().unwrap().unwrap();
        assert_eq!(table.writes().len(), 25);
        assert!(coact::sim::elapsed() < hour);
    });
}

#[test]
fn c7_what_was_dropped_from_the_cache_is_seen_while_it_waits() {
    everywhere(|| {
        let table = Table::slow(300, 3).with([(0, 7), (1, 7)]);
        let settings = quick();
        let spec = Cache::builder().max_entries(1).write_behind(table.clone(), settings);
        let cache = spec.build().unwrap().spawn();
        for round in 0..5 {
            cache.put(0, round).wait().unwrap().unwrap();
            cache.remove(1).wait().unwrap().unwrap();
            cache.put(2, round).wait().unwrap().unwrap();
            assert_eq!(cache.get(0).wait().unwrap().unwrap(), Some(round));
            assert_eq!(cache.get(1).wait().unwrap().unwrap(), None);
        }
        // An invalidation is of the entry, not of what is to be written.
        cache.put(0, 100).wait().unwrap().unwrap();
        cache.invalidate(0).wait().unwrap();
        assert_eq!(cache.get(0).wait().unwrap().unwrap(), Some(100));
    });
}

#[test]
fn c7_a_store_that_fails_is_tried_again_in_order() {
    everywhere_with_faults(|_| {
        let table = Table::slow(200, 4);
        let mut dice = coact_tests::Dice::new(5);
        table.fate(move |_| match dice.below(4) {
            0 => Fate::Fails,
            1 => Fate::DoneAndFails,
            2 => Fate::Panics,
            _ => Fate::Done,
        });
        let cache = behind(&table, quick().max_batch(3)).spawn();
        for n in 1..=10 {
            for key in 0..5 {
                cache.put(key, n).wait().unwrap().unwrap();
            }
        }
        assert!(cache.flush().wait().unwrap().is_ok());
        assert!((0..5).all(|key| table.get(key) == Some(10)));
        // What is seen in the store never goes back.
        for of in 0..5 {
            let writes = table.writes().into_iter().filter(|(key, _)| *key == of);
            let values: Vec<_> = writes.map(|(_, value)| value).collect();
            assert!(values.is_sorted(), "{values:?}");
        }
    });
}

#[test]
fn c7_a_store_that_does_not_answer_is_asked_again() {
    everywhere(|| {
        let table = Table::new();
        let mut nth = 0;
        table.fate(move |_| {
            nth += 1;
            if nth <= 2 { Fate::Hangs } else { Fate::Done }
        });
        let cache = behind(&table, quick().timeout(MS)).spawn();
        cache.put(1, 1).wait().unwrap().unwrap();
        assert!(cache.flush().wait().unwrap().is_ok());
        assert_eq!(table.get(1), Some(1));
        assert_eq!(cache.counts().wait().unwrap().write_failures, 2);
    });
}

#[test]
fn c8_as_many_wait_as_may_and_others_wait_for_room() {
    everywhere(|| {
        let table = Table::slow(300, 6);
        let cache = behind(&table, quick().max_waiting(5).max_batch(2)).spawn();
        let asked: Vec<_> = (0..10).map(|key| (key, cache.put(key, 1), cache.get(key))).collect();
        let most = Log::new();
        for (key, put, seen) in asked {
            most.push(cache.counts().wait().unwrap().waiting_writes);
            assert!(put.wait().unwrap().is_ok(), "{key}");
            assert_eq!(seen.wait().unwrap().unwrap(), Some(1));
        }
        assert!(most.take().into_iter().all(|waiting| waiting <= 5));
        assert!(cache.flush().wait().unwrap().is_ok());
        assert_eq!(table.inner().values.len(), 10);
        assert_eq!(table.inner().loads, 0);
    });
}

#[test]
fn c8_what_finds_no_room_even_to_wait_is_refused() {
    everywhere(|| {
        let table = Table::new();
        table.fate(|keys| if keys.contains(&99) { Fate::Done } else { Fate::Fails });
        let (settings, lost) = reported(quick().max_waiting(3).backoff(MS, MS));
        let cache = behind(&table, settings).spawn();
        let asked: Vec<_> = (0..9).map(|key| cache.put(key, 1)).collect();
        // One that is only sent cannot be told.
        cache.send(Put { key: 50, value: 7 }).unwrap();
        // What is known stays.
        assert_eq!(cache.get_cached(8).wait(), Ok(None));
        let (waits, refused) = (Log::new(), Log::new());
        table.fate(|_| Fate::Done);
        for (key, asked) in asked.into_iter().enumerate() {
            match asked.wait().unwrap() {
                Ok(()) => waits.push(key),
                Err(WriteError::Full) => refused.push(key),
                Err(other) => panic!("{other}"),
            }
        }
        let (waits, refused) = (waits.take(), refused.take());
        assert!(waits.len() >= 6 && waits.len() + refused.len() == 9, "{waits:?}");
        assert!(cache.flush().wait().unwrap().is_ok());
        assert!(waits.iter().all(|key| table.get(*key as u32) == Some(1)));
        assert!(refused.iter().all(|key| table.get(*key as u32).is_none()));
        let is_stored = table.get(50).is_some();
        assert_eq!(lost.take(), if is_stored { vec![] } else { vec![(50, Some(7))] });
    });
}

#[test]
fn c9_what_the_store_refuses_is_told_and_forgotten() {
    everywhere(|| {
        let table = Table::new().with([(3, 30)]);
        table.fate(|keys| if keys.contains(&3) { Fate::Refused } else { Fate::Done });
        let (settings, lost) = reported(quick());
        let cache = behind(&table, settings).spawn();
        let asked: Vec<_> = (0..6).map(|key| cache.put(key, 1)).collect();
        assert!(asked.into_iter().all(|asked| asked.wait().unwrap().is_ok()));
        assert!(matches!(cache.flush().wait().unwrap(), Err(WriteError::Lost(1)) | Ok(())));
        // One batch, or several: the others are stored.
        while lost.is_empty() {
            cache.flush().wait().unwrap().ok();
        }
        assert_eq!(lost.take(), [(3, Some(1))]);
        assert!([0, 1, 2, 4, 5].into_iter().all(|key| table.get(key) == Some(1)));
        table.fate(|_| Fate::Done);
        // It is not left as if it were stored.
        cache.counts().wait().unwrap();
        assert_eq!(cache.get(3).wait().unwrap().unwrap(), Some(30));
        assert_eq!(cache.counts().wait().unwrap().lost_writes, 1);
    });
}

/// A value that cannot be cloned when it is to be stored.
struct Fragile {
    number: u64,
    breaks: Arc<AtomicBool>,
}

impl Clone for Fragile {
    fn clone(&self) -> Self {
        if self.breaks.load(Ordering::SeqCst) {
            coact_tests::fail("no clone");
        }
        Self { number: self.number, breaks: Arc::clone(&self.breaks) }
    }
}

/// A store that takes its time, and says when it has something.
struct Slow(Log<&'static str>);

impl Backing<u32, Fragile> for Slow {
    async fn load(&self, _: u32) -> Result<Option<Fragile>, BoxError> {
        Ok(None)
    }

    async fn write(&self, writes: Vec<Write<u32, Fragile>>) -> Result<(), BackingError> {
        sleep(MS).await?;
        writes.iter().for_each(|_| self.0.push("stored"));
        Ok(())
    }
}

#[test]
fn c9_a_flush_waits_for_what_is_under_way_beside_a_write_that_is_lost() {
    everywhere_with_faults(|_| {
        let log = Log::new();
        let (told, never) = (log.clone(), Arc::new(AtomicBool::new(false)));
        let settings = WriteBehind::new().delay(3_600_000 * MS);
        let settings = settings.on_lost(move |lost: LostWrite<u32, Fragile>| {
            assert_eq!((lost.key, lost.value.map(|value| value.number)), (1, Some(1)));
            told.push("lost");
        });
        let spec = Cache::builder().max_entries(10).write_behind(Slow(log.clone()), settings);
        let cache = spec.build().unwrap().spawn();
        let breaks = Arc::new(AtomicBool::new(false));
        for key in 0..3 {
            let breaks = if key == 1 { &breaks } else { &never };
            let value = Fragile { number: u64::from(key), breaks: Arc::clone(breaks) };
            cache.put(key, value).wait().unwrap().unwrap();
        }
        breaks.store(true, Ordering::SeqCst);
        let flushed = cache.flush().wait().unwrap();
        log.push("flushed");
        assert!(matches!(flushed, Err(WriteError::Lost(1))), "{flushed:?}");
        assert_eq!(log.take(), ["lost", "stored", "stored", "flushed"]);
        assert_eq!(cache.counts().wait().unwrap().waiting_writes, 0);
    });
}

#[test]
fn c9_a_flush_waits_for_writes_that_wait_for_room() {
    everywhere(|| {
        let table = Table::slow(300, 9);
        let cache = behind(&table, quick().max_waiting(3).max_batch(1)).spawn();
        // Those with room, those that wait for it, and one behind these of the same key.
        let puts = [0, 1, 2, 3, 4, 3].map(|key| cache.put(key, u64::from(key)));
        assert!(cache.flush().wait().unwrap().is_ok());
        assert_eq!([0, 1, 2, 3, 4].map(|key| table.get(key)), [0, 1, 2, 3, 4].map(Some));
        puts.into_iter().for_each(|put| assert!(put.wait().unwrap().is_ok()));
    });
}

#[test]
fn c9_a_flush_tells_of_the_writes_before_it_alone() {
    everywhere(|| {
        let table = Table::new();
        table.fate(|keys| if keys.contains(&2) { Fate::Refused } else { Fate::Done });
        let (settings, lost) = reported(quick().max_batch(1));
        let cache = behind(&table, settings).spawn();
        let (stores, until) = Promise::channel();
        table.inner().until = Some(until);
        cache.put(1, 1).wait().unwrap().unwrap();
        let before = cache.flush();
        cache.put(2, 2).wait().unwrap().unwrap();
        let behind = cache.flush();
        // Both were handled.
        assert_eq!(cache.counts().wait().unwrap().waiting_writes, 2);
        stores.resolve(());
        assert!(matches!(before.wait().unwrap(), Ok(())));
        assert!(matches!(behind.wait().unwrap(), Err(WriteError::Lost(1))));
        assert_eq!(lost.take(), [(2, Some(2))]);
    });
}

#[test]
fn c8_writes_that_wait_for_room_do_not_wait_for_the_delay() {
    Sim::new().config(Config::new().runs(20)).check(|| {
        let table = Table::slow(300, 10);
        let hour = Duration::from_secs(3600);
        let cache = behind(&table, WriteBehind::new().delay(hour).max_waiting(3)).spawn();
        let puts: Vec<_> = (0..6).map(|key| cache.put(key, 1)).collect();
        puts.into_iter().for_each(|put| assert!(put.wait().unwrap().is_ok()));
        assert!(coact::sim::elapsed() < hour);
        cache.flush().wait().unwrap().unwrap();
    });
}

#[test]
fn c7_a_flush_has_a_store_tried_again_at_once() {
    Sim::new().config(Config::new().runs(20)).check(|| {
        let (table, hour) = (Table::new(), Duration::from_secs(3600));
        table.fate(|_| Fate::Fails);
        let settings = WriteBehind::new().delay(Duration::ZERO).backoff(hour, hour);
        let cache = behind(&table, settings).spawn();
        cache.put(1, 1).wait().unwrap().unwrap();
        while cache.counts().wait().unwrap().write_failures == 0 {
            sleep(MS).wait().unwrap();
        }
        table.fate(|_| Fate::Done);
        assert!(cache.flush().wait().unwrap().is_ok());
        assert!(coact::sim::elapsed() < hour);
        assert_eq!(table.get(1), Some(1));
    });
}

#[test]
fn c7_the_end_of_a_cache_has_a_store_tried_again_at_once() {
    Sim::new().config(Config::new().runs(20)).check(|| {
        let (table, hour) = (Table::new(), Duration::from_secs(3600));
        table.fate(|_| Fate::Fails);
        let settings = WriteBehind::new().delay(Duration::ZERO).backoff(hour, hour);
        let cache = behind(&table, settings).spawn();
        cache.put(1, 1).wait().unwrap().unwrap();
        while cache.counts().wait().unwrap().write_failures == 0 {
            sleep(MS).wait().unwrap();
        }
        table.fate(|_| Fate::Done);
        cache.stop().unwrap();
        while table.get(1).is_none() {
            sleep(MS).wait().unwrap();
        }
        assert!(coact::sim::elapsed() < hour);
    });
}

/// The queue is that of the specification. The end of a runtime that has written for all is not
/// that of the others.
#[test]
fn c8_what_waits_for_room_goes_on_when_another_runtime_has_ended() {
    let table = Table::new();
    table.fate(|_| Fate::Hangs);
    let (settings, lost) = reported(quick().max_waiting(1).delay(Duration::ZERO));
    let spec = behind(&table, settings);
    let [one, two] = [runtime(2, &Faults::new()), runtime(2, &Faults::new())];
    {
        let _entered = one.enter();
        let cache = spec.spawn();
        cache.put(1, 1).wait().unwrap().unwrap();
        std::mem::forget(cache);
    }
    let (cache, held) = {
        let _entered = two.enter();
        let cache = spec.spawn();
        let held = cache.put(2, 2);
        // It was handled, and waits.
        assert_eq!(cache.get_cached(3).wait(), Ok(None));
        (cache, held)
    };
    while table.inner().pending_writes() == 0 {
        std::thread::yield_now();
    }
    table.fate(|_| Fate::Done);
    assert!(!one.shutdown(10 * MS).is_complete());
    assert!(held.wait().unwrap().is_ok());
    assert!(cache.flush().wait().unwrap().is_ok());
    assert_eq!((table.get(1), table.get(2)), (None, Some(2)));
    assert_eq!(lost.take(), [(1, Some(1))]);
}

#[test]
fn c9_a_restart_a_kill_and_a_panic_lose_nothing() {
    everywhere_with_faults(|_| {
        let table = Table::slow(300, 7).with([(1, 0), (2, 0), (3, 0)]);
        let (settings, lost) = reported(quick());
        let spec = behind(&table, settings);
        let supervisor = Supervisor::dynamic().spawn();
        let made = spec.clone();
        let cache = supervisor.start_child(permanent(move || made.cache())).wait().unwrap();
        cache.put(1, 1).wait().unwrap().unwrap();
        cache.restart().unwrap();
        // The new state is empty, and knows what the one before has left.
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
        cache.put(2, 2).wait().unwrap().unwrap();
        assert!(call(&cache, |_| coact_tests::fail("oh")).wait().is_err());
        assert_eq!(cache.get(2).wait().unwrap().unwrap(), Some(2));
        cache.put(3, 3).wait().unwrap().unwrap();
        cache.kill().unwrap();
        drop((cache, supervisor));
        let other = spec.spawn();
        assert_eq!(other.get(3).wait().unwrap().unwrap(), Some(3));
        assert!(other.flush().wait().unwrap().is_ok());
        assert_eq!([1, 2, 3].map(|key| table.get(key)), [1, 2, 3].map(Some));
        assert!(lost.is_empty());
    });
}

#[test]
fn c9_a_shutdown_waits_for_what_is_written_behind() {
    for _ in 0..10 {
        let table = Table::slow(2_000, 8);
        // The delay is longer than the deadline: the end does not wait for it.
        let settings = WriteBehind::new().delay(Duration::from_secs(3600)).max_batch(7);
        let (settings, lost) = reported(settings);
        let runtime = runtime(2, &Faults::new());
        {
            let _entered = runtime.enter();
            let cache = behind(&table, settings).spawn();
            let asked: Vec<_> = (0..50).map(|key| cache.put(key, 1)).collect();
            assert!(asked.into_iter().all(|asked| asked.wait().unwrap().is_ok()));
            std::mem::forget(cache);
        }
        let report = runtime.shutdown(Duration::from_secs(1));
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(table.inner().values.len(), 50);
        assert!(lost.is_empty());
    }
}

#[test]
fn c9_what_cannot_be_stored_before_the_deadline_is_told() {
    let table = Table::new();
    table.fate(|_| Fate::Fails);
    let (settings, lost) = reported(quick());
    let runtime = runtime(2, &Faults::new());
    let flush = {
        let _entered = runtime.enter();
        let cache = behind(&table, settings).spawn();
        let asked: Vec<_> = (0..50).map(|key| cache.put(key, 1)).collect();
        assert!(asked.into_iter().all(|asked| asked.wait().unwrap().is_ok()));
        cache.flush()
    };
    let report = runtime.shutdown(Duration::from_millis(50));
    assert!(!report.is_complete(), "{report:?}");
    let mut told = lost.take();
    told.sort();
    assert_eq!(told, (0..50).map(|key| (key, Some(1))).collect::<Vec<_>>());
    assert!(!matches!(flush.wait(), Ok(Ok(()))));
}

//! What a cache lets wait: each through an outage of what is behind it that is longer than its
//! timeouts, and through the end of the runtime. The guide has a table of them
//! (docs/actors/caching.md, "What waits").

use std::time::Duration;

use coact::cache::{Cache, CacheSpec, Caching, LoadError, WriteBehind, WriteError};
use coact::prelude::*;
use coact::sim::{Config, Sim};
use coact::time::sleep;
use coact_tests::{Faults, Log, runtime};

use crate::table::{Fate, Table};

const MS: Duration = Duration::from_millis(1);

/// How long the store is away. All timeouts are shorter.
const OUTAGE: Duration = Duration::from_millis(500);

fn in_virtual_time(program: impl Fn() + 'static) {
    Sim::new().config(Config::new().runs(20)).check(program);
}

/// The ways in which a store is away.
const AWAY: [Fate; 2] = [Fate::Hangs, Fate::Fails];

/// The table is away from now on.
fn goes_away(table: &Table, how: Fate) {
    table.fate(move |_| how);
}

/// And is back after a while.
fn comes_back(table: &Table) {
    sleep(OUTAGE).wait().unwrap();
    table.fate(|_| Fate::Done);
}

fn through(table: &Table) -> CacheSpec<u32, u64> {
    let builder = Cache::builder().max_entries(10).write_through(table.clone());
    builder.write_timeout(10 * MS).load_timeout(10 * MS).build().unwrap()
}

fn behind(table: &Table, lost: &Log<u32>) -> CacheSpec<u32, u64> {
    let lost = lost.clone();
    let settings = WriteBehind::new().delay(MS).backoff(MS, 10 * MS).timeout(10 * MS);
    let settings = settings.max_waiting(2).on_lost(move |write| lost.push(write.key));
    let builder = Cache::builder().max_entries(1).write_behind(table.clone(), settings);
    builder.load_timeout(10 * MS).build().unwrap()
}

#[test]
fn c5_gets_that_wait_for_a_load_are_told_of_an_outage_and_served_after_it() {
    in_virtual_time(|| {
        for how in AWAY {
            let table = Table::new().with([(1, 1)]);
            let cache = through(&table).spawn();
            goes_away(&table, how);
            // The first, one that joins, and one whose asker has gone.
            let asked = [cache.get(1), cache.get(1)];
            drop(cache.get(1));
            for asked in asked {
                match (how, asked.wait().unwrap()) {
                    (Fate::Hangs, Err(LoadError::TimedOut(limit))) => assert_eq!(limit, 10 * MS),
                    (_, Err(LoadError::Failed(_))) => {}
                    (_, other) => panic!("{other:?}"),
                }
            }
            comes_back(&table);
            assert_eq!(cache.counts().wait().unwrap().loading, 0);
            assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
        }
    });
}

#[test]
fn c6_what_waits_for_a_write_through_is_told_of_an_outage_and_served_after_it() {
    in_virtual_time(|| {
        for how in AWAY {
            let table = Table::new().with([(1, 1)]);
            let cache = through(&table).spawn();
            goes_away(&table, how);
            let (first, second) = (cache.put(1, 2), cache.put(1, 3));
            let (seen, with) = (cache.get(1), cache.get_with(1, |_| async { Ok(Some(7)) }));
            let invalidated = cache.invalidate(1);
            // One whose asker has gone is written all the same.
            drop(cache.put(1, 4));
            for put in [first, second] {
                let told = put.wait().unwrap();
                let is_told = match how {
                    Fate::Hangs => matches!(told, Err(WriteError::TimedOut(_))),
                    _ => matches!(told, Err(WriteError::Failed(_))),
                };
                assert!(is_told, "{told:?}");
            }
            // The loader of the second is asked only if it is the first to load.
            let told = seen.wait().unwrap();
            assert!(matches!(told, Err(LoadError::TimedOut(_) | LoadError::Failed(_))), "{told:?}");
            assert!(with.wait().unwrap().is_err());
            invalidated.wait().unwrap();
            comes_back(&table);
            assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
            let counts = cache.counts().wait().unwrap();
            assert_eq!((counts.write_failures, counts.writes, counts.loading), (3, 0, 0));
        }
    });
}

#[test]
fn c9_what_waits_for_writes_behind_waits_out_an_outage() {
    in_virtual_time(|| {
        for how in AWAY {
            let (table, lost) = (Table::new().with([(3, 30)]), Log::new());
            let cache = behind(&table, &lost).spawn();
            goes_away(&table, how);
            for key in [1, 2] {
                assert!(cache.put(key, 1).wait().unwrap().is_ok());
            }
            // No room: a write, one whose asker goes, and what comes behind the first of them. A
            // flush of them all.
            let (held, seen) = (cache.put(3, 1), cache.get(3));
            drop(cache.put(4, 1));
            let invalidated = cache.invalidate(3);
            let refused = cache.put(5, 1);
            let flushed = cache.flush();
            assert!(matches!(refused.wait().unwrap(), Err(WriteError::Full)));
            // What needs no store goes on: an entry, a write that waits, one in place of it, and
            // what is counted.
            assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
            assert_eq!(cache.get(2).wait().unwrap().unwrap(), Some(1));
            assert!(cache.put(1, 2).wait().unwrap().is_ok());
            assert_eq!(cache.counts().wait().unwrap().waiting_writes, 2);
            comes_back(&table);
            assert!(held.wait().unwrap().is_ok());
            assert_eq!(seen.wait().unwrap().unwrap(), Some(1));
            invalidated.wait().unwrap();
            assert!(flushed.wait().unwrap().is_ok());
            assert_eq!([1, 2, 3, 4].map(|key| table.get(key)), [2, 1, 1, 1].map(Some));
            assert!(lost.is_empty());
        }
    });
}

/// An ask that a shutdown has cut off.
fn is_cut_off<R: std::fmt::Debug>(told: Result<R, AskError>) {
    let is_told =
        matches!(told, Err(AskError::Stopped(_) | AskError::Cancelled | AskError::NoReply));
    assert!(is_told, "{told:?}");
}

#[test]
fn c11_all_that_waits_is_told_of_the_end_of_the_runtime() {
    for how in AWAY {
        let (table, lost) = (Table::new(), Log::new());
        goes_away(&table, how);
        let runtime = runtime(2, &Faults::new());
        let hour = 3_600_000 * MS;
        let entered = runtime.enter();
        let spec = Cache::builder().max_entries(10).write_through(table.clone());
        // Timers are cut off as well: none of them is over.
        let through = spec.write_timeout(hour).load_timeout(hour).build().unwrap().spawn();
        let told = lost.clone();
        let settings = WriteBehind::new().delay(MS).max_waiting(2).timeout(hour);
        let settings = settings.backoff(MS, hour).on_lost(move |write| told.push(write.key));
        let behind = Cache::builder().max_entries(1).write_behind(table.clone(), settings);
        let behind = behind.load_timeout(hour).build().unwrap().spawn();

        // Other keys than the other cache has, since the table takes one write of a key at a time.
        let own = |_| async { Ok(None) };
        let loads = [through.get(11), through.get(11), through.get_with(11, own)];
        let writes = [through.put(12, 2), through.put(12, 3)];
        let gets = [through.get(12), through.get(12)];
        let invalidated = [through.invalidate(12)];
        assert!(behind.put(1, 1).wait().unwrap().is_ok());
        assert!(behind.put(2, 1).wait().unwrap().is_ok());
        let held = [behind.put(3, 1), behind.put(3, 2)];
        let held_get = behind.get(3);
        let flushed = behind.flush();
        // All were handled.
        assert!(through.get_cached(9).wait().is_ok() && behind.get_cached(9).wait().is_ok());
        drop(entered);

        assert!(!runtime.shutdown(50 * MS).is_complete());
        for told in loads.into_iter().chain(gets).map(Ask::wait) {
            match (how, told) {
                (Fate::Fails, Ok(Err(LoadError::Failed(_)))) => {}
                (_, Ok(Err(LoadError::Cancelled))) => {}
                (_, told) => is_cut_off(told),
            }
        }
        for told in writes.into_iter().map(Ask::wait) {
            match (how, told) {
                (Fate::Fails, Ok(Err(WriteError::Failed(_)))) => {}
                (_, Ok(Err(WriteError::Cancelled))) => {}
                (_, told) => is_cut_off(told),
            }
        }
        for told in invalidated.into_iter().map(Ask::wait) {
            if how == Fate::Hangs || told.is_err() {
                is_cut_off(told);
            }
        }
        held.into_iter().for_each(|held| is_cut_off(held.wait()));
        is_cut_off(held_get.wait());
        match flushed.wait() {
            Ok(told) => assert!(matches!(told, Err(WriteError::Cancelled)), "{told:?}"),
            told => is_cut_off(told),
        }
        // What was answered, and not stored, is told. (A thread that is slow may do that after the
        // shutdown.)
        while lost.len() < 2 {
            std::thread::yield_now();
        }
        let mut told = lost.take();
        told.sort_unstable();
        assert_eq!(told, [1, 2]);
    }
}

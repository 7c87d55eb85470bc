//! Ends and restarts: every wait ends.

use std::time::Duration;

use coact::actor::actor;
use coact::cache::{Cache, Caching, WriteError};
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::supervise::{Supervisor, permanent};
use coact_tests::{Faults, everywhere, runtime};

use crate::table::{Fate, Table};

const MS: Duration = Duration::from_millis(1);

#[test]
fn c11_those_who_wait_for_a_load_or_a_write_are_told_of_the_end() {
    everywhere(|| {
        for kill in [false, true] {
            let table = Table::new();
            table.fate(|_| Fate::Hangs);
            let spec = Cache::builder().max_entries(10).write_through(table.clone());
            // A write goes on, and would keep the runtime.
            let cache = spec.write_timeout(5 * MS).build().unwrap().spawn();
            let gets: Vec<_> = (0..20).map(|key| cache.get(key % 3)).collect();
            let held = cache.put(1, 2);
            let behind = (cache.get(1), cache.put(1, 3));
            let end = if kill { cache.kill() } else { cache.stop() };
            end.unwrap();
            gets.into_iter()
                .for_each(|get| assert!(matches!(get.wait(), Err(AskError::Stopped(_)))));
            assert!(behind.0.wait().is_err() && behind.1.wait().is_err());
            // This one may have got to the store, or never been handled.
            let told = held.wait();
            let is_told =
                matches!(told, Ok(Err(WriteError::TimedOut(_))) | Err(AskError::Stopped(_)));
            assert!(is_told, "{told:?}");
        }
    });
}

#[test]
fn c11_a_restart_begins_with_nothing_and_what_was_loaded_for_the_state_before_is_void() {
    everywhere(|| {
        let table = Table::slow(300, 1).with([(1, 1)]);
        let spec = Cache::builder().max_entries(10).read_through(table.clone()).build().unwrap();
        let supervisor = Supervisor::dynamic().spawn();
        let cache = supervisor.start_child(permanent(move || spec.cache())).wait().unwrap();
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(1));
        let under_way = cache.get(2);
        cache.restart().unwrap();
        table.inner().values.insert(1, 2);
        let again: Vec<_> = (0..5).map(|_| cache.get(1)).collect();
        for again in again {
            // Handled by the state before, or by the one after.
            assert!(matches!(again.wait(), Ok(Ok(Some(1 | 2))) | Err(_)));
        }
        let _ = under_way.wait();
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(2));
    });
}

/// The state that has begun the write is gone when it has ended.
#[test]
fn c11_a_write_through_of_the_state_before_leaves_nothing_old() {
    everywhere(|| {
        let table = Table::slow(500, 2).with([(1, 1)]);
        let spec = Cache::builder().max_entries(10).write_through(table.clone()).build().unwrap();
        let supervisor = Supervisor::dynamic().spawn();
        let cache = supervisor.start_child(permanent(move || spec.cache())).wait().unwrap();
        let put = cache.put(1, 2);
        cache.restart().unwrap();
        let seen = cache.get(1).wait();
        assert!(matches!(seen, Ok(Ok(Some(1 | 2))) | Err(_)));
        assert!(matches!(put.wait(), Ok(Ok(()))));
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(2));
    });
}

/// Two states of a cache make no two writes of a key at a time: the older might come last.
#[test]
fn c11_a_write_through_of_the_state_before_comes_before_those_of_the_next() {
    everywhere(|| {
        let table = Table::slow(500, 6);
        let spec = Cache::builder().max_entries(10).write_through(table.clone()).build().unwrap();
        let supervisor = Supervisor::dynamic().spawn();
        let cache = supervisor.start_child(permanent(move || spec.cache())).wait().unwrap();
        let (stores, until) = Promise::channel();
        table.inner().until = Some(until);
        let first = cache.put(1, 1);
        // The write is pending.
        assert_eq!(cache.get_cached(1).wait(), Ok(None));
        cache.restart().unwrap();
        let (second, seen) = (cache.put(1, 2), cache.get(1));
        stores.resolve(());
        assert!(matches!(first.wait(), Ok(Ok(()))));
        assert!(matches!(second.wait(), Ok(Ok(()))));
        assert_eq!(seen.wait().unwrap().unwrap(), Some(2));
        assert_eq!(table.writes(), [(1, Some(1)), (1, Some(2))]);
    });
}

#[test]
fn c11_a_shutdown_while_loads_are_under_way_tells_all() {
    for hangs in [false, true] {
        let table = Table::slow(5_000, 3);
        table.fate(move |_| if hangs { Fate::Hangs } else { Fate::Done });
        let runtime = runtime(2, &Faults::new());
        let asked: Vec<_> = {
            let _entered = runtime.enter();
            let spec = Cache::builder().max_entries(10).read_through(table.clone());
            let cache = spec.build().unwrap().spawn();
            (0..500).map(|n| cache.get(n % 50)).collect()
        };
        let report = runtime.shutdown(Duration::from_millis(if hangs { 50 } else { 10_000 }));
        assert_eq!(report.is_complete(), !hangs, "{report:?}");
        for asked in asked {
            match asked.wait() {
                Ok(Ok(None)) => assert!(!hangs),
                Err(AskError::Stopped(_) | AskError::Cancelled | AskError::NoReply) => {
                    assert!(hangs)
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// What comes back to the cache is not bound by its mailbox.
#[test]
fn a_full_mailbox_keeps_nothing_from_coming_back() {
    everywhere(|| {
        let table = Table::slow(200, 4);
        let spec = Cache::builder().max_entries(10).write_through(table.clone()).build().unwrap();
        let cache = actor(spec.cache()).mailbox(Mailbox::bounded(1)).spawn();
        let mut told = 0;
        for n in 0..30 {
            let asked = (cache.put(n % 2, u64::from(n)), cache.get(n % 3));
            told += usize::from(matches!(asked.0.wait(), Ok(Ok(()))));
            let _ = asked.1.wait();
        }
        assert!(told > 0);
        assert!(matches!(cache.get(1).wait(), Ok(Ok(_))));
    });
}

#[test]
fn a_drain_answers_what_was_asked() {
    everywhere(|| {
        let table = Table::slow(300, 5).with([(1, 1)]);
        let spec = Cache::builder().max_entries(10).write_through(table.clone()).build().unwrap();
        let cache = spec.spawn();
        let put = cache.put(2, 2);
        // The last address: what is under way is brought to its end.
        let seen = cache.get(1);
        drop(cache);
        assert_eq!(seen.wait().unwrap().unwrap(), Some(1));
        assert!(put.wait().unwrap().is_ok());
    });
}

//! Writes through: what is answered is stored.

use std::time::Duration;

use coact::cache::{Cache, Caching, Remove, WriteError};
use coact::prelude::*;
use coact_tests::{everywhere, everywhere_with_faults};

use crate::table::{Fate, Table};

fn through(table: &Table) -> Addr<Cache<u32, u64>> {
    Cache::builder().max_entries(100).write_through(table.clone()).build().unwrap().spawn()
}

#[test]
fn c6_what_is_answered_is_stored() {
    everywhere(|| {
        let table = Table::slow(300, 1);
        let cache = through(&table);
        for n in 1..=5 {
            assert!(cache.put(1, n).wait().unwrap().is_ok());
            assert_eq!(table.get(1), Some(n));
        }
        assert!(cache.ask(Remove(1)).wait().unwrap().is_ok());
        assert_eq!(table.get(1), None);
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.writes, counts.loads), (6, 0));
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), None);
    });
}

#[test]
fn c6_writes_of_a_key_are_made_in_their_order_and_gets_come_in_between() {
    everywhere(|| {
        let table = Table::slow(300, 2);
        let cache = through(&table);
        let asked: Vec<_> = (1..=20)
            .map(|n| (n, cache.put(1, n), cache.get(1), cache.put(2, n), cache.get(2)))
            .collect();
        for (n, first, seen, second, seen_too) in asked {
            assert!(first.wait().unwrap().is_ok() && second.wait().unwrap().is_ok());
            assert_eq!(seen.wait().unwrap().unwrap(), Some(n));
            assert_eq!(seen_too.wait().unwrap().unwrap(), Some(n));
        }
        let of_one: Vec<_> = table.writes().into_iter().filter(|(key, _)| *key == 1).collect();
        assert_eq!(of_one, (1..=20).map(|n| (1, Some(n))).collect::<Vec<_>>());
        assert_eq!(table.inner().loads, 0);
    });
}

#[test]
fn c6_a_write_that_fails_leaves_no_entry() {
    everywhere_with_faults(|_| {
        let table = Table::slow(300, 3).with([(1, 10)]);
        let cache = through(&table);
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(10));
        for (n, fate) in [Fate::Fails, Fate::Refused, Fate::Panics].into_iter().enumerate() {
            table.fate(move |_| fate);
            let put = cache.put(1, 100 + n as u64);
            let told = put.wait().unwrap().unwrap_err();
            match fate {
                Fate::Panics => assert!(matches!(told, WriteError::Panicked(_)), "{told}"),
                _ => assert!(matches!(told, WriteError::Failed(_)), "{told}"),
            }
            table.fate(|_| Fate::Done);
            assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(10));
        }
        // It was stored, though that was not told: what is there is seen.
        table.fate(|_| Fate::DoneAndFails);
        assert!(cache.put(1, 50).wait().unwrap().is_err());
        table.fate(|_| Fate::Done);
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(50));
        let counts = cache.counts().wait().unwrap();
        assert_eq!((counts.write_failures, counts.writes), (4, 0));
    });
}

#[test]
fn c6_gets_that_wait_for_a_write_that_fails_see_what_is_stored() {
    everywhere(|| {
        let table = Table::slow(300, 4).with([(1, 10)]);
        let mut nth = 0;
        table.fate(move |_| {
            nth += 1;
            if nth == 1 { Fate::Fails } else { Fate::Done }
        });
        let cache = through(&table);
        let (put, seen, next, last) =
            (cache.put(1, 11), cache.get(1), cache.put(1, 12), cache.get(1));
        assert!(put.wait().unwrap().is_err());
        // The write behind does not wait for the load of that get.
        assert!(matches!(seen.wait().unwrap().unwrap(), Some(10 | 12)));
        assert!(next.wait().unwrap().is_ok());
        assert_eq!(last.wait().unwrap().unwrap(), Some(12));
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(12));
    });
}

#[test]
fn c6_a_store_that_does_not_answer_is_in_the_way_of_its_key_alone() {
    everywhere(|| {
        let table = Table::new().with([(2, 2)]);
        table.fate(|keys| if keys == [1] { Fate::Hangs } else { Fate::Done });
        let limit = Duration::from_millis(1);
        let spec = Cache::builder().max_entries(10).write_through(table.clone());
        let cache = spec.write_timeout(limit).build().unwrap().spawn();
        let (put, seen) = (cache.put(1, 1), cache.get(2));
        assert_eq!(seen.wait().unwrap().unwrap(), Some(2));
        assert!(matches!(put.wait().unwrap(), Err(WriteError::TimedOut(_))));
        assert_eq!(cache.get_cached(1).wait(), Ok(None));
    });
}

#[test]
fn c4_an_invalidation_behind_a_write_is_behind_it() {
    everywhere(|| {
        let table = Table::slow(300, 5);
        let cache = through(&table);
        let (put, invalidated) = (cache.put(1, 1), cache.invalidate(1));
        let far = table.clone();
        // What has changed the store elsewhere.
        let changed = invalidated.then((), move |(), _| far.inner().values.insert(1, 2));
        assert!(put.wait().unwrap().is_ok());
        changed.wait().unwrap();
        assert_eq!(cache.get(1).wait().unwrap().unwrap(), Some(2));
        let (put, all, seen) = (cache.put(1, 3), cache.invalidate_all(), cache.get(1));
        assert!(put.wait().unwrap().is_ok());
        all.wait().unwrap();
        assert_eq!(seen.wait().unwrap().unwrap(), Some(3));
        assert_eq!(table.inner().loads, 2);
    });
}

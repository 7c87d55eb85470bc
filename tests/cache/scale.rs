//! Many keys, many askers.

use coact::cache::{Cache, Caching, Put};
use coact::prelude::*;
use coact_tests::check;

use crate::table::Table;

#[test]
fn c1_three_hundred_thousand_keys() {
    let cache = Cache::builder().max_entries(100_000).build().unwrap().spawn();
    for key in 0..300_000_u32 {
        cache.send(Put { key, value: u64::from(key) }).unwrap();
    }
    let counts = cache.counts().wait().unwrap();
    assert_eq!((counts.entries, counts.evicted_for_room), (100_000, 200_000));
    let found = call(cache.read(), |cache| {
        (0..300_000).filter(|key| cache.cached(key).is_some()).map(u64::from).sum::<u64>()
    });
    assert_eq!(found.wait(), Ok((200_000..300_000).sum()));
    cache.invalidate_all().wait().unwrap();
    assert_eq!(cache.counts().wait().unwrap().entries, 0);
}

#[test]
fn c3_seventy_thousand_who_ask_have_one_load() {
    let table = Table::slow(20_000, 1).with([(7, 49)]);
    let spec = Cache::builder().max_entries(10).read_through(table.clone()).build().unwrap();
    let cache = spec.spawn();
    let asked: Vec<_> = (0..70_000).map(|_| cache.get(7)).collect();
    assert!(asked.into_iter().all(|asked| asked.wait().unwrap().unwrap() == Some(49)));
    assert_eq!(table.inner().loads, 1);
}

#[test]
fn c3_seventy_thousand_keys_are_loaded_side_by_side() {
    let table = Table::slow(1_000, 2).with((0..70_000).map(|key| (key, u64::from(key))));
    let spec = Cache::builder().max_entries(1_000).read_through(table.clone()).build().unwrap();
    let cache = spec.spawn();
    let asked: Vec<_> = (0..70_000).map(|key| (key, cache.get(key))).collect();
    for (key, asked) in asked {
        assert_eq!(asked.wait().unwrap().unwrap(), Some(u64::from(key)));
    }
    assert_eq!(table.inner().loads, 70_000);
}

#[test]
fn c3_askers_on_many_threads() {
    check(|| {
        let table = Table::slow(500, 3).with((0..50).map(|key| (key, u64::from(key))));
        let spec = Cache::builder().max_entries(100).read_through(table.clone()).build().unwrap();
        let cache = spec.spawn();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let asked: Vec<_> = (0..500).map(|n| (n % 50, cache.get(n % 50))).collect();
                    for (key, asked) in asked {
                        assert_eq!(asked.wait().unwrap().unwrap(), Some(u64::from(key)));
                    }
                });
            }
        });
        assert_eq!(table.inner().loads, 50);
    });
}

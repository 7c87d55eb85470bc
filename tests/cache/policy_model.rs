//! Random uses of a cache, against a list that says what it has to keep.
//!
//! For more cases: `PROPTEST_CASES=5000 cargo test -p coact-tests --test cache policy_model`.

use std::time::Duration;

use coact::cache::{Cache, Caching};
use coact::prelude::*;
use coact::sim::{Config, Sim};
use coact::time::sleep;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Op {
    Put(u32, u64),
    Get(u32),
    /// By a reader in parallel.
    Read(u32),
    Invalidate(u32),
    Pass(u64),
}

#[derive(Clone, Copy, Debug)]
struct Setup {
    entries: usize,
    weight: u64,
    /// In milliseconds.
    lives: Option<u64>,
    idles: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u32,
    weight: u64,
    put: u64,
    used: u64,
    is_marked: bool,
}

/// What is kept: the entry that was used last is the last.
#[derive(Default)]
struct Model {
    entries: Vec<Entry>,
    now: u64,
}

impl Model {
    fn is_over(&self, setup: Setup, entry: &Entry) -> bool {
        setup.lives.is_some_and(|lives| self.now - entry.put >= lives)
            || setup.idles.is_some_and(|idles| self.now - entry.used >= idles)
    }

    fn find(&self, setup: Setup, key: u32) -> Option<usize> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        (!self.is_over(setup, &self.entries[at])).then_some(at)
    }

    fn put(&mut self, setup: Setup, key: u32, weight: u64) {
        self.entries.retain(|entry| entry.key != key);
        // So few are kept that all which are over go at once. (In the cache, those at the ends of its orders do, and the rest does not
        // count: that is the one thing which this does not check.)
        let over: Vec<_> =
            self.entries.iter().filter(|entry| self.is_over(setup, entry)).map(|e| e.key).collect();
        self.entries.retain(|entry| !over.contains(&entry.key));
        if weight > setup.weight {
            return;
        }
        while self.entries.len() >= setup.entries || self.weight() + weight > setup.weight {
            let mut oldest = self.entries.remove(0);
            if oldest.is_marked {
                oldest.is_marked = false;
                self.entries.push(oldest);
            }
        }
        let now = self.now;
        self.entries.push(Entry { key, weight, put: now, used: now, is_marked: false });
    }

    fn weight(&self) -> u64 {
        self.entries.iter().map(|entry| entry.weight).sum()
    }

    fn get(&mut self, setup: Setup, key: u32) -> Option<u64> {
        let Some(at) = self.find(setup, key) else {
            // It is found to be over.
            self.entries.retain(|entry| entry.key != key);
            return None;
        };
        let mut entry = self.entries.remove(at);
        (entry.used, entry.is_marked) = (self.now, false);
        self.entries.push(entry);
        Some(entry.weight)
    }

    fn read(&mut self, setup: Setup, key: u32) -> Option<u64> {
        let at = self.find(setup, key)?;
        let entry = &mut self.entries[at];
        (entry.used, entry.is_marked) = (self.now, true);
        Some(entry.weight)
    }
}

fn op() -> impl Strategy<Value = Op> {
    let key = 0..8_u32;
    prop_oneof![
        4 => (key.clone(), 0..7_u64).prop_map(|(key, weight)| Op::Put(key, weight)),
        4 => key.clone().prop_map(Op::Get),
        3 => key.clone().prop_map(Op::Read),
        1 => key.prop_map(Op::Invalidate),
        2 => (1..5_u64).prop_map(Op::Pass),
    ]
}

fn setup() -> impl Strategy<Value = Setup> {
    let time = || proptest::option::of(3..12_u64);
    // With times, there is room for all: what goes for room depends on what has been found to be over.
    let untimed = (1..6_usize, 1..14_u64).prop_map(|(entries, weight)| Setup {
        entries,
        weight,
        lives: None,
        idles: None,
    });
    let timed = (time(), time()).prop_map(|(lives, idles)| Setup {
        entries: 100,
        weight: 1_000,
        lives,
        idles,
    });
    prop_oneof![untimed, timed]
}

fn run(setup: Setup, ops: &[Op]) {
    let ms = Duration::from_millis;
    let mut builder = Cache::builder()
        .max_entries(setup.entries)
        .max_weight(setup.weight, |_: &u32, weight: &u64| *weight);
    if let Some(lives) = setup.lives {
        builder = builder.time_to_live(ms(lives));
    }
    if let Some(idles) = setup.idles {
        builder = builder.time_to_idle(ms(idles));
    }
    let cache = builder.build().unwrap().spawn();
    let mut model = Model::default();
    for op in ops.iter().copied() {
        match op {
            Op::Put(key, weight) => {
                cache.put(key, weight).wait().unwrap().unwrap();
                model.put(setup, key, weight);
            }
            Op::Get(key) => {
                let seen = cache.get(key).wait().unwrap().unwrap();
                assert_eq!(seen, model.get(setup, key), "{op:?}");
            }
            Op::Read(key) => {
                let seen = call(cache.read(), move |cache| cache.cached(&key).copied()).wait();
                assert_eq!(seen, Ok(model.read(setup, key)), "{op:?}");
            }
            Op::Invalidate(key) => {
                cache.invalidate(key).wait().unwrap();
                model.entries.retain(|entry| entry.key != key);
            }
            Op::Pass(time) => {
                sleep(ms(time)).wait().unwrap();
                model.now += time;
            }
        }
        let counts = cache.counts().wait().unwrap();
        assert!(counts.entries <= setup.entries && counts.weight <= setup.weight, "{counts:?}");
        if setup.lives.is_none() && setup.idles.is_none() {
            let of_model = (model.entries.len(), model.weight());
            assert_eq!((counts.entries, counts.weight), of_model, "{op:?}");
        }
    }
}

proptest! {
    #[test]
    fn c1_any_uses_keep_what_the_model_keeps(
        setup in setup(),
        ops in proptest::collection::vec(op(), 1..60),
    ) {
        Sim::new().config(Config::new().runs(1)).check(move || run(setup, &ops));
    }
}

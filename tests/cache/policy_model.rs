//! Random uses of a cache, checked against a list of what it must keep.
//!
//! For more cases: `PROPTEST_CASES=5000 cargo test -p coact-tests --test cache policy_model`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact::cache::{Cache, Caching, RemovalCause};
use coact::prelude::*;
use coact::sim::{Config, Sim};
use coact::time::sleep;
use coact_tests::Log;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Op {
    Put(u32, u64),
    Get(u32),
    /// By a reader in parallel.
    Read(u32),
    Invalidate(u32),
    Pass(u64),
    /// The store changes, and the cache does not learn of it.
    Change(u32, Option<u64>),
    /// The store fails from now on, or does not.
    Fail(bool),
}

#[derive(Clone, Copy, Debug)]
struct Setup {
    entries: usize,
    weight: u64,
    /// In milliseconds.
    lives: Option<u64>,
    idles: Option<u64>,
    /// Whether values have times of their own: see [`own_time`].
    own_times: bool,
    /// After what time a value is loaded again. Otherwise, there is no loader.
    refreshes: Option<u64>,
}

/// How long a value lives whose time is its own.
fn own_time(key: u32) -> Option<u64> {
    (!key.is_multiple_of(3)).then(|| u64::from(key) * 2)
}

/// The store that values are loaded from.
#[derive(Default)]
struct Store {
    values: BTreeMap<u32, u64>,
    fails: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u32,
    weight: u64,
    put: u64,
    used: u64,
    is_marked: bool,
}

/// The kept entries: the one that was used last is the last.
#[derive(Default)]
struct Model {
    entries: Vec<Entry>,
    now: u64,
    store: Store,
    /// What was dropped, and why. (Not of what has expired, which is dropped at some time after
    /// that.)
    removed: Vec<(u32, u64, RemovalCause)>,
}

impl Model {
    fn is_over(&self, setup: Setup, entry: &Entry) -> bool {
        setup.lives.is_some_and(|lives| self.now - entry.put >= lives)
            || setup.idles.is_some_and(|idles| self.now - entry.used >= idles)
            || (setup.own_times && own_time(entry.key).is_some_and(|l| self.now - entry.put >= l))
    }

    fn find(&self, setup: Setup, key: u32) -> Option<usize> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        (!self.is_over(setup, &self.entries[at])).then_some(at)
    }

    fn put(&mut self, setup: Setup, key: u32, weight: u64) {
        self.remove(key, RemovalCause::Replaced);
        // So few are kept that all which are over go at once. (In the cache, those at the ends of
        // its orders do, and the rest does not count: that is the one thing which this does not
        // check.)
        let over: Vec<_> =
            self.entries.iter().filter(|entry| self.is_over(setup, entry)).map(|e| e.key).collect();
        self.entries.retain(|entry| !over.contains(&entry.key));
        if setup.own_times && own_time(key) == Some(0) {
            return;
        }
        if weight > setup.weight {
            return self.removed.push((key, weight, RemovalCause::Size));
        }
        while self.entries.len() >= setup.entries || self.weight() + weight > setup.weight {
            let mut oldest = self.entries.remove(0);
            if oldest.is_marked {
                oldest.is_marked = false;
                self.entries.push(oldest);
            } else {
                self.removed.push((oldest.key, oldest.weight, RemovalCause::Size));
            }
        }
        let now = self.now;
        self.entries.push(Entry { key, weight, put: now, used: now, is_marked: false });
    }

    fn remove(&mut self, key: u32, cause: RemovalCause) {
        if let Some(at) = self.entries.iter().position(|entry| entry.key == key) {
            let Entry { weight, .. } = self.entries.remove(at);
            self.removed.push((key, weight, cause));
        }
    }

    fn weight(&self) -> u64 {
        self.entries.iter().map(|entry| entry.weight).sum()
    }

    /// Returns what is answered: an error if that could not be loaded.
    fn get(&mut self, setup: Setup, key: u32) -> Result<Option<u64>, ()> {
        let Some(at) = self.find(setup, key) else {
            // It is found to be over.
            self.entries.retain(|entry| entry.key != key);
            return if setup.refreshes.is_some() { self.load(setup, key) } else { Ok(None) };
        };
        let mut entry = self.entries.remove(at);
        (entry.used, entry.is_marked) = (self.now, false);
        self.entries.push(entry);
        if setup.refreshes.is_some_and(|after| self.now - entry.put >= after) {
            // What comes of it is for those who ask later.
            let _ = self.load(setup, key);
        }
        Ok(Some(entry.weight))
    }

    fn load(&mut self, setup: Setup, key: u32) -> Result<Option<u64>, ()> {
        if self.store.fails {
            return Err(());
        }
        let value = self.store.values.get(&key).copied();
        match value {
            Some(weight) => self.put(setup, key, weight),
            None => self.remove(key, RemovalCause::Explicit),
        }
        Ok(value)
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
        2 => (0..8_u32, proptest::option::of(0..7_u64)).prop_map(|(key, w)| Op::Change(key, w)),
        1 => any::<bool>().prop_map(Op::Fail),
    ]
}

fn setup() -> impl Strategy<Value = Setup> {
    let time = || proptest::option::of(3..12_u64);
    // With times, there is room for all: what goes for room depends on what has been found to be
    // over.
    let refreshes = || proptest::option::of(1..6_u64);
    let untimed = (1..6_usize, 1..14_u64, refreshes()).prop_map(|(entries, weight, refreshes)| {
        Setup { entries, weight, lives: None, idles: None, own_times: false, refreshes }
    });
    let timed = (time(), time(), any::<bool>(), refreshes()).prop_map(
        |(lives, idles, own_times, refreshes)| Setup {
            entries: 100,
            weight: 1_000,
            lives,
            idles,
            own_times,
            // (A builder refuses a refresh that values do not live to see.)
            refreshes: refreshes.filter(|after| lives.is_none_or(|lives| *after < lives)),
        },
    );
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
    if setup.own_times {
        builder = builder.expire_after(move |key, _| own_time(*key).map(ms));
    }
    let store = Arc::new(Mutex::new(Store::default()));
    if let Some(after) = setup.refreshes {
        let far = Arc::clone(&store);
        builder = builder.refresh_after_write(ms(after)).load(move |key| {
            let far = Arc::clone(&far);
            async move {
                let store = far.lock().unwrap();
                if store.fails {
                    Err("not today".into())
                } else {
                    Ok(store.values.get(&key).copied())
                }
            }
        });
    }
    let (removed, told) = (Log::new(), Log::new());
    let tell = told.clone();
    builder = builder.eviction_listener(move |entry| {
        tell.push((entry.key, entry.value, entry.cause));
    });
    let cache = builder.build().unwrap().spawn();
    let mut model = Model::default();
    for op in ops.iter().copied() {
        match op {
            Op::Put(key, weight) => {
                cache.put(key, weight).wait().unwrap().unwrap();
                model.put(setup, key, weight);
            }
            Op::Get(key) => {
                let seen = cache.get(key).wait().unwrap().map_err(drop);
                assert_eq!(seen, model.get(setup, key), "{op:?}");
            }
            Op::Read(key) => {
                let seen = call(cache.read(), move |cache| cache.cached(&key).copied()).wait();
                assert_eq!(seen, Ok(model.read(setup, key)), "{op:?}");
            }
            Op::Invalidate(key) => {
                cache.invalidate(key).wait().unwrap();
                model.remove(key, RemovalCause::Explicit);
            }
            Op::Change(key, value) => {
                for store in [&mut *store.lock().unwrap(), &mut model.store] {
                    match value {
                        Some(value) => _ = store.values.insert(key, value),
                        None => _ = store.values.remove(&key),
                    }
                }
            }
            Op::Fail(fails) => {
                store.lock().unwrap().fails = fails;
                model.store.fails = fails;
            }
            Op::Pass(time) => {
                sleep(ms(time)).wait().unwrap();
                model.now += time;
            }
        }
        // What is loaded again is there before the next.
        let counts = loop {
            let counts = cache.counts().wait().unwrap();
            if counts.loading == 0 {
                break counts;
            }
        };
        told.take().into_iter().for_each(|entry| removed.push(entry));
        assert!(counts.entries <= setup.entries && counts.weight <= setup.weight, "{counts:?}");
        // Each value that was dropped is told once.
        let dropped = counts.evicted_for_room + counts.expired + counts.replaced + counts.too_heavy;
        assert_eq!(removed.len() as u64, dropped, "{op:?}");
        if setup.lives.is_none() && setup.idles.is_none() && !setup.own_times {
            let of_model = (model.entries.len(), model.weight());
            assert_eq!((counts.entries, counts.weight), of_model, "{op:?}");
        }
    }
    let removed = removed.take();
    if setup.lives.is_none() && setup.idles.is_none() && !setup.own_times {
        assert_eq!(removed, model.removed);
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

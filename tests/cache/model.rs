//! Random programs over a slow and failing store, checked against the values that may be seen.
//!
//! Each key has one writer, whose values grow. So a value that is seen is old if it is smaller than
//! one that was told to be written, or of which the cache was told, before it was asked for.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact::cache::{Backing, Cache, CacheSpec, Caching, WriteBehind};
use coact::prelude::*;
use coact::runtime::spawn_future;
use coact::sim::{Config, Method, Sim};
use coact::supervise::{Supervisor, permanent};
use coact::time::sleep;
use coact_tests::{Dice, Faults, hosted_runtime, run_on, runtime};

use crate::table::{Fate, Table};

const KEYS: usize = 4;
const ENTRIES: usize = 3;
const WAITING: usize = 3;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// The store is changed elsewhere, and the key invalidated.
    Elsewhere,
    Through,
    Behind,
}

/// The knowledge of a key outside of the cache.
#[derive(Default, Clone, Copy, Debug)]
struct Known {
    /// What any get from now on has to see, or something newer.
    told: u64,
    /// The newest possible value.
    begun: u64,
}

type Oracle = Arc<Mutex<[Known; KEYS]>>;

struct World {
    kind: Kind,
    table: Table,
    cache: Addr<Cache<u32, u64>>,
    oracle: Oracle,
    extras: Extras,
    removals: Removals,
}

/// How many values the listener was told of, and of each key the newest.
#[derive(Default)]
struct Removed {
    count: u64,
    newest: [u64; KEYS],
}

/// The settings that the checks depend on.
#[derive(Clone, Copy)]
struct Extras {
    max_loads: Option<usize>,
    keeps_absences: bool,
}

type Removals = Arc<Mutex<Removed>>;

fn spec(
    kind: Kind,
    table: &Table,
    dice: &mut Dice,
    removals: &Removals,
) -> (CacheSpec<u32, u64>, Extras) {
    let ms = Duration::from_millis(1);
    let mut builder = Cache::builder().max_entries(ENTRIES);
    if dice.below(2) == 0 {
        builder = builder.scan_resistant();
    }
    if dice.below(2) == 0 {
        builder = builder.time_to_live(2 * ms);
    }
    let keeps_absences = dice.below(3) == 0;
    if keeps_absences {
        builder = builder.negative_time_to_live(ms);
    }
    if dice.below(2) == 0 {
        builder = builder.expire_after(move |key: &u32, value: &u64| {
            key.is_multiple_of(2).then(|| Duration::from_micros(100 * (value % 7)))
        });
    }
    if dice.below(2) == 0 {
        builder = builder.refresh_after_write(ms / 2);
    }
    let max_loads = (dice.below(3) == 0).then_some(2);
    if let Some(max_loads) = max_loads {
        builder = builder.max_loads(max_loads);
    }
    let told = Arc::clone(removals);
    builder = builder.eviction_listener(move |entry| {
        let mut told = told.lock().unwrap();
        told.count += 1;
        let newest = &mut told.newest[entry.key as usize];
        *newest = entry.value.max(*newest);
    });
    let settings = WriteBehind::new()
        .delay(Duration::from_micros(dice.below(2_000) as u64))
        .max_batch(1 + dice.below(4))
        .max_waiting(WAITING)
        .backoff(ms / 10, ms);
    let builder = match kind {
        Kind::Elsewhere => builder.read_through(table.clone()),
        Kind::Through => builder.write_through(table.clone()),
        Kind::Behind => builder.write_behind(table.clone(), settings),
    };
    (builder.build().unwrap(), Extras { max_loads, keeps_absences })
}

impl World {
    fn known(&self, key: u32) -> Known {
        self.oracle.lock().unwrap()[key as usize]
    }

    async fn write(&self, key: u32, value: u64) {
        self.oracle.lock().unwrap()[key as usize].begun = value;
        let is_told = match self.kind {
            Kind::Elsewhere => {
                self.table.inner().values.insert(key, value);
                self.invalidate(key).await
            }
            _ => {
                self.table.supersede(key);
                matches!(self.cache.put(key, value).await, Ok(Ok(())))
            }
        };
        if is_told {
            self.oracle.lock().unwrap()[key as usize].told = value;
        }
    }

    async fn invalidate(&self, key: u32) -> bool {
        self.table.supersede(key);
        self.cache.invalidate(key).await.is_ok()
    }

    async fn invalidate_all(&self) {
        (0..KEYS as u32).for_each(|key| self.table.supersede(key));
        let _ = self.cache.invalidate_all().await;
    }

    async fn read(&self, key: u32, with_own_loader: bool) {
        let before = self.known(key).told;
        let ask = if with_own_loader {
            let table = self.table.clone();
            self.cache.get_with(key, move |key| async move { table.load(key).await })
        } else {
            self.cache.get(key)
        };
        let Ok(Ok(seen)) = ask.await else { return };
        let most = self.known(key).begun;
        let seen = seen.unwrap_or(0);
        let kind = self.kind;
        assert!(
            (before..=most).contains(&seen),
            "{kind:?}: {key} is {seen}, not {before}..={most}"
        );
    }

    async fn look(&self) {
        let Ok(counts) = self.cache.counts().await else { return };
        assert!(counts.entries <= ENTRIES, "{counts:?}");
        assert!(self.extras.max_loads.is_none_or(|most| counts.loading <= most), "{counts:?}");
        assert!(counts.waiting_writes <= WAITING, "{counts:?}");
        assert_eq!(counts.lost_writes, 0);
    }
}

fn program(kind: Kind, seed: u64, restarts: bool) {
    let mut dice = Dice::new(seed);
    let table = Table::slow(700, seed);
    table.inner().overlaps = restarts;
    let mut fates = Dice::new(seed + 1);
    let failing = dice.below(5);
    table.fate(move |_| match fates.below(20) {
        n if n < failing => Fate::Fails,
        n if n < 2 * failing => Fate::DoneAndFails,
        _ => Fate::Done,
    });
    let removals = Removals::default();
    let (spec, extras) = spec(kind, &table, &mut dice, &removals);
    let supervisor = Supervisor::dynamic().spawn();
    let made = spec.clone();
    let cache = supervisor.start_child(permanent(move || made.cache())).wait().unwrap();
    let oracle = Oracle::default();
    let world = Arc::new(World { kind, table: table.clone(), cache, oracle, extras, removals });
    let mut tasks = Vec::new();
    for key in 0..KEYS as u32 {
        let (world, pause) = (Arc::clone(&world), dice.below(900) as u64);
        tasks.push(spawn_future(async move {
            for value in 1..=6 {
                world.write(key, value).await;
                let _ = sleep(Duration::from_micros(pause)).await;
            }
        }));
    }
    for reader in 0..4 {
        let (world, mut dice) = (Arc::clone(&world), Dice::new(seed + 10 + reader));
        tasks.push(spawn_future(async move {
            for _ in 0..15 {
                match dice.below(10) {
                    0 => _ = world.invalidate(dice.below(KEYS) as u32).await,
                    1 if reader == 0 => world.invalidate_all().await,
                    2 if reader == 1 && restarts => _ = world.cache.restart(),
                    3 => world.look().await,
                    4 => _ = sleep(Duration::from_micros(dice.below(1_500) as u64)).await,
                    n => world.read(dice.below(KEYS) as u32, n == 5).await,
                }
            }
        }));
    }
    tasks.into_iter().for_each(|task| task.wait().unwrap());
    // In the end all is stored that was told to be.
    let flushed = world.cache.flush().wait();
    assert!(matches!(flushed, Ok(Ok(()))), "{flushed:?}");
    for key in 0..KEYS as u32 {
        let (Known { told, begun }, stored) = (world.known(key), table.get(key).unwrap_or(0));
        assert!((told..=begun).contains(&stored), "{kind:?}: {key} is {stored} in the end");
        let seen = loop {
            if let Ok(seen) = world.cache.get(key).wait().unwrap() {
                break seen.unwrap_or(0);
            }
            // That it could not be loaded is remembered for a while.
            sleep(Duration::from_millis(1)).wait().unwrap();
        };
        // What was not told may have been stored since.
        assert!((told..=begun).contains(&seen), "{kind:?}: {key} is {seen} in the end");
        // A value that was dropped had been there.
        assert!(world.removals.lock().unwrap().newest[key as usize] <= begun);
    }
    let counts = world.cache.counts().wait().unwrap();
    let of_state = counts.evicted_for_room + counts.expired + counts.replaced + counts.too_heavy;
    let told = world.removals.lock().unwrap().count;
    // Those without a value are counted, and not told. Each state counts for itself.
    let is_sound = if extras.keeps_absences { told <= of_state } else { told == of_state };
    assert!(restarts || is_sound, "{told} told, {counts:?}");
}

fn runs() -> u64 {
    std::env::var("COACT_CACHE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(60)
}

fn explore(kind: Kind, restarts: bool) {
    for seed in 0..runs() {
        let method = if seed % 2 == 0 { Method::Random } else { Method::Pct { depth: 3 } };
        let config = Config::new().method(method).runs(2);
        Sim::new().config(config).check(move || program(kind, seed, restarts));
    }
    for seed in 0..3 {
        let faults = Faults::new();
        run_on(&runtime(2, &faults), || program(kind, seed, restarts));
        let executor = coact_tests::Executor::new(2);
        run_on(&hosted_runtime(2, &executor, &faults), || program(kind, seed, restarts));
        assert!(faults.is_empty(), "{:?}", faults.take());
    }
}

#[test]
fn c4_nothing_old_is_seen_of_what_is_changed_elsewhere() {
    explore(Kind::Elsewhere, false);
}

#[test]
fn c4_nothing_old_is_seen_of_what_is_changed_elsewhere_with_restarts() {
    explore(Kind::Elsewhere, true);
}

#[test]
fn c6_nothing_old_is_seen_of_what_is_written_through() {
    explore(Kind::Through, false);
}

#[test]
fn c6_nothing_old_is_seen_of_what_is_written_through_with_restarts() {
    explore(Kind::Through, true);
}

#[test]
fn c7_nothing_old_is_seen_of_what_is_written_behind() {
    explore(Kind::Behind, false);
}

#[test]
fn c9_nothing_old_is_seen_of_what_is_written_behind_with_restarts() {
    explore(Kind::Behind, true);
}

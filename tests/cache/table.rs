//! A store that takes its time, fails when it is told to, and knows what was asked of it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use coact::cache::{Backing, BackingError, BoxError, Write};
use coact::prelude::Promise;
use coact::time::sleep;
use coact_tests::Dice;

pub type Key = u32;
pub type Value = u64;

/// What an operation is to come to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fate {
    Done,
    /// Nothing is done, and it fails.
    Fails,
    /// It is done, and fails.
    DoneAndFails,
    /// It is not done, and never will be.
    Refused,
    Panics,
    /// It never ends.
    Hangs,
}

#[derive(Clone, Default)]
pub struct Table(Arc<Mutex<Inner>>);

#[derive(Default)]
pub struct Inner {
    pub values: HashMap<Key, Value>,
    /// Each batch that was done.
    pub batches: Vec<Vec<Write<Key, Value>>>,
    pub loads: u64,
    /// Whether loads of several states of a cache may overlap.
    pub overlaps: bool,
    /// How many loads of each key are under way.
    loading: HashMap<Key, usize>,
    /// How often each key was superseded.
    superseded: HashMap<Key, usize>,
    writing: HashSet<Key>,
    /// In microseconds, at most.
    pub delay: usize,
    dice: Option<Dice>,
    fate: Option<Fates>,
    /// What the next operation waits for.
    pub until: Option<Promise<()>>,
}

impl Table {
    pub fn new() -> Self {
        Self::default()
    }

    /// Each operation takes up to `micros`.
    pub fn slow(micros: usize, seed: u64) -> Self {
        let this = Self::new();
        this.inner().delay = micros;
        this.inner().dice = Some(Dice::new(seed));
        this
    }

    pub fn with(self, values: impl IntoIterator<Item = (Key, Value)>) -> Self {
        self.inner().values.extend(values);
        self
    }

    pub fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Has operations on these keys, loads and writes, come to something else.
    pub fn fate(&self, fate: impl FnMut(&[Key]) -> Fate + Send + 'static) {
        self.inner().fate = Some(Box::new(fate));
    }

    pub fn get(&self, key: Key) -> Option<Value> {
        self.inner().values.get(&key).copied()
    }

    /// All that was written, in order.
    pub fn writes(&self) -> Vec<(Key, Option<Value>)> {
        let inner = self.inner();
        inner.batches.iter().flatten().map(|write| (write.key, write.value)).collect()
    }

    /// Says that a cache is about to be asked for something that makes the load of a key void:
    /// another one may begin beside it.
    pub fn supersede(&self, key: Key) {
        *self.inner().superseded.entry(key).or_default() += 1;
    }

    fn begin(&self, keys: &[Key]) -> (Duration, Fate) {
        let mut inner = self.inner();
        let most = inner.delay;
        let micros = inner.dice.as_mut().map_or(0, |dice| dice.below(most.max(1)));
        let fate = inner.fate.as_mut().map_or(Fate::Done, |fate| fate(keys));
        (Duration::from_micros(micros as u64), fate)
    }

    async fn take(&self, time: Duration, fate: Fate) {
        let until = self.inner().until.take();
        if let Some(until) = until {
            let _ = until.await;
        }
        if time > Duration::ZERO {
            let _ = sleep(time).await;
        }
        match fate {
            Fate::Panics => coact_tests::fail("the store has a bad day"),
            Fate::Hangs => std::future::pending().await,
            _ => {}
        }
    }
}

impl Inner {
    /// Of how many keys a write is under way.
    pub fn pending_writes(&self) -> usize {
        self.writing.len()
    }

    /// How many loads are under way.
    pub fn pending_loads(&self) -> usize {
        self.loading.values().sum()
    }
}

type Fates = Box<dyn FnMut(&[Key]) -> Fate + Send>;

/// Keys for which something is under way, until this is dropped.
struct Busy<'a>(&'a Table, Vec<Key>, fn(&mut Inner) -> &mut HashSet<Key>);

impl<'a> Busy<'a> {
    fn new(table: &'a Table, keys: Vec<Key>, which: fn(&mut Inner) -> &mut HashSet<Key>) -> Self {
        let mut inner = table.inner();
        for key in &keys {
            let is_first = which(&mut inner).insert(*key);
            assert!(is_first, "two at a time for {key}");
        }
        drop(inner);
        Self(table, keys, which)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.1.iter().for_each(|key| _ = (self.2)(&mut self.0.inner()).remove(key));
    }
}

/// A load that is under way, until this is dropped.
struct Loading<'a>(&'a Table, Key);

impl<'a> Loading<'a> {
    fn new(table: &'a Table, key: Key) -> Self {
        let mut inner = table.inner();
        let superseded = inner.superseded.get(&key).copied().unwrap_or_default();
        let overlaps = inner.overlaps;
        let loads = inner.loading.entry(key).or_default();
        *loads += 1;
        // Each but one was made void. (One that begins late may have been made void long before, so
        // all of them count.)
        assert!(overlaps || *loads <= 1 + superseded, "two current loads of {key}");
        inner.loads += 1;
        drop(inner);
        Self(table, key)
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        *self.0.inner().loading.entry(self.1).or_default() -= 1;
    }
}

impl Backing<Key, Value> for Table {
    async fn load(&self, key: Key) -> Result<Option<Value>, BoxError> {
        let _loading = Loading::new(self, key);
        let (time, fate) = self.begin(&[key]);
        // What is read may be old when it is told.
        let value = self.get(key);
        self.take(time, fate).await;
        if fate == Fate::Done { Ok(value) } else { Err("not today".into()) }
    }

    async fn write(&self, writes: Vec<Write<Key, Value>>) -> Result<(), BackingError> {
        let keys: Vec<_> = writes.iter().map(|write| write.key).collect();
        let _busy = Busy::new(self, keys.clone(), |inner| &mut inner.writing);
        let (time, fate) = self.begin(&keys);
        self.take(time, fate).await;
        if matches!(fate, Fate::Done | Fate::DoneAndFails) {
            let mut inner = self.inner();
            for Write { key, value } in &writes {
                match value {
                    Some(value) => _ = inner.values.insert(*key, *value),
                    None => _ = inner.values.remove(key),
                }
            }
            inner.batches.push(writes);
        }
        match fate {
            Fate::Done => Ok(()),
            Fate::Refused => Err(BackingError::Refused("never".into())),
            _ => Err(BackingError::Unavailable("not today".into())),
        }
    }
}

//! The entries of a cache, and the order in which they are dropped. It is given the time. The only
//! user code that it calls is `Eq`, before it changes anything, and destructors and the listener,
//! once it has changed everything.
//!
//! The least recently used entry goes first. Parallel readers cannot change that order: they mark
//! the entry, which counts as used when its turn to go comes. With two segments, an entry that was
//! used again is safe from those that were used once.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::mem::replace;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use coact_core::internals::{CatchDrop, drop_quietly};

use crate::builder::EntryMeasure;
use crate::counts::CacheCounts;
use crate::errors::LoadError;
use crate::keyed_slab::KeyedSlab;
use crate::limits::CacheLimits;
use crate::removal::{RemovalCause, RemovalListener, RemovedEntry};
use crate::slab_list::{ListKind, SlabLinks, SlabList, SlabNode};

/// What the cache knows of a key.
pub(crate) enum EntryContent<V> {
    Value(CatchDrop<V>),
    /// There is no value.
    Absent,
    /// It could not be loaded.
    Failed(LoadError),
}

struct CacheEntry<V> {
    content: EntryContent<V>,
    weight: u64,
    /// When its time is over.
    expires: Duration,
    /// From when on it is loaded again when it is asked for.
    refreshes: Duration,
    /// When it was used last, in nanoseconds, if it matters.
    used: AtomicU64,
    /// Whether it was used since it got its place in the order of use.
    is_marked: AtomicBool,
    is_protected: bool,
    by_use: SlabLinks,
    by_write: SlabLinks,
}

impl<V> SlabNode for CacheEntry<V> {
    #[inline]
    fn links(&mut self, kind: ListKind) -> &mut SlabLinks {
        match kind {
            ListKind::Use => &mut self.by_use,
            ListKind::Write => &mut self.by_write,
        }
    }
}

impl<V> NewEntry<V> {
    pub(crate) fn new(content: EntryContent<V>, measure: EntryMeasure) -> Self {
        let EntryMeasure { weight, time_to_live } = measure;
        Self { content, weight, time_to_live }
    }

    pub(crate) fn is_value(&self) -> bool {
        self.content.is_value()
    }
}

impl<V> EntryContent<V> {
    fn is_value(&self) -> bool {
        matches!(self, EntryContent::Value(_))
    }
}

/// An entry to insert.
pub(crate) struct NewEntry<V> {
    content: EntryContent<V>,
    weight: u64,
    /// For how long, if it has a time of its own.
    time_to_live: Option<Duration>,
}

pub(crate) struct EntryTable<K, V> {
    all: KeyedSlab<K, CacheEntry<V>>,
    limits: Arc<CacheLimits>,
    listener: Option<RemovalListener<K, V>>,
    /// By use: those that may go, and those that are safe from entries that are used once.
    probation: SlabList,
    protected: SlabList,
    protected_weight: u64,
    /// By write: values, and what is not there. Of each, what was written first expires first.
    values: SlabList,
    absences: SlabList,
    /// When values expire that have times of their own, by time and place.
    expiries: BTreeSet<(Duration, usize)>,
    weight: u64,
    evicted: u64,
    expired: u64,
    replaced: u64,
    too_heavy: u64,
}

/// How many entries whose time is over are dropped beside one that is inserted.
const EXPIRED_AT_ONCE: usize = 16;

impl<K, V> EntryTable<K, V> {
    pub(crate) fn new(limits: Arc<CacheLimits>, listener: Option<RemovalListener<K, V>>) -> Self {
        Self {
            all: KeyedSlab::default(),
            limits,
            listener,
            probation: SlabList::by(ListKind::Use),
            protected: SlabList::by(ListKind::Use),
            protected_weight: 0,
            values: SlabList::by(ListKind::Write),
            absences: SlabList::by(ListKind::Write),
            expiries: BTreeSet::new(),
            weight: 0,
            evicted: 0,
            expired: 0,
            replaced: 0,
            too_heavy: 0,
        }
    }

    /// Returns the place of a key, whose time may be over.
    #[inline]
    pub(crate) fn find<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.all.find(hash, key)
    }

    pub(crate) fn get(&self, at: usize) -> &EntryContent<V> {
        &self.all.get(at).content
    }

    pub(crate) fn is_over(&self, at: usize, now: Duration) -> bool {
        let entry = self.all.get(at);
        if entry.expires <= now {
            return true;
        }
        let used = || Duration::from_nanos(entry.used.load(Ordering::Relaxed));
        self.limits.time_to_idle.is_some_and(|limit| now.saturating_sub(used()) >= limit)
    }

    /// Whether a value is to be loaded again ahead of its expiry.
    #[inline]
    pub(crate) fn is_refresh_due(&self, at: usize, now: Duration) -> bool {
        self.all.get(at).refreshes <= now
    }

    /// Whether there is a value whose time is not over.
    pub(crate) fn is_usable(&self, at: usize, now: Duration) -> bool {
        self.all.get(at).content.is_value() && !self.is_over(at, now)
    }

    /// Marks an entry as used, beside other readers.
    #[inline]
    pub(crate) fn mark(&self, at: usize, now: Duration) {
        let entry = self.all.get(at);
        if !entry.is_marked.load(Ordering::Relaxed) {
            entry.is_marked.store(true, Ordering::Relaxed);
        }
        if self.limits.time_to_idle.is_some() {
            entry.used.fetch_max(nanos(now), Ordering::Relaxed);
        }
    }

    /// Marks an entry as used, and moves it in the order of use.
    #[inline]
    pub(crate) fn touch(&mut self, at: usize, now: Duration) {
        let entry = self.all.get_mut(at);
        *entry.used.get_mut() = nanos(now);
        *entry.is_marked.get_mut() = false;
        self.promote(at);
    }

    #[inline]
    fn promote(&mut self, at: usize) {
        if self.all.get(at).is_protected {
            if !self.protected.is_newest(at) {
                self.protected.remove(&mut self.all, at);
                self.protected.push(&mut self.all, at);
            }
        } else if self.limits.is_scan_resistant {
            self.protect(at);
        } else if !self.probation.is_newest(at) {
            self.probation.remove(&mut self.all, at);
            self.probation.push(&mut self.all, at);
        }
    }

    fn protect(&mut self, at: usize) {
        self.probation.remove(&mut self.all, at);
        self.protected.push(&mut self.all, at);
        let entry = self.all.get_mut(at);
        entry.is_protected = true;
        self.protected_weight += entry.weight;
        let (entries, weight) = self.limits.max_protected();
        while self.protected.len() > entries || self.protected_weight > weight {
            let Some(oldest) = self.protected.oldest() else { break };
            self.protected.remove(&mut self.all, oldest);
            self.probation.push(&mut self.all, oldest);
            let entry = self.all.get_mut(oldest);
            entry.is_protected = false;
            self.protected_weight -= entry.weight;
        }
    }

    /// Inserts an entry whose times start at `since`, in place of the one before. Returns whether
    /// it is kept.
    pub(crate) fn insert(
        &mut self,
        (hash, key): (u64, CatchDrop<K>),
        before: Option<usize>,
        NewEntry { content, weight, time_to_live }: NewEntry<V>,
        since: Duration,
        now: Duration,
    ) -> bool {
        if let Some(before) = before {
            if self.limits.is_timed && self.is_over(before, now) {
                self.expire(before);
            } else {
                self.forget(before, RemovalCause::Replaced);
            }
        }
        let after = |limit: Option<Duration>| {
            limit.map_or(Duration::MAX, |limit| since.saturating_add(limit))
        };
        let (expires, refreshes) = if !self.limits.is_timed {
            (Duration::MAX, Duration::MAX)
        } else if content.is_value() {
            let lives = after(self.limits.time_to_live).min(after(time_to_live));
            (lives, after(self.limits.refresh_after_write))
        } else {
            (after(self.limits.negative_time_to_live), Duration::MAX)
        };
        self.drop_expired(now);
        if expires <= now {
            self.expired += 1;
            self.tell(key, content, RemovalCause::Expired);
        } else if self.limits.max_weight.is_some_and(|max| weight > max) {
            self.too_heavy += 1;
            self.tell(key, content, RemovalCause::Size);
        } else {
            self.make_room_for(weight);
            let entry = CacheEntry::new(content, weight, (expires, refreshes), now);
            self.add((hash, key.into_inner()), entry);
            return true;
        }
        false
    }

    fn add(&mut self, (hash, key): (u64, K), entry: CacheEntry<V>) {
        self.weight += entry.weight;
        let (is_value, expires) = (entry.content.is_value(), entry.expires);
        let at = self.all.insert(hash, key, entry);
        if self.has_expiry(is_value, expires) {
            self.expiries.insert((expires, at));
        }
        self.probation.push(&mut self.all, at);
        let order = if is_value { &mut self.values } else { &mut self.absences };
        order.push(&mut self.all, at);
    }

    /// Whether an entry has a place in the order of expiry.
    fn has_expiry(&self, is_value: bool, expires: Duration) -> bool {
        self.limits.has_expiry && is_value && expires < Duration::MAX
    }

    /// Drops some of the entries whose time is over.
    pub(crate) fn drop_expired(&mut self, now: Duration) {
        if !self.limits.is_timed {
            return;
        }
        for _ in 0..EXPIRED_AT_ONCE {
            let first = self.expiries.first().map(|(_, at)| *at);
            let orders = [&self.values, &self.absences, &self.probation, &self.protected];
            let oldest = orders.map(SlabList::oldest).into_iter().chain([first]).flatten();
            let Some(at) = oldest.into_iter().find(|at| self.is_over(*at, now)) else { return };
            self.expire(at);
        }
    }

    /// Drops an entry whose time is over.
    pub(crate) fn expire(&mut self, at: usize) {
        self.expired += 1;
        self.remove(at, RemovalCause::Expired);
    }

    fn make_room_for(&mut self, weight: u64) {
        let max_entries = self.limits.max_entries.unwrap_or(usize::MAX);
        let max_weight = self.limits.max_weight.unwrap_or(u64::MAX);
        while self.all.len() >= max_entries || self.weight > max_weight.saturating_sub(weight) {
            let Some(oldest) = self.probation.oldest().or_else(|| self.protected.oldest()) else {
                return;
            };
            // It was read since it got its place: it gets another one, once.
            if replace(self.all.get_mut(oldest).is_marked.get_mut(), false) {
                self.promote(oldest);
                continue;
            }
            self.evicted += 1;
            self.remove(oldest, RemovalCause::Size);
        }
    }

    /// Drops an entry for another reason than its time or the bounds.
    pub(crate) fn forget(&mut self, at: usize, cause: RemovalCause) {
        self.replaced += 1;
        self.remove(at, cause);
    }

    fn remove(&mut self, at: usize, cause: RemovalCause) {
        let entry = self.all.get(at);
        let (weight, is_value, is_protected) =
            (entry.weight, entry.content.is_value(), entry.is_protected);
        let expires = entry.expires;
        if self.has_expiry(is_value, expires) {
            self.expiries.remove(&(expires, at));
        }
        self.weight -= weight;
        if is_protected {
            self.protected_weight -= weight;
            self.protected.remove(&mut self.all, at);
        } else {
            self.probation.remove(&mut self.all, at);
        }
        let order = if is_value { &mut self.values } else { &mut self.absences };
        order.remove(&mut self.all, at);
        let (key, CacheEntry { content, .. }) = self.all.remove(at);
        self.tell(key, content, cause);
    }

    /// Calls the listener with a dropped value, once all else is done.
    fn tell(&self, key: CatchDrop<K>, content: EntryContent<V>, cause: RemovalCause) {
        let (Some(listener), EntryContent::Value(value)) = (&self.listener, content) else {
            return;
        };
        let (key, value) = (key.into_inner(), value.into_inner());
        drop_quietly(|| listener(RemovedEntry { key, value, cause }));
    }

    /// Drops all entries.
    pub(crate) fn clear(&mut self) {
        let count = self.all.len() as u64;
        let empty = Self {
            evicted: self.evicted,
            expired: self.expired,
            replaced: self.replaced + count,
            too_heavy: self.too_heavy,
            ..Self::new(Arc::clone(&self.limits), self.listener.clone())
        };
        for (key, CacheEntry { content, .. }) in replace(self, empty).all.into_entries() {
            self.tell(key, content, RemovalCause::Explicit);
        }
    }

    /// Adds its counts.
    pub(crate) fn count(&self, counts: &mut CacheCounts) {
        counts.entries = self.all.len();
        counts.weight = self.weight;
        counts.evicted_for_room = self.evicted;
        counts.expired = self.expired;
        counts.replaced = self.replaced;
        counts.too_heavy = self.too_heavy;
    }
}

impl<V> CacheEntry<V> {
    fn new(
        content: EntryContent<V>,
        weight: u64,
        (expires, refreshes): (Duration, Duration),
        now: Duration,
    ) -> Self {
        Self {
            content,
            weight,
            expires,
            refreshes,
            used: AtomicU64::new(nanos(now)),
            is_marked: AtomicBool::new(false),
            is_protected: false,
            by_use: SlabLinks::default(),
            by_write: SlabLinks::default(),
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

//! A hierarchical timing wheel: timers in constant time, whatever their number.
//!
//! # The structure
//!
//! Time is divided into *ticks*. Six levels of 64 buckets cover 2^36 ticks (two years of
//! milliseconds): a bucket of level 0 is one tick wide, a bucket of level 1 is 64, and so on. A
//! timer is kept at the level of the highest 6-bit digit in which its tick differs from the wheel's
//! current tick, in the bucket named by this digit; a timer that is too far away waits in a list
//! beside the levels. When the current tick enters a bucket of a higher level, the timers in it
//! move down (at most once per level). See Varghese and Lauck, *Hashed and hierarchical timing
//! wheels*, 1987.
//!
//! As a result, all timers of one level come before all timers of the next, and within a level the
//! buckets are in order. The earliest timer is in the first occupied bucket of the lowest occupied
//! level, found with six bit maps. An empty stretch of time costs nothing, so a virtual clock may
//! jump arbitrarily far.
//!
//! # Precision
//!
//! Ticks only determine where a timer is kept. Its deadline stays exact: nothing fires early, a
//! timer whose tick has begun but whose deadline has not passed stays in its bucket, and due timers
//! fire in the order of their deadlines and, for equal ones, of insertion.

use std::fmt;

/// The end of a list, or the bucket of a timer that is in none.
const NIL: u32 = u32::MAX;

const LEVELS: usize = 6;
const BUCKET_BITS: u32 = 6;
const BUCKETS: usize = 1 << BUCKET_BITS;

/// Holds the timers beyond the last level: a bucket behind all others.
const FAR: usize = LEVELS * BUCKETS;

/// Timers with values of type `T`. Times are nanoseconds since an origin of the caller's choice.
pub struct TimerWheel<T> {
    /// The length of a tick in nanoseconds.
    tick: u64,
    /// The current tick. No timer is in a bucket before it; its own bucket also takes overdue
    /// timers.
    current: u64,
    /// Bit s of word l: whether bucket s of level l is occupied.
    occupied: [u64; LEVELS],
    /// The buckets of all levels, lowest first, then the far one. Empty before the first timer.
    buckets: Box<[TimerBucket]>,
    entries: Vec<WheelEntry<T>>,
    /// The first entry in the list of unused entries.
    unused: u32,
    len: usize,
    /// The number of insertions so far, which orders timers with equal deadlines.
    insertions: u64,
    /// Timers taken out of their bucket to fire, latest first. Empty except while `advance` runs
    /// and after a callback has panicked.
    due: Vec<DueTimer>,
}

/// Identifies a timer of one wheel. The key of a timer that has fired or was cancelled is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerKey {
    index: u32,
    generation: u32,
}

/// A doubly linked list of timers.
#[derive(Clone, Copy)]
struct TimerBucket {
    head: u32,
    /// A lower bound of the bucket's deadlines. It is too low if the timer that had it was
    /// cancelled.
    earliest: u64,
}

struct WheelEntry<T> {
    /// `None` in an unused entry.
    value: Option<T>,
    deadline: u64,
    insertion: u64,
    /// The bucket that contains it, or [`NIL`] while it is due.
    bucket: u32,
    previous: u32,
    next: u32,
    generation: u32,
}

/// A timer about to fire; ordered as timers fire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DueTimer {
    deadline: u64,
    insertion: u64,
    index: u32,
    generation: u32,
}

impl<T> TimerWheel<T> {
    /// The tick of [`TimerWheel::default`]: a millisecond.
    pub const DEFAULT_TICK: u64 = 1_000_000;

    /// Creates an empty wheel at time 0, with ticks of `tick` nanoseconds.
    ///
    /// # Panics
    ///
    /// Panics if `tick` is zero.
    pub fn new(tick: u64) -> Self {
        assert!(tick > 0, "the tick of a timer wheel must not be zero");
        Self {
            tick,
            current: 0,
            occupied: [0; LEVELS],
            buckets: Box::default(),
            entries: Vec::new(),
            unused: NIL,
            len: 0,
            insertions: 0,
            due: Vec::new(),
        }
    }

    /// The number of timers.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no timer.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a timer that fires at the first [`advance`](Self::advance) to `deadline` or later.
    ///
    /// # Panics
    ///
    /// Panics if there are already 2^32 - 1 timers.
    pub fn insert(&mut self, deadline: u64, value: T) -> TimerKey {
        let index = self.allocate(deadline, value);
        self.len += 1;
        self.link(index);
        TimerKey { index, generation: self.entry(index).generation }
    }

    /// Removes a timer and returns its value, if it has neither fired nor been cancelled.
    pub fn cancel(&mut self, key: TimerKey) -> Option<T> {
        let entry = self.entries.get(key.index as usize)?;
        if entry.generation != key.generation || entry.value.is_none() {
            return None;
        }
        if entry.bucket != NIL {
            self.unlink(key.index);
        }
        self.release(key.index)
    }

    /// Returns when [`advance`](Self::advance) must be called next, or `None` if there is no timer.
    ///
    /// This is the earliest deadline, or an earlier time if the timer that had it was cancelled:
    /// then `advance` fires nothing, and the next result is closer.
    pub fn next_deadline(&self) -> Option<u64> {
        // A timer left over from a panic is long due.
        let interrupted = self.due.last().map(|due| due.deadline);
        let waiting = self.first_slot().map(|bucket| self.buckets[bucket].earliest);
        interrupted.into_iter().chain(waiting).min()
    }

    /// Fires every timer whose deadline is `now` or earlier, in the order of deadlines and, for
    /// equal ones, of insertion. `now` may be earlier than in a previous call; then this fires what
    /// is due by then.
    ///
    /// If `fire` panics, its timer is gone, and the remaining ones fire in the next call.
    pub fn advance(&mut self, now: u64, fire: &mut impl FnMut(T)) {
        self.fire_due(fire);
        let target = (now / self.tick).max(self.current);
        while let Some(bucket) = self.first_slot() {
            let start = self.start_of(bucket);
            if start > target {
                break;
            }
            self.current = self.current.max(start);
            if bucket >= BUCKETS {
                self.cascade(bucket);
                continue;
            }
            self.collect(bucket, now);
            self.fire_due(fire);
            if start >= target {
                break;
            }
        }
        // No bucket of a higher level has begun by `target`, so every timer is already where it
        // belongs.
        self.current = target;
    }

    /// Takes the due timers out of a bucket of level 0.
    fn collect(&mut self, bucket: usize, now: u64) {
        let mut index = self.buckets[bucket].head;
        let mut earliest = u64::MAX;
        while index != NIL {
            let entry = self.entry(index);
            let next = entry.next;
            if entry.deadline <= now {
                self.due.push(DueTimer {
                    deadline: entry.deadline,
                    insertion: entry.insertion,
                    index,
                    generation: entry.generation,
                });
                self.unlink(index);
            } else {
                earliest = earliest.min(entry.deadline);
            }
            index = next;
        }
        self.buckets[bucket].earliest = earliest;
        self.due.sort_unstable_by(|a, b| b.cmp(a));
    }

    fn fire_due(&mut self, fire: &mut impl FnMut(T)) {
        while let Some(due) = self.due.pop() {
            // A timer left over from a panic may have been cancelled since.
            if self.entry(due.index).generation != due.generation {
                continue;
            }
            if let Some(value) = self.release(due.index) {
                fire(value);
            }
        }
    }

    /// Moves the timers of a bucket that has begun to lower levels.
    fn cascade(&mut self, bucket: usize) {
        let mut index = self.buckets[bucket].head;
        self.clear(bucket);
        while index != NIL {
            let next = self.entry(index).next;
            self.link(index);
            index = next;
        }
    }

    /// Returns the first occupied bucket.
    fn first_slot(&self) -> Option<usize> {
        for (level, occupied) in self.occupied.iter().enumerate() {
            if *occupied != 0 {
                return Some(level * BUCKETS + occupied.trailing_zeros() as usize);
            }
        }
        let far = self.buckets.last()?;
        (far.head != NIL).then_some(FAR)
    }

    /// Returns the first tick of an occupied bucket.
    fn start_of(&self, bucket: usize) -> u64 {
        if bucket == FAR {
            // The first tick of the earliest round of its timers; there is nothing before it.
            let round = BUCKET_BITS * LEVELS as u32;
            return (self.buckets[FAR].earliest / self.tick) >> round << round;
        }
        let shift = BUCKET_BITS * (bucket / BUCKETS) as u32;
        let above = self.current >> (shift + BUCKET_BITS) << BUCKET_BITS;
        (above | (bucket % BUCKETS) as u64) << shift
    }

    /// Returns the bucket for a tick that is not before the current one.
    fn slot_for(&self, tick: u64) -> usize {
        let differing = tick ^ self.current;
        let level = (63 - (differing | 1).leading_zeros()) / BUCKET_BITS;
        if level as usize >= LEVELS {
            return FAR;
        }
        let digit = (tick >> (level * BUCKET_BITS)) as usize % BUCKETS;
        level as usize * BUCKETS + digit
    }

    /// Puts an entry that is in no bucket into the right one.
    fn link(&mut self, index: u32) {
        let deadline = self.entry(index).deadline;
        let bucket = self.slot_for((deadline / self.tick).max(self.current));
        if self.buckets.is_empty() {
            self.buckets = vec![TimerBucket::EMPTY; FAR + 1].into_boxed_slice();
        }
        let TimerBucket { head, earliest } = self.buckets[bucket];
        let entry = self.entry_mut(index);
        entry.bucket = bucket as u32;
        entry.previous = NIL;
        entry.next = head;
        if head != NIL {
            self.entry_mut(head).previous = index;
        }
        self.buckets[bucket] = TimerBucket { head: index, earliest: earliest.min(deadline) };
        if bucket < FAR {
            self.occupied[bucket / BUCKETS] |= 1 << (bucket % BUCKETS);
        }
    }

    /// Takes an entry out of its bucket.
    fn unlink(&mut self, index: u32) {
        let entry = self.entry_mut(index);
        let bucket = std::mem::replace(&mut entry.bucket, NIL) as usize;
        let (previous, next) = (entry.previous, entry.next);
        if next != NIL {
            self.entry_mut(next).previous = previous;
        }
        if previous != NIL {
            self.entry_mut(previous).next = next;
        } else if next != NIL {
            self.buckets[bucket].head = next;
        } else {
            self.clear(bucket);
        }
    }

    fn clear(&mut self, bucket: usize) {
        self.buckets[bucket] = TimerBucket::EMPTY;
        if bucket < FAR {
            self.occupied[bucket / BUCKETS] &= !(1 << (bucket % BUCKETS));
        }
    }

    /// Allocates an entry for a timer that is in no bucket yet.
    fn allocate(&mut self, deadline: u64, value: T) -> u32 {
        let insertion = self.insertions;
        self.insertions += 1;
        if self.unused == NIL {
            return self.extend(deadline, insertion, value);
        }
        let index = self.unused;
        self.unused = self.entry(index).next;
        let entry = self.entry_mut(index);
        entry.value = Some(value);
        entry.deadline = deadline;
        entry.insertion = insertion;
        index
    }

    fn extend(&mut self, deadline: u64, insertion: u64, value: T) -> u32 {
        assert!(self.entries.len() < NIL as usize, "too many timers in one wheel");
        let index = self.entries.len() as u32;
        self.entries.push(WheelEntry {
            value: Some(value),
            deadline,
            insertion,
            bucket: NIL,
            previous: NIL,
            next: NIL,
            generation: 0,
        });
        index
    }

    /// Ends a timer that is in no bucket. This makes its key, and every earlier key of the entry,
    /// stale; an entry that has used up its generations is not reused.
    fn release(&mut self, index: u32) -> Option<T> {
        let unused = self.unused;
        let entry = self.entry_mut(index);
        let value = entry.value.take()?;
        if let Some(generation) = entry.generation.checked_add(1) {
            entry.generation = generation;
            entry.next = unused;
            self.unused = index;
        }
        self.len -= 1;
        Some(value)
    }

    fn entry(&self, index: u32) -> &WheelEntry<T> {
        &self.entries[index as usize]
    }

    fn entry_mut(&mut self, index: u32) -> &mut WheelEntry<T> {
        &mut self.entries[index as usize]
    }
}

impl TimerBucket {
    const EMPTY: Self = Self { head: NIL, earliest: u64::MAX };
}

impl<T> Default for TimerWheel<T> {
    fn default() -> Self {
        Self::new(Self::DEFAULT_TICK)
    }
}

impl<T> fmt::Debug for TimerWheel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimerWheel")
            .field("tick", &self.tick)
            .field("current", &self.current)
            .field("len", &self.len)
            .field("next_deadline", &self.next_deadline())
            .finish()
    }
}

#[cfg(test)]
mod tests;

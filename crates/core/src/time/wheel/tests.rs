//! Compares the wheel with a sorted map, and tests the edge cases one by one.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// A reference implementation that keeps everything sorted.
#[derive(Default)]
struct Oracle {
    timers: BTreeMap<(u64, u64), u64>,
    insertions: u64,
}

impl Oracle {
    fn insert(&mut self, deadline: u64, value: u64) -> (u64, u64) {
        self.insertions += 1;
        self.timers.insert((deadline, self.insertions), value);
        (deadline, self.insertions)
    }

    fn advance(&mut self, now: u64) -> Vec<u64> {
        let later = match now.checked_add(1) {
            Some(after) => self.timers.split_off(&(after, 0)),
            None => BTreeMap::new(),
        };
        std::mem::replace(&mut self.timers, later).into_values().collect()
    }

    fn next_deadline(&self) -> Option<u64> {
        self.timers.keys().next().map(|(deadline, _)| *deadline)
    }
}

fn advance<T>(wheel: &mut TimerWheel<T>, now: u64) -> Vec<T> {
    let mut fired = Vec::new();
    wheel.advance(now, &mut |value| fired.push(value));
    fired
}

/// A cheap pseudo-random sequence.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A duration of any order of magnitude, so that every level is used.
    fn duration(&mut self, bits: u32) -> u64 {
        let bits = self.next() % u64::from(bits);
        self.next() >> (63 - bits)
    }
}

/// Random insertions, cancellations and jumps; a failure prints the seed.
fn compare_with_the_oracle(seed: u64, tick: u64, bits: u32, cancels: bool) {
    let mut numbers = Numbers(seed);
    let mut wheel = TimerWheel::new(tick);
    let mut oracle = Oracle::default();
    let mut keys = Vec::new();
    let mut now = 0_u64;
    for step in 0..400 {
        let context = format!("seed {seed}, tick {tick}, step {step}, now {now}");
        match numbers.next() % 8 {
            0..4 => {
                // Some are overdue, and some share their deadline.
                let deadline = match numbers.next() % 8 {
                    0 => now.saturating_sub(numbers.duration(bits)),
                    1 => now,
                    _ => now.saturating_add(numbers.duration(bits)),
                };
                keys.push((wheel.insert(deadline, step), oracle.insert(deadline, step)));
            }
            4 if cancels && !keys.is_empty() => {
                // Keys stay in the list, so that stale ones are used too.
                let (key, expected) = keys[numbers.next() as usize % keys.len()];
                let expected = oracle.timers.remove(&expected);
                assert_eq!(wheel.cancel(key), expected, "{context}");
            }
            5 => now = wheel.next_deadline().map_or(now, |next| next.max(now)),
            6 => now = now.saturating_add(numbers.duration(bits)),
            _ => now = now.saturating_add(numbers.next() % (2 * tick)),
        }
        assert_eq!(advance(&mut wheel, now), oracle.advance(now), "{context}");
        assert_eq!(wheel.len(), oracle.timers.len(), "{context}");
        let (next, exact) = (wheel.next_deadline(), oracle.next_deadline());
        if cancels {
            assert_eq!(next.is_some(), exact.is_some(), "{context}");
            assert!(next <= exact, "{context}: {next:?} is after {exact:?}");
        } else {
            assert_eq!(next, exact, "{context}");
        }
    }
    // Between announced times, everything fires at its exact deadline.
    let mut turns = 0;
    while let Some(next) = wheel.next_deadline() {
        assert_eq!(advance(&mut wheel, next), oracle.advance(next), "seed {seed}");
        turns += 1;
        assert!(turns < 400 * 8, "seed {seed}: the wheel does not get closer");
    }
    assert!(oracle.timers.is_empty() && wheel.is_empty());
}

#[test]
fn does_what_a_sorted_map_does() {
    for seed in 1..=100 {
        for (tick, bits) in [(1, 63), (1, 12), (1000, 40), (TimerWheel::<()>::DEFAULT_TICK, 45)] {
            compare_with_the_oracle(seed, tick, bits, false);
            compare_with_the_oracle(seed, tick, bits, true);
        }
    }
}

#[test]
fn nothing_fires_early_within_its_tick() {
    let mut wheel = TimerWheel::default();
    wheel.insert(1_500_000, 'a');
    assert!(advance(&mut wheel, 1_499_999).is_empty());
    assert_eq!(wheel.next_deadline(), Some(1_500_000));
    assert_eq!(advance(&mut wheel, 1_500_000), ['a']);
    assert_eq!(wheel.next_deadline(), None);
}

#[test]
fn equal_deadlines_fire_in_the_order_of_insertion() {
    let mut wheel = TimerWheel::default();
    // From different distances, so that they reach the bucket on different paths.
    let deadline = 70 * 64 * 1_000_000;
    wheel.insert(deadline, 0);
    advance(&mut wheel, deadline - 65 * 1_000_000);
    wheel.insert(deadline, 1);
    advance(&mut wheel, deadline - 1);
    wheel.insert(deadline, 2);
    wheel.insert(deadline - 1, -1);
    assert_eq!(advance(&mut wheel, deadline), [-1, 0, 1, 2]);
}

#[test]
fn an_overdue_timer_fires_with_the_next_call() {
    let mut wheel = TimerWheel::default();
    advance(&mut wheel, 10_000_000_000);
    wheel.insert(5, "long ago");
    assert_eq!(wheel.next_deadline(), Some(5));
    assert_eq!(advance(&mut wheel, 10_000_000_000), ["long ago"]);
}

#[test]
fn a_stale_key_is_harmless() {
    let mut wheel = TimerWheel::default();
    let fired = wheel.insert(1, 'a');
    advance(&mut wheel, 1);
    assert_eq!(wheel.cancel(fired), None);
    let reused = wheel.insert(2, 'b');
    assert_eq!(fired.index, reused.index, "the entry is used again");
    assert_eq!(wheel.cancel(fired), None);
    assert_eq!(wheel.cancel(reused), Some('b'));
    assert_eq!(wheel.cancel(reused), None);
    assert!(wheel.is_empty());
}

#[test]
fn an_entry_whose_generations_are_used_up_rests() {
    let mut wheel = TimerWheel::default();
    let first = wheel.insert(1, 'a');
    wheel.entries[0].generation = u32::MAX;
    let last = TimerKey { generation: u32::MAX, ..first };
    assert_eq!(wheel.cancel(last), Some('a'));
    assert_eq!(wheel.cancel(last), None);
    assert_ne!(wheel.insert(1, 'b').index, last.index);
    assert_eq!(wheel.len(), 1);
}

#[test]
fn a_jump_over_all_of_time_fires_everything_in_order() {
    let mut wheel = TimerWheel::new(1);
    let deadlines: Vec<u64> = (0..64).map(|bit| 1 << bit).chain([u64::MAX]).collect();
    for deadline in deadlines.iter().rev() {
        wheel.insert(*deadline, *deadline);
    }
    assert_eq!(advance(&mut wheel, u64::MAX), deadlines);
    wheel.insert(u64::MAX, 7);
    assert_eq!(advance(&mut wheel, u64::MAX), [7]);
}

#[test]
fn a_cancelled_timer_wakes_nobody_for_long() {
    let mut wheel = TimerWheel::default();
    let hour = 3_600_000_000_000;
    let soon = wheel.insert(hour, 'a');
    wheel.insert(hour + 1_000_000_000, 'b');
    wheel.cancel(soon);
    let mut turns = 0;
    while let Some(next) = wheel.next_deadline() {
        turns += 1;
        advance(&mut wheel, next);
    }
    assert!(turns <= LEVELS, "{turns} turns for one timer");
}

#[test]
fn a_panic_loses_no_other_timer() {
    let mut wheel = TimerWheel::default();
    let keys: Vec<_> = (0..5).map(|i| wheel.insert(i, i)).collect();
    let mut fired = Vec::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        wheel.advance(10, &mut |i| {
            assert!(i != 1, "this one fails");
            fired.push(i);
        });
    }));
    assert!(outcome.is_err());
    assert_eq!((wheel.len(), wheel.next_deadline()), (3, Some(2)));
    assert_eq!(wheel.cancel(keys[3]), Some(3));
    // A cancelled timer whose entry is reused must not fire in its place.
    wheel.insert(11, 33);
    fired.extend(advance(&mut wheel, 10));
    assert_eq!(fired, [0, 2, 4]);
    assert_eq!(advance(&mut wheel, 11), [33]);
    assert!(wheel.is_empty());
}

#[test]
fn values_are_dropped_with_the_wheel() {
    let value = std::rc::Rc::new(());
    let mut wheel = TimerWheel::default();
    for i in 0..10 {
        wheel.insert(1 << (4 * i), value.clone());
    }
    drop(wheel);
    assert_eq!(std::rc::Rc::strong_count(&value), 1);
}

//! The ring with bodies of all sizes.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::num::NonZeroU16;
use std::ptr::NonNull;

use super::{RingEntry, RunQueue};
use crate::queue::live_cown::LiveCown;
use crate::queue::requested_cown::RequestedCown;
use crate::runtime_ids::RuntimeId;
use crate::task::{RunContext, RunMode};

thread_local! {
    static RUN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// A body stored in its entry, one that needs a block, and one with a stricter alignment.
struct Small(u64);
struct Large([u64; 20]);
#[repr(align(64))]
struct Aligned(u64);

trait Body {
    fn value(&self) -> u64;
}

impl Body for Small {
    fn value(&self) -> u64 {
        self.0
    }
}

impl Body for Large {
    fn value(&self) -> u64 {
        assert!(self.0.iter().all(|word| *word == self.0[0]), "moved as a whole");
        self.0[0]
    }
}

impl Body for Aligned {
    fn value(&self) -> u64 {
        assert_eq!(std::ptr::from_ref(self).addr() % 64, 0);
        self.0
    }
}

unsafe fn run<B: Body>(entry: NonNull<RingEntry>, _: &RunContext) {
    // SAFETY: just popped, and pushed as a `B`.
    let (_, body) = unsafe { RingEntry::take::<B>(entry) };
    RUN.with_borrow_mut(|run| run.push(body.value()));
}

fn push(ring: &mut RunQueue, value: u64) {
    // SAFETY: it is never dereferenced.
    let member = RequestedCown::exclusive(unsafe { LiveCown::new(NonNull::dangling()) });
    match value % 3 {
        0 => ring.push(member, Small(value), run::<Small>),
        1 => ring.push(member, Large([value; 20]), run::<Large>),
        _ => ring.push(member, Aligned(value), run::<Aligned>),
    }
}

/// Pops an entry and runs it. Returns `false` if there is none.
fn pop(ring: &mut RunQueue) -> bool {
    let context = RunContext::new(RuntimeId::new(NonZeroU16::MIN), RunMode::Run);
    let Some(entry) = ring.pop() else { return false };
    // SAFETY: just popped.
    unsafe { RingEntry::run_of(entry)(entry, &context) };
    true
}

#[test]
fn entries_come_out_as_they_went_in_whatever_their_size() {
    let (mut ring, mut expected, mut next) = (RunQueue::new(), VecDeque::new(), 0);
    // Grows with entries at every position of the ring, and wraps with rounds of many lengths.
    for round in 0..200 {
        for _ in 0..round % 23 {
            push(&mut ring, next);
            expected.push_back(next);
            next += 1;
        }
        for _ in 0..round % 19 {
            assert_eq!(pop(&mut ring), !expected.is_empty());
            let value = RUN.with_borrow_mut(Vec::pop);
            assert_eq!(value, expected.pop_front());
        }
    }
    while pop(&mut ring) {
        assert_eq!(RUN.with_borrow_mut(Vec::pop), expected.pop_front());
    }
    assert!(expected.is_empty() && ring.is_empty());
}

#[test]
fn a_flood_leaves_no_memory_behind() {
    let mut ring = RunQueue::new();
    (0..10_000).for_each(|value| push(&mut ring, value));
    assert!(ring.entries.len() >= 10_000);
    while pop(&mut ring) {}
    ring.shrink();
    assert!(ring.entries.len() <= RunQueue::KEPT);
    push(&mut ring, 3);
    assert!(pop(&mut ring));
}

#[repr(align(16))]
struct Half;
#[repr(align(32))]
struct Whole;

#[test]
fn what_lies_in_an_entry_is_no_larger_than_its_place_and_no_more_aligned() {
    assert_eq!(size_of::<RingEntry>(), align_of::<RingEntry>(), "an entry is a line");
    assert!(RingEntry::fits::<[u64; 6]>() && RingEntry::fits::<Half>() && RingEntry::fits::<()>());
    assert!(!RingEntry::fits::<[u64; 7]>() && !RingEntry::fits::<Whole>());
}

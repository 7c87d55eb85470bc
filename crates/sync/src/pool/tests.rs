//! Tests of the pool through its public functions: layouts, flows between threads, memory returned.
//!
//! The pool belongs to the process and the test harness runs tests in parallel, so a test that
//! looks at the figures takes [`alone`] first; all tests here do, for their own figures to be
//! exact.

use std::alloc::Layout;
use std::collections::HashSet;
use std::ptr::NonNull;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::*;

const POOLED: bool = cfg!(not(any(miri, coact_no_pool)));
const fn scaled(n: usize) -> usize {
    if cfg!(miri) { n / 200 } else { n }
}

/// One test at a time, and none leaves anything in the magazines of its thread.
struct Alone(#[expect(dead_code, reason = "held, not read")] MutexGuard<'static, ()>);

fn alone() -> Alone {
    static ALONE: Mutex<()> = Mutex::new(());
    Alone(ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Drop for Alone {
    fn drop(&mut self) {
        flush_thread();
    }
}

/// A block on its way to another thread, filled with a mark that detects foreign writes.
struct FreeBlock {
    block: NonNull<u8>,
    layout: Layout,
    mark: u8,
}

// SAFETY: a block owns its block.
unsafe impl Send for FreeBlock {}

impl FreeBlock {
    fn new(size: usize, align: usize, mark: u8) -> Self {
        let layout = Layout::from_size_align(size, align).unwrap();
        let block = alloc(layout);
        assert_eq!(block.addr().get() % align, 0, "{layout:?} is not aligned");
        // SAFETY: the block has `size` bytes and this test owns it.
        unsafe { block.write_bytes(mark, size) };
        Self { block, layout, mark }
    }

    fn address(&self) -> usize {
        self.block.addr().get()
    }

    fn check(&self) {
        // SAFETY: `new` wrote `size` bytes, and the block still owns the block.
        let bytes = unsafe {
            std::slice::from_raw_parts(self.block.as_ptr().cast_const(), self.layout.size())
        };
        assert!(
            bytes.iter().all(|&byte| byte == self.mark),
            "a block in use was written to by another owner"
        );
    }
}

impl Drop for FreeBlock {
    fn drop(&mut self) {
        self.check();
        // SAFETY: it came from `alloc` with this layout, and this is the end of its only owner.
        unsafe { dealloc(self.block, self.layout) };
    }
}

/// A cheap sequence of numbers that look random.
fn sequence(mut state: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some((state >> 11) as usize)
    })
}

#[test]
fn every_layout_is_served_aligned_and_without_overlap() {
    let _alone = alone();
    let mut blocks = Vec::new();
    for round in 0..3 {
        for size in (0..=300).step_by(if cfg!(miri) { 37 } else { 1 }) {
            for align in [1, 2, 4, 8, 16, 32, 64, 4096] {
                blocks.push(FreeBlock::new(size, align, (size + align + round) as u8));
            }
        }
    }
    let nonempty = blocks.iter().filter(|block| block.layout.size() > 0);
    let places: HashSet<_> = nonempty.clone().map(FreeBlock::address).collect();
    assert_eq!(places.len(), nonempty.count());
    blocks.iter().for_each(FreeBlock::check);
}

#[test]
fn a_freed_block_is_the_next_one_taken() {
    let _alone = alone();
    let first = FreeBlock::new(48, 8, 1);
    let place = first.address();
    drop(first);
    let second = FreeBlock::new(41, 1, 2);
    assert!(!POOLED || second.address() == place);
}

#[test]
fn stats_count_blocks_in_use() {
    let _alone = alone();
    let before = stats();
    let small: Vec<_> = (0..1000).map(|i| FreeBlock::new(64, 8, i as u8)).collect();
    let large: Vec<_> = (0..10).map(|i| FreeBlock::new(1000, 8, i)).collect();
    let during = stats();
    assert_eq!(during.outstanding_blocks, before.outstanding_blocks + 1010);
    assert_eq!(during.outstanding_bytes, before.outstanding_bytes + 64_000 + 10_000);
    assert!(during.passed_on_blocks >= before.passed_on_blocks + 10);
    assert!(!POOLED || during.reserved_bytes >= 64_000);
    thread::spawn(move || drop((small, large))).join().unwrap();
    let after = stats();
    assert_eq!(after.outstanding_blocks, before.outstanding_blocks);
    assert_eq!(after.outstanding_bytes, before.outstanding_bytes);
    assert_eq!(after.passed_on_blocks, before.passed_on_blocks);
}

#[test]
fn a_one_way_flow_needs_no_more_than_what_is_on_the_way() {
    let _alone = alone();
    const ON_THE_WAY: usize = 1000;
    let before = stats();
    let (send, receive) = sync_channel::<FreeBlock>(ON_THE_WAY);
    let consumer = thread::spawn(move || receive.into_iter().map(drop).count());
    let producer = thread::spawn(move || {
        for i in 0..scaled(300_000) {
            send.send(FreeBlock::new(136, 8, i as u8)).unwrap();
        }
    });
    producer.join().unwrap();
    assert_eq!(consumer.join().unwrap(), scaled(300_000));
    let after = stats();
    assert_eq!(after.outstanding_blocks, before.outstanding_blocks);
    // What is on the way, two magazines a thread, a batch in each hand, and a slab begun.
    let most = (ON_THE_WAY + 6 * 64) * 136 + 2 * 65_536;
    let grown = after.reserved_bytes - before.reserved_bytes;
    assert!(grown <= most, "{grown} bytes for at most {most}");
}

#[test]
fn threads_that_trade_blocks_of_all_sizes_lose_none() {
    let _alone = alone();
    const THREADS: usize = 4;
    let before = stats();
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..THREADS).map(|_| sync_channel::<FreeBlock>(500)).unzip();
    let threads: Vec<_> = receivers
        .into_iter()
        .enumerate()
        .map(|(me, receive)| {
            let senders = senders.clone();
            thread::spawn(move || {
                let mut kept = Vec::new();
                let mut numbers = sequence(me as u64 + 1);
                for i in 0..scaled(100_000) {
                    let [size, pick] = [numbers.next().unwrap(), numbers.next().unwrap()];
                    let block = FreeBlock::new(size % 280, 1 << (size % 6), i as u8);
                    // A full channel keeps the block here: waiting could be for each other.
                    if let Err(refused) = senders[pick % THREADS].try_send(block) {
                        kept.push(refused);
                    }
                    kept.truncate(pick % 200);
                    receive.try_iter().for_each(drop);
                    if i % 4096 == 0 {
                        trim();
                    }
                    if i % 1000 == 0 {
                        trim_surplus();
                    }
                }
                receive
            })
        })
        .collect();
    drop(senders);
    // Parcels that are still in a channel are freed here, on a thread that made none of them.
    let receivers: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    drop(receivers);
    assert_eq!(stats().outstanding_blocks, before.outstanding_blocks);
}

#[test]
fn trim_gives_back_what_is_free_and_only_that() {
    let _alone = alone();
    if !POOLED {
        return;
    }
    trim();
    let before = stats();
    let mut blocks: Vec<_> = (0..20_000).map(|i| FreeBlock::new(200, 8, i as u8)).collect();
    let full = stats().reserved_bytes;
    assert!(full >= before.reserved_bytes + 20_000 * 200);
    assert_eq!(trim(), 0, "nothing of this is free");

    // Every other block of a slab that stays: no slab is free.
    let mut odd = false;
    blocks.retain(|_| {
        odd = !odd;
        odd
    });
    assert_eq!(trim(), 0);
    blocks.iter().for_each(FreeBlock::check);

    blocks.truncate(1);
    let returned = trim();
    let after = stats();
    assert_eq!(after.reserved_bytes, full - returned);
    assert!(after.reserved_bytes <= before.reserved_bytes + 65_536);
    assert_eq!(after.outstanding_blocks, before.outstanding_blocks + 1);

    drop(blocks);
    trim();
    assert_eq!(stats(), before);
}

#[test]
fn a_kept_slab_is_whole_after_a_trim() {
    let _alone = alone();
    let keep = FreeBlock::new(96, 8, 1);
    for _ in 0..3 {
        let many: Vec<_> = (0..3000).map(|i| FreeBlock::new(96, 8, i as u8)).collect();
        let places: HashSet<_> = many.iter().map(FreeBlock::address).collect();
        assert_eq!(places.len(), 3000);
        many.iter().for_each(FreeBlock::check);
        drop(many);
        trim();
    }
    keep.check();
}

#[test]
fn surplus_is_what_was_not_needed_since_the_last_look() {
    let _alone = alone();
    if !POOLED {
        return;
    }
    let flood = || drop((0..20_000).map(|i| FreeBlock::new(120, 8, i as u8)).collect::<Vec<_>>());
    trim();
    flood();
    flush_thread();
    trim_surplus();
    flood();
    flush_thread();
    assert_eq!(trim_surplus(), 0, "the second flood needed it all");
    assert!(trim_surplus() >= 20_000 * 120, "it was not needed any more");
    assert_eq!(trim_surplus(), 0);
}

#[test]
fn a_depot_that_grows_without_bound_is_trimmed_by_who_fills_it() {
    let _alone = alone();
    if !POOLED {
        return;
    }
    trim();
    let before = stats();
    let blocks = 4 * 32 * 1024 * 1024 / 256;
    drop((0..blocks).map(|_| FreeBlock::new(256, 8, 0)).collect::<Vec<_>>());
    let kept = stats().reserved_bytes - before.reserved_bytes;
    assert!(kept <= blocks * 256 / 2, "{kept} bytes kept");
    trim();
    assert_eq!(stats(), before);
}

#[test]
fn a_thread_that_ends_leaves_its_blocks_to_others() {
    let _alone = alone();
    let before = stats();
    let places = thread::spawn(|| {
        let blocks: Vec<_> = (0..30).map(|i| FreeBlock::new(72, 8, i)).collect();
        blocks.iter().map(FreeBlock::address).collect::<HashSet<_>>()
    })
    .join()
    .unwrap();
    assert_eq!(stats().outstanding_blocks, before.outstanding_blocks);
    let again: Vec<_> = (0..400).map(|i| FreeBlock::new(72, 8, i as u8)).collect();
    let met = again.iter().filter(|block| places.contains(&block.address()));
    assert!(!POOLED || met.count() == 30);
}

#[test]
fn a_thread_that_only_frees_hands_over_without_ending() {
    let _alone = alone();
    let before = stats();
    let blocks: Vec<_> = (0..100).map(|i| FreeBlock::new(72, 8, i)).collect();
    let (freed, is_freed) = sync_channel(0);
    let (go, may_end) = sync_channel::<()>(0);
    let thread = thread::spawn(move || {
        drop(blocks);
        flush_thread();
        freed.send(()).unwrap();
        may_end.recv().unwrap();
    });
    is_freed.recv().unwrap();
    assert_eq!(stats().outstanding_blocks, before.outstanding_blocks);
    go.send(()).unwrap();
    thread.join().unwrap();
}

/// Thread-local destructors run in the reverse order of their registration here, so `Late` (made
/// first) uses the pool after the pool's own flush.
#[test]
fn the_pool_may_be_used_after_the_last_flush_of_a_thread() {
    struct Late(Vec<FreeBlock>);
    impl Drop for Late {
        fn drop(&mut self) {
            self.0.clear();
            for i in 0..500 {
                self.0.push(FreeBlock::new(72, 8, i as u8));
            }
            self.0.truncate(100);
            self.0.push(FreeBlock::new(5000, 8, 3));
            self.0.clear();
            flush_thread();
            drop(FreeBlock::new(72, 8, 9));
        }
    }
    thread_local!(static LATE: std::cell::RefCell<Late> = const {
        std::cell::RefCell::new(Late(Vec::new()))
    });
    let _alone = alone();
    let before = stats();
    for first_the_pool in [false, true] {
        thread::spawn(move || {
            if first_the_pool {
                drop(FreeBlock::new(72, 8, 0));
            }
            LATE.with_borrow_mut(|late| late.0.push(FreeBlock::new(72, 8, 1)));
        })
        .join()
        .unwrap();
    }
    assert_eq!(stats().outstanding_blocks, before.outstanding_blocks);
}

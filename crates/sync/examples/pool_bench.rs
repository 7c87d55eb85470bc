//! Compares the cost of the pool with that of the program's allocator (here the system's).
//!
//! `cargo run --release -p coact-sync --example pool_bench`
//!
//! A disturbance of the machine only ever adds time, so each figure is the best of several rounds;
//! the spread shows how far to trust it. The first line calibrates: read everything as a multiple
//! of an uncontended atomic addition.

use std::alloc::{Layout, alloc, dealloc};
use std::hint::black_box;
use std::ptr::{self, NonNull};
use std::thread;
use std::time::Instant;

use coact_sync::shim::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};
use coact_sync::{CachePadded, asym, backoff, pool};

const ROUNDS: usize = 9;
const LAYOUT: Layout = Layout::new::<[u64; 8]>();

/// One of the two allocators.
trait Source {
    const NAME: &str;
    fn take() -> NonNull<u8>;
    /// # Safety
    /// The block came from `take` and is not used any more.
    unsafe fn give(block: NonNull<u8>);
}

struct Pool;
struct System;

impl Source for Pool {
    const NAME: &str = "pool";
    #[inline(always)]
    fn take() -> NonNull<u8> {
        pool::alloc(LAYOUT)
    }
    #[inline(always)]
    unsafe fn give(block: NonNull<u8>) {
        // SAFETY: `block` came from `take` and is given back once, as `give` requires.
        unsafe { pool::dealloc(block, LAYOUT) }
    }
}

impl Source for System {
    const NAME: &str = "system";
    #[inline(always)]
    fn take() -> NonNull<u8> {
        // SAFETY: the layout is not empty.
        NonNull::new(unsafe { alloc(LAYOUT) }).expect("out of memory")
    }
    #[inline(always)]
    unsafe fn give(block: NonNull<u8>) {
        // SAFETY: `block` came from `take` and is given back once, as `give` requires.
        unsafe { dealloc(block.as_ptr(), LAYOUT) }
    }
}

/// Prints the nanoseconds of one of `count` operations: the best round and the median.
fn measure(name: &str, count: usize, mut round: impl FnMut()) {
    round();
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed().as_nanos() as f64 / count as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name:<44} {:8.2} ns  (median {:.2})", times[0], times[ROUNDS / 2]);
}

fn calibrate() {
    const COUNT: usize = 10_000_000;
    let number = AtomicUsize::new(0);
    measure("atomic addition", COUNT, || {
        for _ in 0..COUNT {
            black_box(&number).fetch_add(1, Ordering::Relaxed);
        }
    });
    measure("fence(SeqCst)", COUNT, || {
        for _ in 0..COUNT {
            fence(Ordering::SeqCst);
            black_box(&number);
        }
    });
    asym::init();
    measure("asym::light", COUNT, || {
        for _ in 0..COUNT {
            asym::light();
            black_box(&number);
        }
    });
    measure("asym::heavy, alone", COUNT / 100, || {
        (0..COUNT / 100).for_each(|_| asym::heavy());
    });
    let over = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| spin(&over));
        measure("asym::heavy, another core busy", COUNT / 1000, || {
            (0..COUNT / 1000).for_each(|_| asym::heavy());
        });
        over.store(1, Ordering::Relaxed);
    });
}

fn spin(over: &AtomicUsize) {
    while over.load(Ordering::Relaxed) == 0 {
        std::hint::spin_loop();
    }
}

/// One block at a time, by one thread.
fn pairs<S: Source>() {
    const COUNT: usize = 10_000_000;
    measure(&format!("{}: alloc and free", S::NAME), COUNT, || {
        for _ in 0..COUNT {
            let block = black_box(S::take());
            // SAFETY: just taken.
            unsafe { S::give(block) };
        }
    });
}

/// Many blocks, then back with all of them: what a flood does.
fn floods<S: Source>() {
    const COUNT: usize = 200_000;
    let mut blocks = Vec::with_capacity(COUNT);
    measure(&format!("{}: 200,000 alloc, then free", S::NAME), COUNT, || {
        for _ in 0..COUNT {
            let block = S::take();
            // SAFETY: the block is large enough for a number, and owned here.
            unsafe { block.cast::<usize>().write(1) };
            blocks.push(block);
        }
        for block in blocks.drain(..) {
            // SAFETY: taken above, once each.
            unsafe { S::give(block) };
        }
    });
}

/// A ring between one producer and one consumer.
struct Ring {
    slots: Vec<AtomicPtr<u8>>,
    written: CachePadded<AtomicUsize>,
    read: CachePadded<AtomicUsize>,
}

impl Ring {
    const SIZE: usize = 4096;
    const STEP: usize = 64;

    fn new() -> Self {
        Self {
            slots: (0..Self::SIZE).map(|_| AtomicPtr::new(ptr::null_mut())).collect(),
            written: CachePadded::new(AtomicUsize::new(0)),
            read: CachePadded::new(AtomicUsize::new(0)),
        }
    }

    /// Sends `count` pointers from `make` to `take` on another thread.
    fn run(&self, count: usize, make: impl Fn() -> *mut u8, take: impl Fn(*mut u8) + Send) {
        self.written.store(0, Ordering::Relaxed);
        self.read.store(0, Ordering::Relaxed);
        thread::scope(|scope| {
            scope.spawn(move || {
                for at in 0..count / Self::STEP {
                    // ORDERING: Acquire, partner is the Release store of `written`.
                    backoff::spin_until(|| self.written.load(Ordering::Acquire) > at);
                    for slot in self.step(at) {
                        take(slot.load(Ordering::Relaxed));
                    }
                    // ORDERING: Release, partner is the Acquire load of `read`.
                    self.read.store(at + 1, Ordering::Release);
                }
            });
            for at in 0..count / Self::STEP {
                // ORDERING: Acquire, partner is the Release store of `read`.
                backoff::spin_until(|| {
                    at - self.read.load(Ordering::Acquire) < Self::SIZE / Self::STEP
                });
                for slot in self.step(at) {
                    slot.store(make(), Ordering::Relaxed);
                }
                // ORDERING: Release, partner is the Acquire load of `written`.
                self.written.store(at + 1, Ordering::Release);
            }
        });
    }

    fn step(&self, at: usize) -> &[AtomicPtr<u8>] {
        let first = at * Self::STEP % Self::SIZE;
        &self.slots[first..first + Self::STEP]
    }
}

const FLOW: usize = 64 * 50_000;

/// The ring without blocks, for the next figures to be compared with.
fn bare_flow() {
    let ring = Ring::new();
    measure("one-way flow, no blocks", FLOW, || {
        ring.run(FLOW, ptr::null_mut, |block| {
            black_box(block);
        });
    });
}

/// One thread allocates and writes, another reads and frees.
fn flow<S: Source>() {
    let ring = Ring::new();
    measure(&format!("{}: one-way flow", S::NAME), FLOW, || {
        let make = || {
            let block = S::take();
            // SAFETY: the block is large enough for a number, and owned here.
            unsafe { block.cast::<usize>().write(1) };
            block.as_ptr()
        };
        let take = |block: *mut u8| {
            let block = NonNull::new(block).expect("the producer sent a block");
            // SAFETY: the producer took and wrote it, and sent it to us alone.
            unsafe {
                black_box(block.cast::<usize>().read());
                S::give(block);
            }
        };
        ring.run(FLOW, make, take);
    });
}

fn main() {
    calibrate();
    pairs::<Pool>();
    pairs::<System>();
    floods::<Pool>();
    floods::<System>();
    bare_flow();
    flow::<Pool>();
    flow::<System>();
    println!("{:?}", pool::stats());
    let start = Instant::now();
    let bytes = pool::trim();
    println!("trim gave {bytes} bytes back in {:?}", start.elapsed());
}

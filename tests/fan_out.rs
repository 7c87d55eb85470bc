//! A large message to many receivers is in memory once. Alone in its process: it counts all that is
//! allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use coact::Context;
use coact::actor::Shared;
use coact::prelude::*;
use coact_tests::{Faults, runtime};

/// The system's allocator, and how many bytes it was asked for.
struct Counting;

static ASKED_FOR: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED_FOR.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: by the caller's word.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: by the caller's word; the block is the system's.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const RECEIVERS: usize = 10_000;
const BYTES: usize = 4096;

#[derive(Clone)]
struct Page([u8; BYTES]);

impl Message for Page {
    type Reply = ();
}

struct Reader {
    sum: u64,
}

impl Actor for Reader {}

impl Handler<Shared<Page>> for Reader {
    fn handle(&mut self, page: Shared<Page>, _: &mut Context<Self>) {
        self.sum += u64::from(page.0[BYTES - 1]);
    }
}

#[test]
fn ten_thousand_receivers_share_one_copy() {
    let runtime = runtime(2, &Faults::new());
    let readers: Vec<_> =
        runtime.run(|| (0..RECEIVERS).map(|_| spawn(Reader { sum: 0 })).collect());
    let asked_for = runtime.run(|| {
        // None is handled before all are sent, so all are in memory at the same time.
        readers.iter().for_each(|reader| reader.suspend().unwrap());
        let page = Shared::new(Page([1; BYTES]));
        let before = ASKED_FOR.load(Ordering::Relaxed);
        for reader in &readers {
            reader.send(page.clone()).unwrap();
        }
        let after = ASKED_FOR.load(Ordering::Relaxed);
        readers.iter().for_each(|reader| reader.resume().unwrap());
        after - before
    });
    // What the messages themselves take: far less than a tenth of as many copies.
    assert!(asked_for < RECEIVERS * BYTES / 10, "{asked_for} bytes");
    let sums =
        runtime.run(|| call(read_all(&readers), |all| all.iter().map(|r| r.sum).sum()).wait());
    assert_eq!(sums, Ok(RECEIVERS as u64));
}

//! Waiting for a promise on a plain thread.

use std::cell::Cell;
use std::future::Future;
use std::hint;
use std::num::NonZero;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How often a thread looks for a value before it is parked, at the most: a few microseconds, about what it costs the two
/// threads to park one and to wake it.
const LOOKS: u32 = 128;

/// A thread whose looks were in vain looks for longer than a moment in one of this many waits.
const TRIES: u32 = 16;

thread_local! {
    static LOOKING: Looking = const { Looking { looks: Cell::new(LOOKS), waits: Cell::new(0) } };
}

/// How far a thread goes with looking.
struct Looking {
    /// How often it looks: less with each wait in which that was in vain.
    looks: Cell<u32>,
    waits: Cell<u32>,
}

impl Looking {
    /// How often to look this time.
    fn begin(&self) -> u32 {
        let waits = self.waits.get().wrapping_add(1);
        self.waits.set(waits);
        if waits.is_multiple_of(TRIES) { LOOKS } else { self.looks.get() }
    }

    fn end(&self, has_found: bool) {
        self.looks.set(if has_found { LOOKS } else { self.looks.get() / 2 });
    }
}

/// Looks for a value that may come any moment, without giving the processor away: for microseconds, and less where that
/// has been in vain. Where there is one processor only, nothing comes meanwhile.
pub(super) fn look_for<R>(mut take: impl FnMut() -> Option<R>) -> Option<R> {
    if processors() == 1 {
        return None;
    }
    LOOKING.with(|looking| {
        let found = (0..looking.begin()).find_map(|_| {
            hint::spin_loop();
            take()
        });
        looking.end(found.is_some());
        found
    })
}

/// How many processors there are, as far as that is known; asked for once.
fn processors() -> usize {
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    // ORDERING: Relaxed, both. Everybody finds the same figure.
    match KNOWN.load(Ordering::Relaxed) {
        0 => {
            let found = thread::available_parallelism().map_or(usize::MAX, NonZero::get);
            KNOWN.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    /// One waker serves all waits of a thread: a wake-up too many only costs one more look.
    static WAKER: Waker = Arc::new(Unpark(thread::current())).into();
}

fn waker() -> Waker {
    WAKER.try_with(Waker::clone).unwrap_or_else(|_| Arc::new(Unpark(thread::current())).into())
}

/// Blocks until the future is ready.
pub(crate) fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    let waker = waker();
    loop {
        if let Poll::Ready(output) = Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

/// Blocks until the future is ready, or the time is over.
pub(super) fn block_on_timeout<F: Future + Unpin>(
    future: &mut F,
    timeout: Duration,
) -> Option<F::Output> {
    let waker = waker();
    let until = Instant::now().checked_add(timeout);
    loop {
        if let Poll::Ready(output) = Pin::new(&mut *future).poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        match until {
            None => thread::park(),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return None;
                }
                thread::park_timeout(left);
            }
        }
    }
}

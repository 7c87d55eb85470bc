//! A million things that have nothing to do: what does each cost in time and memory, and what does
//! its end?

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use coact::prelude::Promise;
use coact_bench_workloads::Measured;

/// How many of them know their number; asked a few at a time, for the peak of the memory is theirs.
pub fn alive<T>(all: &[Option<T>], ask: impl Fn(&T) -> Promise<u64>) -> u64 {
    let mut numbers = 0..;
    all.chunks(1_000)
        .map(|some| {
            let asks: Vec<_> = some.iter().flatten().map(&ask).collect();
            let right = asks
                .into_iter()
                .zip(&mut numbers)
                .filter_map(|(ask, number)| (ask.wait() == Ok(number)).then_some(()));
            right.count() as u64
        })
        .sum()
}

/// A state that is counted when it is dropped.
pub struct Counted(pub Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        // ORDERING: Relaxed. Read when the runtime is idle, which orders all that has run before.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

pub fn all_dropped(since: Instant, count: u64, dropped: &AtomicU64) -> Measured {
    // ORDERING: Relaxed. The runtime was idle.
    Measured::new(since.elapsed(), count, dropped.load(Ordering::Relaxed))
}

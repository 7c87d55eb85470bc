//! Plain threads that are let go together.

use std::sync::Barrier;
use std::time::Instant;

/// Runs `body` on this many threads at once, each with its number, and waits for them; returns when
/// they were let go.
pub fn run(threads: u64, body: impl Fn(u64) + Sync) -> Instant {
    let barrier = Barrier::new(threads as usize + 1);
    std::thread::scope(|scope| {
        for number in 0..threads {
            let (barrier, body) = (&barrier, &body);
            scope.spawn(move || {
                barrier.wait();
                body(number);
            });
        }
        // Stamped before the last one comes to the barrier: after it, a thread might run before the
        // stamp.
        let start = Instant::now();
        barrier.wait();
        start
    })
}

//! Plain threads, with the chains shared out in advance: the most that the machine gives.

use std::time::Instant;

use coact_bench_workloads::Measured;

use super::common::Size;

/// So many threads.
pub fn run(threads: usize, size: Size) -> Measured {
    let start = Instant::now();
    let pieces = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads as u64)
            .map(|first| {
                scope.spawn(move || {
                    let chains = (first..size.chains).step_by(threads);
                    chains.map(|_| (0..size.pieces).map(|_| size.work()).sum::<u64>()).sum::<u64>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it works")).sum()
    });
    Measured::new(start.elapsed(), size.total(), pieces)
}

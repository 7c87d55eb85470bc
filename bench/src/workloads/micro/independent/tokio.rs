//! A task a chain.

use super::Size;
use crate::harness::{Finish, Measured, Setup, Stopwatch};
use crate::workloads::runtime;

/// One task starts all chains; each lets others run after a piece, as behaviours do.
pub fn run(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::tokio(setup);
    let finish = Finish::after(size.chains);
    let stopwatch = Stopwatch::default();
    let (started, finished) = (stopwatch.clone(), finish.clone());
    runtime.spawn(async move {
        started.start();
        for _ in 0..size.chains {
            let finish = finished.clone();
            tokio::spawn(async move {
                let mut done = 0;
                for _ in 0..size.pieces {
                    done += size.work();
                    tokio::task::yield_now().await;
                }
                finish.part(done);
            });
        }
    });
    let (elapsed, pieces) = stopwatch.until(&finish);
    Measured::new(elapsed, size.total(), pieces)
}

//! A task a chain.

use coact_bench_workloads::Measured;
use tokio::runtime::Runtime;

use super::common::Size;
use crate::runtime;

/// One task starts all chains; each lets others run after a piece, as behaviours do.
pub fn run(runtime: &Runtime, size: Size) -> Measured {
    runtime::run(runtime, size.total(), size.chains, move |finish| async move {
        for _ in 0..size.chains {
            let finish = finish.clone();
            tokio::spawn(async move {
                let mut done = 0;
                for _ in 0..size.pieces {
                    done += size.work();
                    tokio::task::yield_now().await;
                }
                finish.part(done);
            });
        }
    })
}

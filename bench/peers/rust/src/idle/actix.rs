//! An actor each, on one arbiter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use actix::prelude::*;
use coact_bench_workloads::Measured;
use coact_bench_workloads::memory::{Begun, places};

struct Number(u64, Arc<AtomicU64>);

impl Actor for Number {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        // ORDERING: Relaxed. Only counted.
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Which;

impl Handler<Which> for Number {
    type Result = u64;

    fn handle(&mut self, _: Which, _: &mut Context<Self>) -> u64 {
        self.0
    }
}

/// Starts them, and waits until all have started.
pub fn run(count: u64) -> Measured {
    System::new().block_on(async move {
        let mut all = places(count);
        let started = Arc::new(AtomicU64::new(0));
        let begun = Begun::now();
        for (number, place) in (0..).zip(&mut all) {
            *place = Some(Number(number, Arc::clone(&started)).start());
        }
        while started.load(Ordering::Relaxed) < count {
            tokio::task::yield_now().await;
        }
        let mut measured = begun.measured(count);
        for (number, actor) in (0..).zip(all.iter().flatten()) {
            measured.result += u64::from(actor.send(Which).await == Ok(number));
        }
        measured
    })
}

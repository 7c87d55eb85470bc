//! A task each, waiting on its mailbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_bench_workloads::Given;
use coact_bench_workloads::Measured;
use coact_bench_workloads::memory::{Begun, places};
use tokio::sync::{mpsc, oneshot};

use crate::runtime;

/// Makes them inside a task, and waits until each waits.
pub fn run(given: &Given, count: u64) -> anyhow::Result<Measured> {
    runtime::start(given.workers()?)?.block_on(async move { Ok(tokio::spawn(make(count)).await?) })
}

async fn make(count: u64) -> Measured {
    let mut mailboxes = places(count);
    let started = Arc::new(AtomicU64::new(0));
    let begun = Begun::now();
    for (number, place) in (0..).zip(&mut mailboxes) {
        *place = Some(actor(number, Arc::clone(&started)));
    }
    while started.load(Ordering::Relaxed) < count {
        tokio::task::yield_now().await;
    }
    let mut measured = begun.measured(count);
    for (number, mailbox) in (0..).zip(mailboxes.iter().flatten()) {
        let (reply, answer) = oneshot::channel();
        mailbox.send(reply).expect("it lives");
        measured.result += u64::from(answer.await == Ok(number));
    }
    measured
}

fn actor(number: u64, started: Arc<AtomicU64>) -> mpsc::UnboundedSender<oneshot::Sender<u64>> {
    let (mailbox, mut requests) = mpsc::unbounded_channel::<oneshot::Sender<u64>>();
    tokio::spawn(async move {
        // ORDERING: Relaxed. Only counted.
        started.fetch_add(1, Ordering::Relaxed);
        drop(started);
        while let Some(reply) = requests.recv().await {
            reply.send(number).expect("the asker waits");
        }
    });
    mailbox
}

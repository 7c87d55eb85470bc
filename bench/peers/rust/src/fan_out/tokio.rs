//! A task and an unbounded channel a receiver.

use std::sync::Arc;

use coact_bench_workloads::{Given, Measured};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::common::{Size, read};
use crate::runtime;

/// One task sends, and counts the answers.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.messages(), 1, move |finish| async move {
        let (got, mut answers) = unbounded_channel();
        let receiver = |_| {
            let (sender, pages) = unbounded_channel();
            tokio::spawn(receive(pages, got.clone()));
            sender
        };
        let receivers: Vec<UnboundedSender<Arc<[u8]>>> =
            (0..size.receivers).map(receiver).collect();
        let mut sum = 0;
        for _ in 0..size.rounds {
            let page = size.page();
            for receiver in &receivers {
                receiver.send(Arc::clone(&page)).expect("the receivers live");
            }
            for _ in 0..size.receivers {
                sum += answers.recv().await.expect("the receivers answer");
            }
        }
        finish.part(sum);
    }))
}

async fn receive(mut pages: UnboundedReceiver<Arc<[u8]>>, got: UnboundedSender<u64>) {
    while let Some(page) = pages.recv().await {
        got.send(read(&page)).expect("the sender waits");
    }
}

//! A task and an unbounded channel an actor.

use coact_bench_workloads::work::mixed::MixedSizes;
use coact_bench_workloads::work::primes::sum_of_factors;
use coact_bench_workloads::{Given, Measured};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::common::{Collected, Told};
use crate::runtime;

/// The first task is the collector.
pub fn run(given: &Given, size: MixedSizes) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.messages(), 1, move |finish| async move {
        let (collector, mut told) = unbounded_channel();
        for _ in 0..size.rings {
            tokio::spawn(master(size, collector.clone()));
        }
        let mut collected = Collected::new(size, finish);
        while let Some(told) = told.recv().await {
            collected.take(told);
        }
    }))
}

async fn master(size: MixedSizes, collector: UnboundedSender<Told>) {
    let (worker, numbers) = unbounded_channel();
    tokio::spawn(work(numbers, collector.clone()));
    let (last, mut tokens) = unbounded_channel();
    for _ in 0..size.rebuilds {
        worker.send(size.number).expect("the worker lives");
        let first = (0..size.links).fold(last.clone(), |next, _| {
            let (sender, tokens) = unbounded_channel();
            tokio::spawn(link(tokens, next));
            sender
        });
        first.send(size.token).expect("the ring has just been built");
        while let Some(value @ 1..) = tokens.recv().await {
            first.send(value - 1).expect("the ring lives");
        }
    }
    collector.send(Told::Over).expect("the collector waits");
}

async fn link(mut tokens: UnboundedReceiver<u64>, next: UnboundedSender<u64>) {
    while let Some(value) = tokens.recv().await {
        next.send(value).expect("the ring lives");
        if value == 0 {
            return;
        }
    }
}

async fn work(mut numbers: UnboundedReceiver<u64>, collector: UnboundedSender<Told>) {
    while let Some(number) = numbers.recv().await {
        let told = Told::Factors(sum_of_factors(number));
        collector.send(told).expect("the collector waits");
    }
}

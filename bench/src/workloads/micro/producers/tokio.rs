//! A message an add, into a task that owns the counter.

use tokio::sync::mpsc;

use super::{Counter, Size};
use crate::harness::{Finish, Measured, Setup, Stopwatch};
use crate::workloads::{runtime, threads};

/// Messages in the bounded channel.
const CAPACITY: usize = 1_024;

/// Plain threads and an unbounded channel.
pub fn from_threads(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::tokio(setup);
    let finish = Finish::after(1);
    let sender = counting_task(&runtime, size, &finish);
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            sender.send(1).expect("the task receives");
        }
    });
    let (elapsed, sum) = finish.wait(start);
    Measured::new(elapsed, size.total(), sum)
}

/// Plain threads and a bounded channel.
pub fn bounded(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::tokio(setup);
    let finish = Finish::after(1);
    let mut counter = Counter::new(size, &finish);
    let (sender, mut receiver) = mpsc::channel(CAPACITY);
    runtime.spawn(async move {
        while let Some(amount) = receiver.recv().await {
            counter.add(amount);
        }
    });
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            sender.blocking_send(1).expect("the task receives");
        }
    });
    let (elapsed, sum) = finish.wait(start);
    Measured::new(elapsed, size.total(), sum)
}

/// Tasks and an unbounded channel.
pub fn spawned(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::tokio(setup);
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let sender = counting_task(&runtime, size, &finish);
    let started = stopwatch.clone();
    runtime.spawn(async move {
        started.start();
        for _ in 0..size.producers {
            let sender = sender.clone();
            tokio::spawn(async move {
                for _ in 0..size.each {
                    sender.send(1).expect("the task receives");
                }
            });
        }
    });
    let (elapsed, sum) = stopwatch.until(&finish);
    Measured::new(elapsed, size.total(), sum)
}

fn counting_task(
    runtime: &tokio::runtime::Runtime,
    size: Size,
    finish: &Finish,
) -> mpsc::UnboundedSender<u64> {
    let mut counter = Counter::new(size, finish);
    let (sender, mut receiver) = mpsc::unbounded_channel();
    runtime.spawn(async move {
        while let Some(amount) = receiver.recv().await {
            counter.add(amount);
        }
    });
    sender
}

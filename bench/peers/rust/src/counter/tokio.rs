//! A message an add, into a task that owns the counter.

use coact_bench_workloads::threads;
use coact_bench_workloads::{Given, Measured};
use tokio::sync::{mpsc, oneshot};

use super::common::Size;
use crate::runtime;

/// Messages in the bounded channel.
const CAPACITY: usize = 1_024;

enum Message {
    Add(u64),
    Sum(oneshot::Sender<u64>),
}

#[derive(Default)]
struct Counter(u64);

impl Counter {
    fn handle(&mut self, message: Message) {
        match message {
            Message::Add(amount) => self.0 += amount,
            // The asker waits.
            Message::Sum(asker) => asker.send(self.0).expect("the asker waits"),
        }
    }
}

/// Plain threads and an unbounded channel.
pub fn unbounded(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    let (sender, receiver) = mpsc::unbounded_channel();
    runtime.spawn(count(receiver));
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            sender.send(Message::Add(1)).expect("the task receives");
        }
    });
    let (asker, answer) = oneshot::channel();
    sender.send(Message::Sum(asker)).expect("the task receives");
    let sum = answer.blocking_recv()?;
    Ok(Measured::new(start.elapsed(), size.total(), sum))
}

/// Plain threads and a bounded channel.
pub fn bounded(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    let (sender, mut receiver) = mpsc::channel(CAPACITY);
    runtime.spawn(async move {
        let mut counter = Counter::default();
        while let Some(message) = receiver.recv().await {
            counter.handle(message);
        }
    });
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            sender.blocking_send(Message::Add(1)).expect("the task receives");
        }
    });
    let (asker, answer) = oneshot::channel();
    sender.blocking_send(Message::Sum(asker)).expect("the task receives");
    let sum = answer.blocking_recv()?;
    Ok(Measured::new(start.elapsed(), size.total(), sum))
}

/// Tasks and an unbounded channel.
pub fn spawned(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.total(), 1, move |finish| async move {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(count(receiver));
        let producers: Vec<_> =
            (0..size.producers).map(|_| tokio::spawn(produce(size.each, sender.clone()))).collect();
        for producer in producers {
            producer.await.expect("it produces");
        }
        let (asker, answer) = oneshot::channel();
        sender.send(Message::Sum(asker)).expect("the task receives");
        finish.part(answer.await.expect("the task answers"));
    }))
}

async fn produce(adds: u64, sender: mpsc::UnboundedSender<Message>) {
    for _ in 0..adds {
        sender.send(Message::Add(1)).expect("the task receives");
    }
}

async fn count(mut messages: mpsc::UnboundedReceiver<Message>) {
    let mut counter = Counter::default();
    while let Some(message) = messages.recv().await {
        counter.handle(message);
    }
}

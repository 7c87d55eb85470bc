//! A message an add, into a thread that owns the counter.

use coact_bench_workloads::Measured;
use coact_bench_workloads::threads;
use crossbeam_channel::{Receiver, Sender};

use super::common::Size;

/// Messages in the bounded channel.
const CAPACITY: usize = 1_024;

enum Message {
    Add(u64),
    Sum(Sender<u64>),
}

/// Producers are never held up.
pub fn unbounded(size: Size) -> Measured {
    run(size, crossbeam_channel::unbounded())
}

/// Producers wait while the channel is full.
pub fn bounded(size: Size) -> Measured {
    run(size, crossbeam_channel::bounded(CAPACITY))
}

fn run(size: Size, (sender, receiver): (Sender<Message>, Receiver<Message>)) -> Measured {
    std::thread::spawn(move || count(&receiver));
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            sender.send(Message::Add(1)).expect("the thread receives");
        }
    });
    let (asker, answer) = crossbeam_channel::bounded(1);
    sender.send(Message::Sum(asker)).expect("the thread receives");
    let sum = answer.recv().expect("the thread answers");
    Measured::new(start.elapsed(), size.total(), sum)
}

fn count(messages: &Receiver<Message>) {
    let mut sum = 0;
    for message in messages {
        match message {
            Message::Add(amount) => sum += amount,
            Message::Sum(asker) => asker.send(sum).expect("the asker waits"),
        }
    }
}

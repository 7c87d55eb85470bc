//! A message an add, into a thread that owns the counter.

use crossbeam_channel::{Receiver, Sender};

use super::{Counter, Size};
use crate::harness::{Finish, Measured};
use crate::workloads::threads;

/// Messages in the bounded channel.
const CAPACITY: usize = 1_024;

/// Producers are never held up.
pub fn unbounded(size: Size) -> Measured {
    run(size, crossbeam_channel::unbounded())
}

/// Producers wait while the channel is full.
pub fn bounded(size: Size) -> Measured {
    run(size, crossbeam_channel::bounded(CAPACITY))
}

fn run(size: Size, (sender, receiver): (Sender<u64>, Receiver<u64>)) -> Measured {
    let finish = Finish::after(1);
    let mut counter = Counter::new(size, &finish);
    let counting = std::thread::spawn(move || {
        for amount in receiver {
            counter.add(amount);
        }
    });
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            sender.send(1).expect("the thread receives");
        }
    });
    drop(sender);
    counting.join().expect("the thread counts");
    let (elapsed, sum) = finish.wait(start);
    Measured::new(elapsed, size.total(), sum)
}

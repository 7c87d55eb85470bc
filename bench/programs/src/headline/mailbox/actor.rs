//! The receiver counts.

use coact::prelude::*;

use super::{SENDERS, all_messages};
use crate::runtime;
use coact_bench_workloads::threads;
use coact_bench_workloads::{Finish, Measured, Setup};

#[derive(Actor)]
struct Receiver {
    seen: u64,
    awaited: u64,
    done: Finish,
}

#[handlers]
impl Receiver {
    #[message]
    fn tick(&mut self) {
        self.seen += 1;
        if self.seen == self.awaited {
            self.done.part(self.seen);
        }
    }
}

/// The senders never wait.
pub fn run(setup: &Setup, messages: u64) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let (done, awaited) = (Finish::after(1), all_messages(setup));
    let receiver = spawn(Receiver { seen: 0, awaited, done: done.clone() });
    let start = threads::run(SENDERS, |_| {
        for _ in 0..messages {
            receiver.send(Tick).expect("the receiver lives");
        }
    });
    let (elapsed, seen) = done.wait(start);
    Measured::new(elapsed, awaited, seen)
}

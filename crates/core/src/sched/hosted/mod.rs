//! Workers on the threads of an executor: each is a future that is polled while there is something to do. See
//! README.md.
//!
//! A worker that has nothing to do, or has had its turn ([`turn`]), is left in its *slot* ([`worker_slot`]), and the thread goes back
//! to the executor. What the executor leaves waiting is found by a thread that looks ([`monitor`]), and run by others
//! ([`fallback`]).

mod fallback;
mod monitor;
mod turn;
mod worker_slot;

use crate::current;
use std::task::{Context, Poll, Waker};

use coact_sync::CachePadded;
use parking::{Parker, Unparker};

use self::fallback::FallbackThreads;
use self::monitor::MonitorSleep;
pub(super) use self::turn::THROUGHPUT;
use self::turn::Turn;
use self::worker_slot::{Call, Next, Polled, WorkerSlot};
use super::shared::{Phase, Shared};
use super::worker::Worker;
use crate::current::Nested;
use crate::panic::drop_quietly;

/// The workers of a runtime that an executor hosts, as all threads see them.
pub(crate) struct Hosted {
    slots: Box<[CachePadded<WorkerSlot<ParkedWorker>>]>,
    sleep: CachePadded<MonitorSleep>,
    monitor: Unparker,
    fallbacks: FallbackThreads,
}

/// A worker that no thread runs.
struct ParkedWorker {
    worker: Box<Worker>,
    /// Whether it is among the sleepers, or was called from there.
    asleep: bool,
}

// SAFETY: what is in a worker may go from thread to thread but for the tasks of its `stolen`, which are raw pointers. That
// is empty while no method of the worker runs; and tasks may be run by any thread.
unsafe impl Send for ParkedWorker {}

impl Hosted {
    /// The slots of so many workers, and the parker of the monitor.
    pub(super) fn new(workers: usize) -> (Self, Parker) {
        let (parker, monitor) = parking::pair();
        let slots = (0..workers).map(|_| CachePadded::new(WorkerSlot::new())).collect();
        let sleep = CachePadded::new(MonitorSleep::new());
        (Self { slots, sleep, monitor, fallbacks: FallbackThreads::default() }, parker)
    }

    /// Seats a worker for the first time.
    pub(crate) fn park_in_slot(&self, index: usize, worker: Worker) {
        worker.rest();
        self.put(index, ParkedWorker { worker: Box::new(worker), asleep: true }, Next::Asleep);
    }

    /// Has some thread run a worker that was taken off the list of sleepers.
    pub(super) fn call(&self, index: usize) {
        self.wake(self.slots[index].call());
    }

    /// The runtime has stopped: the monitor ends the workers. (Wakers are the user's, and may not come back: whoever stops
    /// the runtime calls none.)
    pub(super) fn stop(&self) {
        self.monitor.unpark();
    }

    fn put(&self, index: usize, parked: ParkedWorker, next: Next) {
        self.wake(self.slots[index].put(parked, next));
    }

    /// Has the executor poll a worker, or a fallback thread run it.
    fn wake(&self, call: Call) {
        if let Call::Wake { neglected, .. } = call {
            if self.sleep.is_to_end() || neglected && !self.fallbacks.wake_one() {
                self.monitor.unpark();
            }
            self.wake_executor(call);
        }
    }

    fn wake_executor(&self, call: Call) {
        if let Call::Wake { waker: Some(waker), .. } = call {
            wake(waker);
        }
    }

    /// Runs a worker for one turn on behalf of the executor, if it has something to do.
    ///
    /// Not in the middle of a body or of a waker, where some executors poll: a fallback thread does it then.
    pub(crate) fn poll(
        &self,
        shared: &'static Shared,
        index: usize,
        context: &Context<'_>,
    ) -> Poll<()> {
        let may_run = current::nested_bodies() == 0;
        let (polled, waker) = self.slots[index].take_polled(context.waker().clone(), may_run);
        drop_quietly(|| drop(waker));
        let has_ended = match polled {
            Polled::Over => true,
            Polled::Nothing => false,
            Polled::Due(parked) => self.run(shared, index, parked, Self::wake),
        };
        if has_ended { Poll::Ready(()) } else { Poll::Pending }
    }

    /// The executor has dropped a worker's future.
    pub(crate) fn desert(&self, index: usize) {
        let waker = self.slots[index].desert();
        drop_quietly(|| drop(waker));
        self.monitor.unpark();
    }

    /// Runs a worker for one turn, or to its end if the runtime has stopped, and returns whether it has come to that. If it is
    /// due after the turn, `wake` is called.
    fn run(
        &self,
        shared: &'static Shared,
        index: usize,
        mut parked: ParkedWorker,
        wake_up: fn(&Self, Call),
    ) -> bool {
        loop {
            let next = match parked.worker.take_turn(parked.asleep) {
                Turn::Over => Next::Due,
                Turn::Asleep => Next::Asleep,
                Turn::Ended => {
                    self.end(index, parked).into_iter().for_each(wake);
                    return true;
                }
            };
            parked.asleep = next == Next::Asleep;
            wake_up(self, self.slots[index].put(parked, next));
            // The monitor ends those that it finds in their slots. It has seen the phase before it looked into this one,
            // under the lock: if it has found this worker running, so does this thread see it now.
            if shared.phase() != Phase::Stopped {
                return false;
            }
            match self.slots[index].take_vacant() {
                Some(vacant) => parked = vacant,
                None => return false,
            }
        }
    }

    /// The end of a worker. Returns the waker of its future.
    fn end(&self, index: usize, parked: ParkedWorker) -> Option<Waker> {
        let worker = parked.worker;
        worker.leave_queue();
        let waker = self.slots[index].end();
        worker.shared.count_worker_out(index);
        waker
    }
}

/// Has an executor poll a future. Its wakers are foreign code, which may do anything: what would block is refused there, and
/// a panic is reported.
fn wake(waker: Waker) {
    let _nested = Nested::enter();
    drop_quietly(|| waker.wake());
}

/// The same for the futures of workers that have ended.
pub(crate) fn wake_all(wakers: Vec<Waker>) {
    wakers.into_iter().for_each(wake);
}

#[cfg(all(test, loom))]
mod loom;

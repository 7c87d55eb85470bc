//! Workers on the threads of an executor: each is a future that is polled while there is something to do. See
//! README.md.
//!
//! A worker that has nothing to do, or has had its turn ([`turn`]), is left in its *seat* ([`seat`]), and the thread goes back
//! to the executor. What the executor leaves waiting is found by a thread that looks ([`lookout`]), and run by others
//! ([`fallback`]).

mod fallback;
mod lookout;
mod seat;
mod turn;

use crate::current;
use std::task::{Context, Poll, Waker};

use coact_sync::CachePadded;
use parking::{Parker, Unparker};

use self::fallback::Crew;
use self::lookout::Nap;
use self::seat::{Call, Next, Polled, Seat};
pub(super) use self::turn::THROUGHPUT;
use self::turn::Turn;
use super::shared::{Phase, Shared};
use super::worker::Worker;
use crate::current::Nested;
use crate::panic::drop_quietly;

/// The workers of a runtime that an executor hosts, as all threads see them.
pub(crate) struct Hosted {
    seats: Box<[CachePadded<Seat<Resting>>]>,
    nap: CachePadded<Nap>,
    lookout: Unparker,
    crew: Crew,
}

/// A worker that no thread runs.
struct Resting {
    worker: Box<Worker>,
    /// Whether it is among the sleepers, or was called from there.
    asleep: bool,
}

// SAFETY: what is in a worker may go from thread to thread but for the tasks of its `loot`, which are raw pointers. That
// is empty while no method of the worker runs; and tasks may be run by any thread.
unsafe impl Send for Resting {}

impl Hosted {
    /// The seats of so many workers, and the parker of the lookout.
    pub(super) fn new(workers: usize) -> (Self, Parker) {
        let (parker, lookout) = parking::pair();
        let seats = (0..workers).map(|_| CachePadded::new(Seat::new())).collect();
        let nap = CachePadded::new(Nap::new());
        (Self { seats, nap, lookout, crew: Crew::default() }, parker)
    }

    /// Seats a worker for the first time.
    pub(crate) fn seat(&self, index: usize, worker: Worker) {
        worker.rest();
        self.put(index, Resting { worker: Box::new(worker), asleep: true }, Next::Asleep);
    }

    /// Has some thread run a worker that was taken off the list of sleepers.
    pub(super) fn call(&self, index: usize) {
        self.wake(self.seats[index].call());
    }

    /// The runtime has stopped: the lookout ends the workers. (Wakers are the user's, and may not come back: whoever stops
    /// the runtime calls none.)
    pub(super) fn stop(&self) {
        self.lookout.unpark();
    }

    fn put(&self, index: usize, resting: Resting, next: Next) {
        self.wake(self.seats[index].put(resting, next));
    }

    /// Has the executor poll a worker, or a fallback thread run it.
    fn wake(&self, call: Call) {
        if let Call::Wake { neglected, .. } = call {
            if self.nap.is_to_end() || neglected && !self.crew.wake_one() {
                self.lookout.unpark();
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
        let (polled, waker) = self.seats[index].take_polled(context.waker().clone(), may_run);
        drop_quietly(|| drop(waker));
        let has_ended = match polled {
            Polled::Over => true,
            Polled::Nothing => false,
            Polled::Due(resting) => self.run(shared, index, resting, Self::wake),
        };
        if has_ended { Poll::Ready(()) } else { Poll::Pending }
    }

    /// The executor has dropped a worker's future.
    pub(crate) fn desert(&self, index: usize) {
        let waker = self.seats[index].desert();
        drop_quietly(|| drop(waker));
        self.lookout.unpark();
    }

    /// Runs a worker for one turn, or to its end if the runtime has stopped, and returns whether it has come to that. If it is
    /// due after the turn, `wake` is called.
    fn run(
        &self,
        shared: &'static Shared,
        index: usize,
        mut resting: Resting,
        wake_up: fn(&Self, Call),
    ) -> bool {
        loop {
            let next = match resting.worker.take_turn(resting.asleep) {
                Turn::Over => Next::Due,
                Turn::Asleep => Next::Asleep,
                Turn::Ended => {
                    self.end(index, resting).into_iter().for_each(wake);
                    return true;
                }
            };
            resting.asleep = next == Next::Asleep;
            wake_up(self, self.seats[index].put(resting, next));
            // The lookout ends those that it finds in their seats. It has seen the phase before it looked into this one,
            // under the lock: if it has found this worker running, so does this thread see it now.
            if shared.phase() != Phase::Stopped {
                return false;
            }
            match self.seats[index].take_vacant() {
                Some(vacant) => resting = vacant,
                None => return false,
            }
        }
    }

    /// The end of a worker. Returns the waker of its future.
    fn end(&self, index: usize, resting: Resting) -> Option<Waker> {
        let worker = resting.worker;
        worker.leave_queue();
        let waker = self.seats[index].end();
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

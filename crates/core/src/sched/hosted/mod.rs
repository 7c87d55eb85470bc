//! Hosted workers: workers on the threads of an executor, each as a future that is polled while
//! there is something to do. See README.md.
//!
//! A worker that has nothing to do, or has had its turn ([`turn`]), is left in its *slot*
//! ([`worker_slot`]), and the thread returns to the executor. A monitoring thread ([`monitor`])
//! finds workers that the executor neglects, and other threads run them ([`fallback`]).

mod fallback;
mod fallback_threads;
pub(super) mod hosted_workers;
mod monitor;
mod monitor_sleep;
mod turn;
mod worker_slot;

use crate::current;
use std::task::{Context, Poll, Waker};

pub(crate) use self::hosted_workers::HostedWorkers;
use self::hosted_workers::{ParkedWorker, TurnResult, wake};
use self::turn::ExecutorWorker;
use self::worker_slot::{Notification, SlotPoll, TurnEnd};
use super::phase::RuntimePhase;
use super::runtime_shared::RuntimeShared;
use super::worker::Worker;
use crate::panic::drop_quietly;

impl HostedWorkers {
    /// Parks a worker for the first time.
    pub(crate) fn park_in_slot(&self, index: usize, worker: Worker) {
        worker.rest();
        self.put(
            index,
            ParkedWorker { worker: Box::new(ExecutorWorker(worker)), asleep: true },
            TurnEnd::Asleep,
        );
    }

    /// Runs a worker for one turn on behalf of the executor, if it has something to do.
    ///
    /// Does nothing inside a body or a waker, where some executors poll: then a fallback thread
    /// does it.
    pub(crate) fn poll(
        &self,
        shared: &'static RuntimeShared,
        index: usize,
        context: &Context<'_>,
    ) -> Poll<()> {
        let may_run = current::nested_bodies() == 0;
        let (polled, waker) = self.slots[index].take_polled(context.waker().clone(), may_run);
        drop_quietly(|| drop(waker));
        let has_ended = match polled {
            SlotPoll::Over => true,
            SlotPoll::Nothing => false,
            SlotPoll::Due(parked) => self.run(shared, index, parked, Self::wake),
        };
        if has_ended { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Records that the executor has dropped a worker's future.
    pub(crate) fn note_future_dropped(&self, index: usize) {
        let waker = self.slots[index].note_future_dropped();
        drop_quietly(|| drop(waker));
        self.monitor.unpark();
    }

    /// Runs a worker for one turn, or to its end if the runtime has stopped, and returns whether it
    /// has ended. If it is due after the turn, calls `wake`.
    fn run(
        &self,
        shared: &'static RuntimeShared,
        index: usize,
        mut parked: ParkedWorker,
        wake_up: fn(&Self, Notification),
    ) -> bool {
        loop {
            let next = match parked.worker.take_turn(parked.asleep) {
                TurnResult::Over => TurnEnd::Due,
                TurnResult::Asleep => TurnEnd::Asleep,
                TurnResult::Ended => {
                    self.end(shared, index, &parked).into_iter().for_each(wake);
                    return true;
                }
            };
            parked.asleep = next == TurnEnd::Asleep;
            wake_up(self, self.slots[index].put(parked, next));
            // The monitor ends those that it finds in their slots. It has seen the phase before it
            // looked into this slot, under the lock: if it has found this worker running, this
            // thread now sees the phase as well.
            if shared.phase() != RuntimePhase::Stopped {
                return false;
            }
            match self.slots[index].take_vacant() {
                Some(vacant) => parked = vacant,
                None => return false,
            }
        }
    }

    /// Ends a worker. Returns the waker of its future.
    fn end(&self, shared: &RuntimeShared, index: usize, parked: &ParkedWorker) -> Option<Waker> {
        parked.worker.leave_queue();
        let waker = self.slots[index].end();
        shared.count_worker_out(index);
        waker
    }
}

/// Wakes the futures of workers that have ended.
pub(crate) fn wake_all(wakers: Vec<Waker>) {
    wakers.into_iter().for_each(wake);
}

#[cfg(all(test, loom))]
mod loom;

//! The hosted workers of a runtime, as all threads see them. Knows neither the runtime nor what a
//! worker does.

use std::task::Waker;

use coact_sync::CachePadded;
use parking::{Parker, Unparker};

use super::fallback_threads::FallbackThreads;
use super::monitor_sleep::MonitorSleep;
use super::worker_slot::{Notification, TurnEnd, WorkerSlot};
use crate::current::NestedBody;
use crate::panic::drop_quietly;

/// See the [module](self).
pub(crate) struct HostedWorkers {
    pub(super) slots: Box<[CachePadded<WorkerSlot<ParkedWorker>>]>,
    pub(super) sleep: CachePadded<MonitorSleep>,
    pub(super) monitor: Unparker,
    pub(super) fallbacks: FallbackThreads,
}

/// A worker that no thread is running.
pub(super) struct ParkedWorker {
    pub(super) worker: Box<dyn HostedWorker>,
    /// Whether it is among the sleepers, or was called from there.
    pub(super) asleep: bool,
}

/// A worker that can run for a turn on any thread.
pub(super) trait HostedWorker: Send {
    /// Runs tasks until it has had its share or there are none. It comes from the list of sleepers
    /// if it was `asleep`.
    fn take_turn(&self, asleep: bool) -> TurnResult;

    /// Takes what waits behind the `stuck` worker, or is in an inbox. Returns whether there was
    /// anything.
    fn fetch(&self, stuck: Option<usize>) -> bool;

    /// Ends the worker.
    fn leave_queue(&self);
}

/// The result of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TurnResult {
    /// There is more to do.
    Over,
    /// There was nothing more to do: the worker is among the sleepers.
    Asleep,
    /// The runtime has stopped.
    Ended,
}

impl HostedWorkers {
    /// Creates the slots of this many workers, and the parker of the monitor.
    pub(in crate::sched) fn new(workers: usize) -> (Self, Parker) {
        let (parker, monitor) = parking::pair();
        let slots = (0..workers).map(|_| CachePadded::new(WorkerSlot::new())).collect();
        let sleep = CachePadded::new(MonitorSleep::new());
        (Self { slots, sleep, monitor, fallbacks: FallbackThreads::default() }, parker)
    }

    /// Makes some thread run a worker that was taken off the list of sleepers.
    pub(in crate::sched) fn call(&self, index: usize) {
        self.wake(self.slots[index].call());
    }

    /// Announces that the runtime has stopped: the monitor ends the workers. (Wakers are user code,
    /// and may not return: the thread that stops the runtime calls none.)
    pub(in crate::sched) fn stop(&self) {
        self.monitor.unpark();
    }

    pub(super) fn put(&self, index: usize, parked: ParkedWorker, next: TurnEnd) {
        self.wake(self.slots[index].put(parked, next));
    }

    /// Makes the executor poll a worker, or a fallback thread run it.
    pub(super) fn wake(&self, notification: Notification) {
        if let Notification::Wake { neglected, .. } = notification {
            if self.sleep.is_to_end() || neglected && !self.fallbacks.wake_one() {
                self.monitor.unpark();
            }
            self.wake_executor(notification);
        }
    }

    pub(super) fn wake_executor(&self, notification: Notification) {
        if let Notification::Wake { waker: Some(waker), .. } = notification {
            wake(waker);
        }
    }
}

/// Makes an executor poll a future. Its wakers are foreign code, which may do anything: blocking
/// calls panic there, and a panic is reported.
pub(super) fn wake(waker: Waker) {
    let _nested = NestedBody::enter();
    drop_quietly(|| waker.wake());
}

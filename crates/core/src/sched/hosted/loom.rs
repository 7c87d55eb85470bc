//! Models of hosted workers: a worker that is called is run once, by a thread that may run it.

use std::task::Waker;

use coact_sync::shim::atomic::{AtomicBool, Ordering};
use coact_sync::shim::sync::Arc;
use loom::thread;

use super::monitor_sleep::MonitorSleep;
use super::worker_slot::{Notification, SlotPoll, TurnEnd, WorkerSlot};
use crate::sched::loom::{WakePermit, check};

/// One slot, and what wakes the monitor.
struct HostedSlot {
    slot: WorkerSlot<u8>,
    sleep: MonitorSleep,
    monitor: WakePermit,
}

impl HostedSlot {
    fn with_sleeper() -> Arc<Self> {
        let slot = WorkerSlot::new();
        assert!(matches!(slot.put(1, TurnEnd::Asleep), Notification::NotNeeded));
        Arc::new(Self { slot, sleep: MonitorSleep::new(), monitor: WakePermit::default() })
    }

    /// Like `HostedWorkers::call`, except for the executor.
    fn call(&self) -> bool {
        let woken = matches!(self.slot.call(), Notification::Wake { .. });
        if woken && self.sleep.is_to_end() {
            self.monitor.unpark();
        }
        woken
    }

    /// Like `HostedWorkers::poll`, up to the turn.
    fn poll(&self) -> Option<u8> {
        match self.slot.take_polled(Waker::noop().clone(), true).0 {
            SlotPoll::Due(worker) => Some(worker),
            SlotPoll::Nothing | SlotPoll::Over => None,
        }
    }

    /// Like `HostedWorkers::look_after`, until there is a worker for a fallback thread.
    fn look_after(&self) {
        while !self.slot.is_overdue() {
            if self.sleep.begin(|| self.slot.is_asleep()) {
                self.monitor.park();
            }
            self.sleep.end();
        }
    }
}

/// A worker is called while the monitor falls asleep, and the executor does nothing: a fallback
/// thread may run it.
///
/// Fails if the monitor checks the slot before it announces its sleep, and if the caller checks for
/// that before the worker is due.
#[test]
fn call_against_the_nap() {
    check(|| {
        let world = HostedSlot::with_sleeper();
        let monitor = thread::spawn({
            let world = world.clone();
            move || {
                world.look_after();
                world.slot.take_neglected()
            }
        });
        assert!(world.call());
        assert_eq!(monitor.join().unwrap(), Some(1));
    });
}

/// A worker falls asleep for the second time, and is called: whichever comes last, it is due.
///
/// Fails if `put` ignores that it was called.
#[test]
fn call_against_put() {
    check(|| {
        let world = HostedSlot::with_sleeper();
        assert!(world.call());
        let worker = world.poll().expect("it is due");
        let caller = thread::spawn({
            let world = world.clone();
            move || world.call()
        });
        let is_due = matches!(world.slot.put(worker, TurnEnd::Asleep), Notification::Wake { .. });
        let woken = caller.join().unwrap();
        assert!(is_due != woken, "it is put back due, or the caller has the executor woken");
        assert_eq!(world.poll(), Some(1));
    });
}

/// The executor polls a worker that was called, while a fallback thread looks for neglected ones:
/// one of them runs it, or it is left to the executor, which has not neglected it.
#[test]
fn poll_against_a_fallback() {
    check(|| {
        let world = HostedSlot::with_sleeper();
        assert!(world.call());
        assert!(!world.slot.is_overdue() && world.slot.is_overdue());
        let executor = thread::spawn({
            let world = world.clone();
            move || world.poll()
        });
        let taken = world.slot.take_neglected();
        assert_eq!(taken.is_some(), executor.join().unwrap().is_none());
    });
}

/// The runtime stops while a thread puts a worker back: the worker ends, on that thread or on the
/// monitor.
///
/// Fails if the thread checks the phase before it puts the worker back.
#[test]
fn stop_against_put() {
    check(|| {
        let world = HostedSlot::with_sleeper();
        let phase = Arc::new(AtomicBool::new(false));
        assert!(world.call());
        let worker = world.poll().expect("it is due");
        let monitor = thread::spawn({
            let (world, phase) = (world.clone(), phase.clone());
            move || {
                // Like `RuntimeShared::close`, followed by `HostedWorkers::look_after`.
                // ORDERING: Release and Acquire, as in `RuntimeShared::set_phase` and
                // `RuntimeShared::phase`.
                phase.store(true, Ordering::Release);
                world.slot.take_vacant()
            }
        });
        world.slot.put(worker, TurnEnd::Asleep);
        // Like `HostedWorkers::run`.
        // ORDERING: Acquire, as above.
        let has_stopped = phase.load(Ordering::Acquire);
        let here = has_stopped.then(|| world.slot.take_vacant()).flatten();
        assert_eq!(monitor.join().unwrap().or(here), Some(1));
    });
}

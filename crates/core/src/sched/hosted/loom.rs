//! Models of hosted workers: a worker that is called is run, once, by whom it may be.

use std::task::Waker;

use coact_sync::shim::atomic::{AtomicBool, Ordering};
use coact_sync::shim::sync::Arc;
use loom::thread;

use super::lookout::Nap;
use super::seat::{Call, Next, Polled, Seat};
use crate::sched::loom::{Permit, check};

/// One seat, and what wakes the lookout.
struct World {
    seat: Seat<u8>,
    nap: Nap,
    lookout: Permit,
}

impl World {
    fn with_sleeper() -> Arc<Self> {
        let seat = Seat::new();
        assert!(matches!(seat.put(1, Next::Asleep), Call::Heard));
        Arc::new(Self { seat, nap: Nap::new(), lookout: Permit::default() })
    }

    /// As `Hosted::call`, but for the executor.
    fn call(&self) -> bool {
        let woken = matches!(self.seat.call(), Call::Wake { .. });
        if woken && self.nap.is_to_end() {
            self.lookout.unpark();
        }
        woken
    }

    /// As `Hosted::poll`, up to the turn.
    fn poll(&self) -> Option<u8> {
        match self.seat.take_polled(Waker::noop().clone(), true).0 {
            Polled::Due(worker) => Some(worker),
            Polled::Nothing | Polled::Over => None,
        }
    }

    /// As `Hosted::look_after`, until there is a worker for a fallback thread.
    fn look_after(&self) {
        while !self.seat.is_overdue() {
            if self.nap.begin(|| self.seat.is_asleep()) {
                self.lookout.park();
            }
            self.nap.end();
        }
    }
}

/// A worker is called while the lookout falls asleep, and the executor does nothing: a fallback thread may run it.
///
/// Fails if the lookout looks at the seat before it says that it sleeps, and if the caller looks for it before the worker
/// is due.
#[test]
fn call_against_the_nap() {
    check(|| {
        let world = World::with_sleeper();
        let lookout = thread::spawn({
            let world = world.clone();
            move || {
                world.look_after();
                world.seat.take_neglected()
            }
        });
        assert!(world.call());
        assert_eq!(lookout.join().unwrap(), Some(1));
    });
}

/// A worker falls asleep for the second time, and is called: whichever comes last, it is due.
///
/// Fails if `put` forgets that it was called.
#[test]
fn call_against_put() {
    check(|| {
        let world = World::with_sleeper();
        assert!(world.call());
        let worker = world.poll().expect("it is due");
        let caller = thread::spawn({
            let world = world.clone();
            move || world.call()
        });
        let is_due = matches!(world.seat.put(worker, Next::Asleep), Call::Wake { .. });
        let woken = caller.join().unwrap();
        assert!(is_due != woken, "it is put back due, or the caller has the executor woken");
        assert_eq!(world.poll(), Some(1));
    });
}

/// The executor polls a worker that was called, and a fallback thread looks for what it leaves: one of them runs it, or it
/// is left to the executor, which has not neglected it.
#[test]
fn poll_against_a_fallback() {
    check(|| {
        let world = World::with_sleeper();
        assert!(world.call());
        assert!(!world.seat.is_overdue() && world.seat.is_overdue());
        let executor = thread::spawn({
            let world = world.clone();
            move || world.poll()
        });
        let taken = world.seat.take_neglected();
        assert_eq!(taken.is_some(), executor.join().unwrap().is_none());
    });
}

/// The runtime stops while a thread puts a worker back: the worker ends, with that thread or with the lookout.
///
/// Fails if the thread looks at the phase before it puts the worker back.
#[test]
fn stop_against_put() {
    check(|| {
        let world = World::with_sleeper();
        let phase = Arc::new(AtomicBool::new(false));
        assert!(world.call());
        let worker = world.poll().expect("it is due");
        let lookout = thread::spawn({
            let (world, phase) = (world.clone(), phase.clone());
            move || {
                // As `Shared::close`, and then `Hosted::look_after`.
                // ORDERING: Release and acquire, as in `Shared::set_phase` and `Shared::phase`.
                phase.store(true, Ordering::Release);
                world.seat.take_vacant()
            }
        });
        world.seat.put(worker, Next::Asleep);
        // As `Hosted::run`.
        // ORDERING: Acquire, as above.
        let has_stopped = phase.load(Ordering::Acquire);
        let here = has_stopped.then(|| world.seat.take_vacant()).flatten();
        assert_eq!(lookout.join().unwrap().or(here), Some(1));
    });
}

//! Panics everywhere else than in handlers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::supervise::{Supervisor, permanent, transient};
use coact_tests::{check_with_faults, fail, finally};

/// Where a child panics.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Made,
    Started,
    Restarted,
    Stopped,
    Dropped,
}

/// Panics in one place, this number of times.
struct Fragile {
    place: Place,
    left: Arc<AtomicU32>,
}

impl Fragile {
    fn trip(&self, here: Place) {
        let less = |left: u32| left.checked_sub(1);
        if self.place == here
            && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
        {
            fail("fragile");
        }
    }
}

impl Actor for Fragile {
    fn started(&mut self, _: &mut Context<Self>) {
        self.trip(Place::Started);
    }
    fn restarted(&mut self, _: &ExitReason, context: &mut Context<Self>) {
        self.trip(Place::Restarted);
        self.started(context);
    }
    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.trip(Place::Stopped);
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        self.trip(Place::Dropped);
    }
}

struct Hello;

impl Message for Hello {
    type Reply = ();
}

impl Handler<Hello> for Fragile {
    fn handle(&mut self, _: Hello, _: &mut Context<Self>) {}
}

fn fragile(place: Place, times: u32) -> impl FnMut() -> Fragile + Send + 'static {
    let left = Arc::new(AtomicU32::new(times));
    move || {
        let made = Fragile { place, left: Arc::clone(&left) };
        made.trip(Place::Made);
        made
    }
}

/// A transient child that panics this number of times in one place, and answers in the end.
fn family(place: Place, times: u32) -> (Supervisor, Addr<Fragile>) {
    let mut tree = Supervisor::one_for_one().intensity(10, Duration::from_secs(3600));
    let child = tree.child(transient(fragile(place, times)));
    let supervisor = tree.spawn();
    child.ask(Hello).wait().unwrap();
    (supervisor, child)
}

#[test]
fn panics_while_it_starts_count_as_failures() {
    for (place, times) in [(Place::Made, 2), (Place::Started, 1)] {
        check_with_faults(move |_| {
            let (supervisor, _) = family(place, times);
            assert_eq!(supervisor.counts().wait().unwrap().restarts, u64::from(times));
            finally(move || drop(supervisor));
        });
    }
}

#[test]
fn panics_in_the_last_hook_count_as_failures() {
    for place in [Place::Stopped, Place::Dropped] {
        check_with_faults(move |_| {
            let (supervisor, child) = family(place, 1);
            child.stop().unwrap();
            // A transient child comes back after failures only.
            while supervisor.counts().wait().unwrap().restarts == 0 {}
            child.ask(Hello).wait().unwrap();
            child.stop().unwrap();
            assert_eq!(child.ended().wait(), Ok(ExitReason::Shutdown));
            finally(move || drop(supervisor));
        });
    }
}

#[test]
fn whoever_never_starts_is_given_up() {
    for place in [Place::Made, Place::Started] {
        check_with_faults(move |faults| {
            let mut tree = Supervisor::one_for_one().intensity(3, Duration::from_secs(3600));
            let child = tree.child(permanent(fragile(place, u32::MAX)));
            let waiting = child.ask(Hello);
            let supervisor = tree.spawn();
            let reason = ExitReason::Panicked("fragile".into());
            let expected = ExitReason::TooManyRestarts(reason.clone().into());
            assert_eq!(supervisor.ended().wait(), Ok(expected));
            assert_eq!(waiting.wait(), Err(AskError::Stopped(reason)));
            let faults = faults.clone();
            finally(move || assert_eq!(faults.len(), 4, "once, and three more times"));
        });
    }
}

#[test]
fn whoever_never_restarts_is_given_up() {
    check_with_faults(|_| {
        let mut tree = Supervisor::one_for_one().intensity(3, Duration::from_secs(3600));
        let child = tree.child(permanent(fragile(Place::Restarted, u32::MAX)));
        let supervisor = tree.spawn();
        child.ask(Hello).wait().unwrap();
        child.kill().unwrap();
        let expected = ExitReason::TooManyRestarts(ExitReason::Panicked("fragile".into()).into());
        assert_eq!(supervisor.ended().wait(), Ok(expected));
    });
}

#[test]
fn a_panic_in_a_behaviour_fails_each_actor_and_each_supervisor_decides() {
    check_with_faults(|_| {
        let log = coact_tests::Log::new();
        let make = |name| super::Worker::make(name, &log);
        let mut patient = Supervisor::one_for_one();
        let a = patient.child(permanent(make("a")));
        let beside = patient.child(permanent(make("beside")));
        let mut strict = Supervisor::one_for_one().intensity(0, Duration::from_secs(5));
        let b = strict.child(permanent(make("b")));
        let (patient, strict) = (patient.spawn(), strict.spawn());
        let read = |worker: &Addr<super::Worker>| worker.clone();
        let (x, y, z) = (read(&a), read(&b), read(&beside));
        beside.ask(super::Ping).wait().unwrap();
        when((&x, &y, z.read()), |_| fail("boom"));
        let gave_up = ExitReason::TooManyRestarts(super::boom().into());
        assert_eq!(strict.ended().wait(), Ok(gave_up));
        assert_eq!(b.exit_reason(), Some(super::boom()));
        assert_eq!(a.ask(super::Ping).wait(), Ok(1));
        assert_eq!(beside.ask(super::Ping).wait(), Ok(2), "it was read only");
        assert_eq!(patient.counts().wait().unwrap().restarts, 1);
        finally(move || drop(patient));
    });
}

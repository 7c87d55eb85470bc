//! How a value arrives, and what becomes of the behaviour that waits for it.

use std::sync::mpsc::{Sender, channel};
use std::thread;

use super::{Continuation, resolver_spawning};
use crate::behaviour::when::{call, when};
use crate::cown::access_guards::Held;
use crate::cown::handle::Cown;
use crate::fault::Broken;
use crate::group::Group;
use crate::promise::Resolver;

type Log = Vec<Result<u32, Broken>>;

/// Logs the value, and reports whether it came in the behaviour that was created for it. 0 panics.
struct Note(Sender<bool>);

impl Note {
    fn note(log: &mut Log, value: Result<u32, Broken>) {
        assert_ne!(value, Ok(0), "no value");
        log.push(value);
    }
}

impl Continuation<u32> for Note {
    type State = Log;

    fn run(self, held: Held<'_, Log>, value: Result<u32, Broken>) {
        let _ = self.0.send(true);
        Note::note(held.into_parts().0, value);
    }

    fn spawn(self, cown: Cown<Log>, value: Result<u32, Broken>) {
        when(cown, move |mut log| Note::note(&mut log, value));
        // Only now: the test's own behaviour must come behind that.
        let _ = self.0.send(false);
    }
}

/// Passes a resolver to `give`; returns whether its value came in the behaviour created for it.
fn give(cown: &Cown<Log>, give: impl FnOnce(Resolver<u32>)) -> bool {
    let (came, way) = channel();
    give(resolver_spawning(cown.clone(), Note(came)));
    way.recv().expect("it comes on one of the two ways")
}

/// Passes a resolver to `work` on a worker.
fn on_a_worker(work: impl FnOnce(Resolver<u32>) + Send + 'static) -> impl FnOnce(Resolver<u32>) {
    move |resolver| when(&Cown::new(()), move |()| work(resolver))
}

#[test]
fn the_value_of_a_worker_comes_in_the_behaviour_that_was_made_for_it() {
    let cown = Cown::new(Log::new());
    assert!(give(&cown, on_a_worker(|resolver| resolver.resolve(7))));
    assert!(give(&cown, on_a_worker(drop)));
    let log = call(&cown, |log| log.clone()).wait();
    assert_eq!(log, Ok(vec![Ok(7), Err(Broken::Dropped)]));
}

#[test]
fn any_other_is_spawned() {
    let cown = Cown::new(Log::new());
    let elsewhere = |resolver: Resolver<u32>| {
        thread::spawn(|| resolver.resolve(1)).join().expect("it does not panic");
    };
    assert!(!give(&cown, elsewhere));
    assert_eq!(call(&cown, |log| log.clone()).wait(), Ok(vec![Ok(1)]));
    let member = Group::new().cown(Log::new());
    assert!(!give(&member, on_a_worker(|resolver| resolver.resolve(2))));
    assert_eq!(call(&member, |log| log.clone()).wait(), Ok(vec![Ok(2)]));
}

/// It runs behind what was spawned before the resolver was used, and before what is spawned later.
#[test]
fn it_takes_its_place_when_the_value_is_given() {
    let cown = Cown::new(Log::new());
    let (own, (came, way)) = (cown.clone(), channel());
    let resolver = resolver_spawning(cown.clone(), Note(came));
    let given = call(&Cown::new(()), move |()| {
        when(&own, |log| log.push(Ok(1)));
        resolver.resolve(2);
        when(&own, |log| log.push(Ok(3)));
    });
    assert_eq!(given.wait(), Ok(()));
    assert_eq!(way.recv(), Ok(true));
    assert_eq!(call(&cown, |log| log.clone()).wait(), Ok(vec![Ok(1), Ok(2), Ok(3)]));
}

/// It is unchecked, so poison does not keep it from running.
#[test]
fn a_panic_poisons_the_cown_and_lets_it_go() {
    let cown = Cown::new(Log::new());
    assert!(give(&cown, on_a_worker(|resolver| resolver.resolve(0))));
    assert!(give(&cown, on_a_worker(|resolver| resolver.resolve(1))));
    let log =
        call(cown.checked(), |log| log.map_err(|mut poisoned| poisoned.get_mut().clone()).cloned());
    assert_eq!(log.wait(), Ok(Err(vec![Ok(1)])));
}

#[test]
fn a_behaviour_that_waits_has_a_handle() {
    let cown = Cown::new(Log::new());
    let (came, way) = channel();
    let (resolver, weak) = (resolver_spawning(cown.clone(), Note(came)), cown.downgrade());
    drop(cown);
    assert!(weak.upgrade().is_some());
    when(&Cown::new(()), move |()| resolver.resolve(1));
    assert_eq!(way.recv(), Ok(true));
    while weak.upgrade().is_some() {
        thread::yield_now();
    }
}

//! Models of values that are put into the behaviours that wait for them.

use std::sync::{Arc, Mutex};

use loom::thread;

use super::{Continuation, resolver_spawning};
use crate::behaviour::when::when;
use crate::cown::access_guards::Held;
use crate::cown::handle::Cown;
use crate::fault::Broken;
use crate::promise::Resolver;
use crate::queue::header::Flags;
use crate::sched::loom::{Log, check, run_ready};

/// Logged for a value that does not come.
const DROPPED: u8 = 100;
/// Logged in place of a value by a behaviour that was spawned for it.
const SPAWNED: u8 = 101;

/// What an ended [`LogState`] leaves; not part of the model.
type LeftLog = Arc<Mutex<Option<Vec<u8>>>>;

/// A log that is left behind when the state is dropped.
struct LogState(Log, LeftLog);

impl Drop for LogState {
    fn drop(&mut self) {
        *self.1.lock().unwrap() = Some(self.0.read());
    }
}

/// Logs the value. Is dropped with it, once.
struct LoggedValue(Arc<()>);

impl LoggedValue {
    fn note(self, state: &mut LogState, value: Result<Log, Broken>) {
        match value {
            Ok(value) => value.read().into_iter().for_each(|who| state.0.push(who)),
            Err(Broken::Dropped) => state.0.push(DROPPED),
            Err(other) => panic!("{other:?}"),
        }
    }
}

impl Continuation<Log> for LoggedValue {
    type State = LogState;

    fn run(self, held: Held<'_, LogState>, value: Result<Log, Broken>) {
        // The handle is dropped here, while the cown is held.
        let (state, _own) = held.into_parts();
        self.note(state, value);
    }

    fn spawn(self, cown: Cown<LogState>, value: Result<Log, Broken>) {
        when(cown.checked(), move |mut state| {
            state.get_mut_anyway().0.push(SPAWNED);
            self.note(state.get_mut_anyway(), value);
        });
    }
}

/// The state, whether or not it is poisoned.
trait GetAnyway {
    fn get_mut_anyway(&mut self) -> &mut LogState;
}

impl GetAnyway for Result<&mut LogState, crate::cown::access_guards::Poisoned<'_, LogState>> {
    fn get_mut_anyway(&mut self) -> &mut LogState {
        match self {
            Ok(state) => state,
            Err(poisoned) => poisoned.get_mut(),
        }
    }
}

/// A value that lets loom check whether its writer and its reader are ordered.
fn value(who: u8) -> Log {
    let mut log = Log::default();
    log.push(who);
    log
}

/// Explores what happens to a resolver beside another thread with a handle of its cown; checks what
/// the state has logged in the end.
fn check_beside(
    give: fn(Resolver<Log>),
    beside: fn(Cown<LogState>),
    expect: impl Fn(&[u8]) -> bool + Send + Sync + 'static,
) {
    check(move || {
        let (left, note) = (LeftLog::default(), Arc::new(()));
        let cown = Cown::new(LogState(Log::default(), Arc::clone(&left)));
        let resolver = resolver_spawning(cown.clone(), LoggedValue(Arc::clone(&note)));
        let other = thread::spawn(move || {
            give(resolver);
            run_ready();
        });
        beside(cown);
        run_ready();
        other.join().unwrap();
        let log = left.lock().unwrap().take().expect("the state has ended");
        assert!(expect(&log), "{log:?}");
        assert_eq!(Arc::strong_count(&note), 1, "the continuation was leaked");
    });
}

fn push(cown: &Cown<LogState>, who: u8) {
    when(cown, move |state| state.0.push(who));
}

/// The value comes while others use the cown, which nothing but the behaviour keeps alive in the
/// end.
///
/// Fails if the behaviour has no handle of the cown, and with a `Relaxed` exchange in
/// `Tail::append` or a `Relaxed` store in `Slot::link`.
#[test]
fn value_against_append() {
    let beside = |cown| {
        push(&cown, 1);
        push(&cown, 2);
    };
    let orders: [&[u8]; 3] = [&[7, 1, 2], &[1, 7, 2], &[1, 2, 7]];
    check_beside(|resolver| resolver.resolve(value(7)), beside, move |log| orders.contains(&log));
}

/// The resolver is dropped: the behaviour runs in any case.
#[test]
fn dropped_resolver_against_append() {
    let orders: [&[u8]; 2] = [&[DROPPED, 1], &[1, DROPPED]];
    check_beside(drop, |cown| push(&cown, 1), move |log| orders.contains(&log));
}

/// The cown is poisoned meanwhile: the behaviour, which is unchecked, runs with care.
///
/// Fails if `run_with_care` does not give back the block.
#[test]
fn value_against_poison() {
    let beside = |cown: Cown<LogState>| {
        let again = cown.clone();
        when(&cown, move |state| {
            state.0.push(1);
            again.header().set(Flags::POISONED, true);
        });
    };
    let orders: [&[u8]; 2] = [&[7, 1], &[1, 7]];
    check_beside(|resolver| resolver.resolve(value(7)), beside, move |log| orders.contains(&log));
}

/// The cown is marked meanwhile: the behaviour that was made is spawned, or another one in place of
/// it.
///
/// Fails if `spawn_elsewhere` does not give back the block, or drops the handle.
#[test]
fn value_against_a_mark() {
    let beside = |cown: Cown<LogState>| {
        // (In a cown that is not interruptible it says how long the block is, and is read at its
        // end.)
        cown.header().set(Flags::SLOW_PATH, true);
        cown.header().set(Flags::SLOW_PATH, false);
    };
    let orders: [&[u8]; 2] = [&[7], &[SPAWNED, 7]];
    check_beside(|resolver| resolver.resolve(value(7)), beside, move |log| orders.contains(&log));
}

//! Models of who goes on with a detained behaviour: the thread that runs a step, the guard, or the
//! end of the runtime.

use coact_sync::shim::sync::Mutex;
use loom::thread;
use std::sync::Arc;

use super::detention_table::CutOff;
use super::{Detained, Detention, detain};
use crate::behaviour::when::when;
use crate::cown::handle::Cown;
use crate::cown::set::CownSet;
use crate::sched::loom::{Log, check, log, run_ready, written};

type OwnedLog = <&'static Cown<Log> as CownSet>::Owned;

type LogGuard = Detained<OwnedLog>;

/// Where the behaviour itself is left.
type KeptDetention = Arc<Mutex<Option<Arc<Detention<OwnedLog>>>>>;

/// Where a step leaves its guard for another thread.
type GuardPlace = Arc<Mutex<Option<LogGuard>>>;

/// Spawns a behaviour that notes 1 and gives its guard away, and one behind it that notes 3.
fn spawn_both(x: &Cown<Log>, place: &GuardPlace) {
    let place = Arc::clone(place);
    detain(x, move |log, guard| {
        log.push(1);
        *place.lock() = Some(guard);
    });
    when(x, |log| log.push(3));
}

/// The same, with the behaviour for the end of the runtime, once it has begun.
fn spawn_both_and_keep(x: &Cown<Log>, place: &GuardPlace) -> KeptDetention {
    let detention = KeptDetention::default();
    let (far, kept) = (Arc::clone(place), Arc::clone(&detention));
    detain(x, move |log, guard| {
        log.push(1);
        *kept.lock() = guard.detention.clone();
        *far.lock() = Some(guard);
    });
    when(x, |log| log.push(3));
    detention
}

fn take(place: &GuardPlace) -> Option<LogGuard> {
    place.lock().take()
}

/// Has the model run to its end, and returns what was noted.
fn end(x: Cown<Log>, place: &GuardPlace) -> Vec<u8> {
    drop(take(place));
    run_ready();
    written(x)
}

/// Has another thread use the guard, if it is there, while the step returns. Returns what was
/// noted.
fn against_return(use_guard: fn(LogGuard)) -> Vec<u8> {
    let (x, place) = (log(), GuardPlace::default());
    spawn_both(&x, &place);
    let other = thread::spawn({
        let place = Arc::clone(&place);
        move || {
            take(&place).into_iter().for_each(use_guard);
            run_ready();
        }
    });
    run_ready();
    other.join().unwrap();
    end(x, &place)
}

/// The guard is dropped while the step returns: the cown is released once, by the one or the other,
/// and the next holder sees what was written.
///
/// Fails if `step_ended` parks without looking for what the guard has said.
#[test]
fn drop_against_return() {
    check(|| assert_eq!(against_return(drop), [1, 3]));
}

/// The same with another step, which runs once, before what waits.
#[test]
fn resume_against_return() {
    check(|| {
        let all = against_return(|guard| guard.resume(|log, _guard| log.push(2)));
        assert!(all == [1, 2, 3] || all == [1, 3], "{all:?}");
    });
}

/// The end of a runtime, the guard, and the return of the step: the behaviour ends once, in
/// whatever order they come.
///
/// Fails if `cut_off` leaves a running step as it is.
#[test]
fn cut_off_against_resume_against_return() {
    check(|| {
        let (x, place) = (log(), GuardPlace::default());
        let detention = spawn_both_and_keep(&x, &place);
        let others = [true, false].map(|cuts_off| {
            let (place, detention) = (Arc::clone(&place), Arc::clone(&detention));
            thread::spawn(move || {
                if cuts_off {
                    let detention = detention.lock().take();
                    detention.into_iter().for_each(|detention| detention.cut_off());
                } else if let Some(guard) = take(&place) {
                    guard.resume(|log, _guard| log.push(2));
                }
                run_ready();
            })
        });
        run_ready();
        others.into_iter().for_each(|other| other.join().unwrap());
        drop(detention.lock().take());
        let all = end(x, &place);
        assert!(all == [1, 2, 3] || all == [1, 3], "{all:?}");
    });
}

/// A step that is queued when the runtime ends does not park the behaviour once more, where no one
/// would find it.
///
/// Fails if `cut_off` leaves a queued step as it is.
#[test]
fn cut_off_of_a_queued_step() {
    check(|| {
        let (x, place) = (log(), GuardPlace::default());
        let detention = spawn_both_and_keep(&x, &place);
        run_ready();
        let far = Arc::clone(&place);
        let step = move |log: &mut Log, guard| {
            log.push(2);
            *far.lock() = Some(guard);
        };
        if let Some(guard) = take(&place) {
            guard.resume(step);
        }
        let cut = detention.lock().take();
        cut.into_iter().for_each(|detention| detention.cut_off());
        run_ready();
        assert_eq!(written(x), [1, 3]);
        drop(take(&place));
    });
}

//! Models of claims on free cowns.

use std::num::NonZeroU16;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::one_or_two::OneOrTwo;
use super::run::{claim_and_run, run_plain};
use super::serve_here;
use crate::behaviour::spawn_checks::home_of;
use crate::behaviour::when::when;
use crate::body::NoResult;
use crate::cown::handle::Cown;
use crate::cown::set::CownSet;
use crate::fault::Broken;
use crate::interrupt::Interruptible;
use crate::queue::header::Flags;
use crate::queue::interrupt_header::Gate;
use crate::runtime_ids::RuntimeId;
use crate::sched::loom::{Log, check, check_long, log, run_ready, two_logs, written};
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::schedule;

fn push(cown: &Cown<Log>, who: u8) {
    when(cown, move |log| log.push(who));
}

/// The ways to claim: that for one or two plain cowns, and that for any set.
#[derive(Clone, Copy, PartialEq)]
enum ClaimWay {
    Few,
    Any,
}

/// Like `when_here`, without a look at the runtime.
fn run_here<S, F>(set: S, way: ClaimWay, body: F) -> Option<(S, F)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    let home = home_of(&set);
    let members = OneOrTwo::of(&set);
    // SAFETY: the members are those of the set, whose handles keep them alive.
    let rest = unsafe {
        if way == ClaimWay::Few && members.are_plain(home) {
            run_plain::<false, _, _, _>(set, members, home, body, NoResult, &mut schedule)
        } else {
            claim_and_run(set, home, body, NoResult, &mut schedule)
        }
    };
    rest.map(|(set, body, NoResult)| (set, body))
}

fn push_here(cown: &Cown<Log>, who: u8, way: ClaimWay) -> bool {
    let ran = run_here(cown, way, move |log| log.push(who)).is_none();
    if !ran {
        push(cown, who);
    }
    ran
}

fn push_both_here(x: &Cown<Log>, y: &Cown<Log>, who: u8, way: ClaimWay) -> bool {
    let body = move |(x, y): (&mut Log, &mut Log)| {
        x.push(who);
        y.push(who);
    };
    let rest = run_here((x, y), way, body);
    let ran = rest.is_none();
    if let Some((set, body)) = rest {
        when(set, body);
    }
    ran
}

fn position(log: &[u8], who: u8) -> usize {
    assert_eq!(log.iter().filter(|entry| **entry == who).count(), 1, "{who} once in {log:?}");
    log.iter().position(|entry| *entry == who).unwrap()
}

/// A request comes while the cown is claimed, held and released.
///
/// Fails with a `Relaxed` exchange in `try_take`.
#[test]
fn claim_against_append() {
    for way in [ClaimWay::Few, ClaimWay::Any] {
        check(move || {
            let x = log();
            let other = thread::spawn({
                let x = x.clone();
                move || {
                    push(&x, 1);
                    push(&x, 2);
                    run_ready();
                }
            });
            push_here(&x, 3, way);
            run_ready();
            other.join().unwrap();
            let log = written(x);
            assert!(position(&log, 1) < position(&log, 2), "{log:?}");
            position(&log, 3);
        });
    }
}

/// The claiming thread continues with what came meanwhile, and leaves the excess to others.
#[test]
fn serving_against_append() {
    for batch in [1, 2] {
        check(move || {
            let x = log();
            let other = thread::spawn({
                let x = x.clone();
                move || {
                    push(&x, 1);
                    push(&x, 2);
                    run_ready();
                }
            });
            serve_here(&x, batch, |log| log.push(3));
            run_ready();
            other.join().unwrap();
            let log = written(x);
            assert!(position(&log, 1) < position(&log, 2), "{log:?}");
            position(&log, 3);
        });
    }
}

/// Two claims at once.
#[test]
fn claim_against_claim() {
    use ClaimWay::{Any, Few};
    for ways in [(Few, Few), (Few, Any), (Any, Any)] {
        check(move || {
            let (x, y) = two_logs();
            let other = thread::spawn({
                let (x, y) = (x.clone(), y.clone());
                move || {
                    push_both_here(&x, &y, 1, ways.0);
                    run_ready();
                }
            });
            push_both_here(&y, &x, 2, ways.1);
            run_ready();
            other.join().unwrap();
            let (x, y) = (written(x), written(y));
            assert_eq!(x, y);
            assert_eq!(x.len(), 2);
        });
    }
}

/// A claim has X and not yet Y when another thread gets behind it on X, and then spawns on Y, where
/// its behaviour runs and ends before the claim gets there. The claim must then be given up.
///
/// Fails without `is_first_everywhere`, and without the check of the first tail in `take_two_if`.
#[test]
fn claim_half_done_is_overtaken() {
    for way in [ClaimWay::Few, ClaimWay::Any] {
        check(move || {
            let (x, y) = two_logs();
            let other = thread::spawn({
                let (x, y) = (x.clone(), y.clone());
                move || {
                    push(&x, 1);
                    push(&y, 2);
                    run_ready();
                }
            });
            push_both_here(&x, &y, 3, way);
            run_ready();
            other.join().unwrap();
            let (x, y) = (written(x), written(y));
            assert!(
                !(position(&x, 3) < position(&x, 1) && position(&y, 2) < position(&y, 3)),
                "X: {x:?}, Y: {y:?}"
            );
        });
    }
}

/// A claim against an atomic step over the same cowns, in both orders of claiming.
#[test]
fn claim_against_a_step_over_two_cowns() {
    let ways = [ClaimWay::Few, ClaimWay::Any].map(|way| [(true, way), (false, way)]);
    for (claim_forward, way) in ways.into_iter().flatten() {
        check(move || {
            let (x, y) = two_logs();
            let other = thread::spawn({
                let (x, y) = (x.clone(), y.clone());
                move || {
                    when((&x, &y), |(x, y)| {
                        x.push(1);
                        y.push(1);
                    });
                    run_ready();
                }
            });
            let (a, b) = if claim_forward { (&x, &y) } else { (&y, &x) };
            push_both_here(a, b, 2, way);
            run_ready();
            other.join().unwrap();
            let (x, y) = (written(x), written(y));
            assert_eq!(x, y);
            assert_eq!(x.len(), 2);
        });
    }
}

/// A claim for reading against a writer: it becomes one reader among others, or waits its turn.
#[test]
fn claim_for_reading_against_a_writer() {
    check(|| {
        let x = log();
        let other = thread::spawn({
            let x = x.clone();
            move || {
                push(&x, 1);
                run_ready();
            }
        });
        let set = x.read();
        let home = home_of(&set);
        let body = |log: &Log| assert!(log.read().len() <= 1);
        let ran = claim_and_run(set, home, body, NoResult, &mut schedule).is_none();
        if ran {
            push(&x, 2);
        }
        run_ready();
        other.join().unwrap();
        assert_eq!(written(x).len(), 1 + usize::from(ran));
    });
}

/// A claim comes while a reader ends: it may find the queue empty and the reader still there.
///
/// Fails with a `Relaxed` load in `Readers::are_gone`, and without that check.
#[test]
fn claim_against_the_end_of_a_reader() {
    for way in [ClaimWay::Few, ClaimWay::Any] {
        check(move || {
            let x = log();
            let other = thread::spawn({
                let x = x.clone();
                move || {
                    when(x.read(), |log| _ = log.read());
                    run_ready();
                }
            });
            push_here(&x, 1, way);
            run_ready();
            other.join().unwrap();
            assert_eq!(written(x), [1]);
        });
    }
}

/// A claim that is given up, against a request behind it and a claim of another thread.
#[test]
fn claim_given_up_against_a_claim() {
    check_long(|| {
        let (x, y) = two_logs();
        let others = [&x, &y].map(|cown| {
            let cown = cown.clone();
            thread::spawn(move || {
                push_here(&cown, 1, ClaimWay::Few);
                run_ready();
            })
        });
        push_both_here(&x, &y, 2, ClaimWay::Few);
        run_ready();
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!((written(x).len(), written(y).len()), (2, 2));
    });
}

/// Logged by the behaviour that makes a cown special.
const CHANGED: u8 = 100;
/// Logged by a claim that should have been given up.
const WRONG: u8 = 101;

/// A cown is poisoned, or moves, between the look and the claim, which must see that.
///
/// Fails without `POISONED` in `SPECIAL`, without the check of the home, and if the claims accept
/// without another look.
#[test]
fn claim_of_a_cown_that_was_plain() {
    for (is_moved, is_pair) in [(false, false), (true, false), (false, true), (true, true)] {
        check(move || {
            let (x, y) = two_logs();
            let home = home_of(&x);
            // A behaviour on both runs at the home of the first, and with neither poisoned.
            let changed = if is_moved { x.clone() } else { y.clone() };
            let sole = changed.clone();
            let other = thread::spawn({
                let changed = changed.clone();
                move || {
                    let cown = changed.clone();
                    when(&changed, move |log| {
                        log.push(CHANGED);
                        if is_moved {
                            cown.header().set_home(RuntimeId::new(NonZeroU16::MAX));
                        } else {
                            cown.header().set(Flags::POISONED, true);
                        }
                    });
                    drop(changed);
                    run_ready();
                }
            });
            let note = move |log: &mut Log| {
                let is_plain = !changed.is_poisoned() && changed.header().home_of_queue() == home;
                log.push(if is_plain { 1 } else { WRONG });
            };
            // SAFETY: the handles keep the cowns alive, which are the members.
            unsafe {
                if is_pair {
                    let (set, ready) = ((&x, &y), &mut schedule);
                    let body = move |(x, y): (&mut Log, &mut Log)| {
                        note(if is_moved { x } else { y });
                    };
                    let members = OneOrTwo::of(&set);
                    run_plain::<false, _, _, _>(set, members, home, body, NoResult, ready);
                } else {
                    let (set, ready) = (&sole, &mut schedule);
                    let members = OneOrTwo::of(&set);
                    run_plain::<false, _, _, _>(set, members, home, note, NoResult, ready);
                }
            }
            run_ready();
            other.join().unwrap();
            sole.clear_poison();
            drop(if is_moved { x } else { y });
            let log = written(sole);
            assert!(log == [CHANGED] || log == [1, CHANGED], "{log:?}");
        });
    }
}

/// A state that notes which orders it has seen.
struct OrderLog {
    seen: usize,
    log: Log,
}

impl Interruptible for OrderLog {
    type SharedState = AtomicUsize;

    fn on_interrupt(&mut self, orders: &AtomicUsize) -> Gate {
        self.seen = orders.load(Ordering::Relaxed);
        Gate::Open
    }

    fn cancel(&mut self, _: &AtomicUsize) {}

    fn failed(&mut self, _: &AtomicUsize, _: &Broken) {}
}

/// The state is called before a claim that comes after an interrupt, even if that has left the
/// call to an earlier one, whose request is not in the queue yet.
///
/// Fails without `INTERRUPT` in `SPECIAL`.
#[test]
fn claim_against_an_interrupt() {
    check(|| {
        let state = OrderLog { seen: 0, log: Log::default() };
        let cown =
            Cown::interruptible(RuntimeHandle::current(), AtomicUsize::new(0), move |_| state);
        let order = |cown: &Cown<OrderLog>| {
            let before = cown.shared_state().fetch_add(1, Ordering::Relaxed);
            cown.interrupt();
            before + 1
        };
        let other = thread::spawn({
            let cown = cown.clone();
            move || {
                order(&cown);
                drop(cown);
                run_ready();
            }
        });
        let number = order(&cown);
        let body =
            move |state: &mut OrderLog| state.log.push(if state.seen < number { WRONG } else { 1 });
        if let Some((set, body)) = run_here(&cown, ClaimWay::Few, body) {
            when(set, body);
        }
        run_ready();
        other.join().unwrap();
        let state = cown.into_inner().expect("no behaviour is left, and no other handle");
        assert_eq!(state.log.read(), [1]);
    });
}

//! Inside `scope(|s| ..)` closures may borrow from the caller's stack; the scope returns when they
//! are done.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use coact::prelude::*;
use coact::runtime::Fault;
use coact::sim::{Config, Sim};
use coact_tests::{
    Faults, Journal, Log, PATIENCE, everywhere, everywhere_with_faults, fail, panic_of, runtime,
};

#[test]
fn behaviours_borrow_from_the_caller() {
    everywhere(|| {
        let cowns: Vec<Cown<usize>> = (0..20).map(Cown::new).collect();
        let (mut squares, factor) = ([0; 20], 2);
        scope(|s| {
            for (cown, square) in cowns.iter().zip(&mut squares) {
                s.when(cown, |n| *square = *n * *n * factor);
            }
        });
        assert!(squares.iter().enumerate().all(|(n, square)| *square == n * n * 2));
    });
}

#[test]
fn a_scope_gives_what_its_closure_returns() {
    everywhere(|| {
        let mut seen = 0;
        let cown = Cown::new(3);
        assert_eq!(
            scope(|s| {
                s.when(&cown, |n| seen = *n);
                "result"
            }),
            "result"
        );
        assert_eq!(seen, 3);
        assert_eq!(scope(|_| 5), 5);
    });
}

#[test]
fn a_scope_returns_when_its_behaviours_are_done() {
    everywhere(|| {
        let (journal, cown) = (Journal::new(), Cown::new(()));
        scope(|s| {
            for name in ["first", "second", "third"] {
                s.when(&cown, |_| journal.note(name));
            }
        });
        assert_eq!(journal.names(), ["first", "second", "third"]);
        assert!(journal.has("third"));
        // It holds nothing back.
        assert!(cown.into_inner().is_ok());
    });
}

/// They stand in the same order as all others.
#[test]
fn scoped_behaviours_are_ordered_with_others() {
    everywhere(|| {
        let log = Cown::new(Vec::new());
        when(&log, |log| log.push("before"));
        scope(|s| {
            s.when(&log, |log| log.push("in the scope"));
            when(&log, |log| log.push("not of the scope"));
            s.when(&log, |log| log.push("at the end of the scope"));
        });
        let lines = call(&log, |log| log.clone()).wait().unwrap();
        assert_eq!(
            lines,
            ["before", "in the scope", "not of the scope", "at the end of the scope"]
        );
    });
}

#[test]
fn scopes_nest() {
    everywhere(|| {
        let (a, b) = (Cown::new(1), Cown::new(2));
        let (mut outer, mut inner) = (0, 0);
        scope(|s| {
            s.when(&a, |n| outer = *n);
            scope(|t| t.when((&a, &b), |(a, b)| inner = *a + *b));
            assert_eq!(inner, 3);
        });
        assert_eq!(outer, 1);
    });
}

#[test]
fn f7_a_panic_reaches_the_caller_after_all_have_ended() {
    everywhere_with_faults(|faults| {
        let (journal, a, b) = (Journal::new(), Cown::new(()), Cown::new(()));
        let message = panic_of(|| {
            scope(|s| {
                s.when(&a, |_| fail("in a scope"));
                for name in ["one", "two"] {
                    s.when(&b, |_| journal.note(name));
                }
            });
        });
        assert_eq!(message, "in a scope");
        assert!(journal.has("one") && journal.has("two"));
        assert!(a.is_poisoned() && !b.is_poisoned());
        assert!(
            matches!(&faults.take()[..], [Fault::Panicked { message, .. }] if &**message == "in a scope")
        );
    });
}

/// The payload is the very same, not only its message.
#[test]
fn the_payload_reaches_the_caller() {
    everywhere_with_faults(|_| {
        #[derive(Debug, PartialEq)]
        struct Payload(u8);
        let cown = Cown::new(());
        let caught = catch_unwind(AssertUnwindSafe(|| {
            scope(|s| s.when(&cown, |_| resume_unwind(Box::new(Payload(7)))));
        }));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&Payload(7)));
    });
}

#[test]
fn a_panic_of_the_scopes_own_closure_waits_for_the_behaviours() {
    everywhere(|| {
        let (journal, cown) = (Journal::new(), Cown::new(()));
        let message = panic_of(|| {
            scope(|s| -> () {
                s.when(&cown, |_| journal.note("spawned"));
                fail("the closure itself")
            })
        });
        assert_eq!(message, "the closure itself");
        assert!(journal.has("spawned"));
    });
}

#[test]
fn a_skipped_behaviour_fails_the_scope() {
    everywhere_with_faults(|_| {
        let cown = Cown::new(());
        when(&cown, |_| fail("before the scope"));
        let message = panic_of(|| scope(|s| s.when(&cown, |_| ())));
        assert!(message.contains("skipped: member 0 of its set is poisoned"), "{message}");
    });
}

#[test]
fn a_scope_with_an_overlap_ends_with_that_panic() {
    everywhere(|| {
        let (mut seen, cown) = (0, Cown::new(4));
        let message = panic_of(|| {
            scope(|s| {
                s.when(&cown, |n| seen = *n);
                s.when((&cown, &cown), |_| ());
            });
        });
        assert!(message.contains("members 0 and 1"), "{message}");
        assert_eq!(seen, 4);
    });
}

/// Any type can be thrown, and no one is left waiting.
#[test]
fn a_payload_that_panics_when_it_is_dropped() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                fail("the payload");
            }
        }
    }
    everywhere_with_faults(|_| {
        let cown = Cown::new(());
        let caught = catch_unwind(AssertUnwindSafe(|| {
            scope(|s| {
                s.when(&cown, |_| resume_unwind(Box::new("first")));
                // Skipped; and one that throws after the first payload is kept.
                s.when(cown.checked(), |_| resume_unwind(Box::new(Bomb)));
            });
        }));
        assert_eq!(coact_tests::message_of(&*caught.unwrap_err()), "first");
        let _ = panic_any::<()>;
    });
}

/// A payload that is not the first is dropped; what its destructor waits for may be another panic
/// of the scope.
#[test]
fn a_payload_whose_destructor_waits_for_the_panic_of_another_behaviour() {
    struct Patient(Receiver<()>, Log<bool>);
    impl Drop for Patient {
        fn drop(&mut self) {
            self.1.push(self.0.recv_timeout(PATIENCE).is_ok());
        }
    }
    let heard = Log::new();
    let runtime = runtime(2, &Faults::new());
    let _entered = runtime.enter();
    let ((one, two), (ended, wait)) = ((Cown::new(()), Cown::new(())), channel());
    let caught = catch_unwind(AssertUnwindSafe(|| {
        scope(|s| {
            s.when((&one, &two), |_| resume_unwind(Box::new("first")));
            s.when(one.checked(), |_| resume_unwind(Box::new(Patient(wait, heard.clone()))));
            s.when(two.checked(), |_| fail("third"));
            s.when(two.checked(), |_| ended.send(()).unwrap());
        });
    }));
    assert_eq!(coact_tests::message_of(&*caught.unwrap_err()), "first");
    assert_eq!(heard.take(), [true], "it has heard of the other one's end");
}

/// A cown that has left its simulation refuses all that is spawned on it: that is not waited for.
#[test]
fn what_a_simulation_leaves_behind_blocks_nobody() {
    let left = Arc::new(Mutex::new(None));
    let leave = Arc::clone(&left);
    Sim::new()
        .config(Config::new().runs(1))
        .check(move || *leave.lock().unwrap() = Some(Cown::new(1)));
    let cown = left.lock().unwrap().take().unwrap();
    let refused = "was spawned outside of its simulation";
    assert!(panic_of(|| scope(|s| s.when(&cown, |n| *n += 1))).contains(refused));
    assert!(panic_of(|| when(&cown, |n| *n += 1)).contains(refused));
    assert!(panic_of(|| call(&cown, |n| *n)).contains(refused));
}

//! How fibers end: by themselves, by a panic, or as they are dropped.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::rc::Rc;
use std::thread;

use super::{fiber, message, small};
use crate::{Fiber, FiberLabel, ResumeOutcome, is_in_fiber, suspend, suspend_enclosing};

/// Counts its copies.
type Count = Rc<()>;

fn others(count: &Count) -> usize {
    Rc::strong_count(count) - 1
}

/// Drops a copy that was leaked, so that a search for leaks finds none.
fn drop_leaked(count: &Count) {
    // SAFETY: the copy is on a stack that is never used again.
    unsafe { Rc::decrement_strong_count(Rc::as_ptr(count)) };
}

fn panic_of<R>(f: impl FnOnce() -> R) -> Box<dyn Any + Send> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("it does not panic"),
        Err(payload) => payload,
    }
}

#[test]
fn a_panic_comes_out_of_resume() {
    let mut fiber = fiber::<(), ()>(|()| {
        suspend::<(), ()>(());
        panic_any(42_u8);
    });
    fiber.resume(());
    let payload = panic_of(|| fiber.resume(()));
    assert_eq!(payload.downcast_ref(), Some(&42_u8));
    assert!(fiber.has_ended() && !is_in_fiber() && !thread::panicking());
}

#[test]
fn a_panic_of_an_inner_fiber_leaves_the_outer_one_running() {
    let mut outer = fiber::<(), u64>(|()| {
        let mut inner = fiber::<u8, u8>(|_| panic_any("inner"));
        let payload = panic_of(|| inner.resume(1));
        assert_eq!(payload.downcast_ref(), Some(&"inner"));
        suspend::<(), u64>(1);
        let mut inner = fiber::<u8, u8>(|_| panic_any("passed on"));
        inner.resume(1);
    });
    assert_eq!(outer.resume(()), ResumeOutcome::Suspended(1));
    assert_eq!(panic_of(|| outer.resume(())).downcast_ref(), Some(&"passed on"));
    assert!(!is_in_fiber());
}

#[test]
fn a_fiber_is_not_suspended_while_the_thread_panics() {
    /// Suspends the fiber when it is dropped, and says whether it could.
    struct Late(Rc<Cell<Option<bool>>>);
    impl Drop for Late {
        fn drop(&mut self) {
            let suspended = catch_unwind(|| suspend::<(), u32>(1));
            self.0.set(Some(suspended.is_ok()));
        }
    }
    let could = Rc::new(Cell::new(None));
    let inside = Rc::clone(&could);
    let mut fiber = fiber::<(), u32>(move |()| {
        let _late = Late(inside);
        panic_any(1_u8);
    });
    panic_of(|| fiber.resume(()));
    assert_eq!(could.get(), Some(false));
}

#[test]
fn the_simulator_may_suspend_a_fiber_that_panics() {
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            suspend_enclosing::<(), u32>(1);
        }
    }
    let mut fiber = fiber::<(), u32>(move |()| {
        let _late = Late;
        panic_any(1_u8);
    });
    assert_eq!(fiber.resume(()), ResumeOutcome::Suspended(1));
    assert!(thread::panicking(), "the thread's count knows nothing of fibers");
    panic_of(|| fiber.resume(()));
    assert!(!thread::panicking());
}

#[test]
fn dropping_a_fiber_that_has_not_begun_drops_its_function() {
    let count = Count::default();
    let inside = count.clone();
    let unbegun = fiber::<(), ()>(move |()| drop(inside));
    assert_eq!(others(&count), 1);
    drop(unbegun);
    assert_eq!(others(&count), 0);
    // A large one is in a box.
    let inside = (count.clone(), [0_u8; 10_000]);
    let unbegun = fiber::<(), ()>(move |()| drop(inside));
    assert_eq!(others(&count), 1);
    drop(unbegun);
    assert_eq!(others(&count), 0);
}

#[test]
fn a_destructor_of_what_a_function_has_captured_may_panic() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any("bomb");
        }
    }
    let bomb = Bomb;
    let unbegun = fiber::<(), ()>(move |()| drop(bomb));
    assert_eq!(panic_of(|| drop(unbegun)).downcast_ref(), Some(&"bomb"));
    // On the stack of a suspended one, too, if it is not dropped by the unwinding itself.
    let mut suspended = fiber::<(), ()>(|()| {
        let _ = catch_unwind(|| suspend::<(), ()>(()));
        drop(Bomb);
    });
    suspended.resume(());
    drop(suspended);
    assert!(!is_in_fiber() && !thread::panicking());
}

#[test]
fn dropping_a_suspended_fiber_drops_what_is_on_its_stack() {
    let log = Rc::new(RefCell::new(Vec::new()));
    struct Logged(Rc<RefCell<Vec<u32>>>, u32);
    impl Drop for Logged {
        fn drop(&mut self) {
            assert!(is_in_fiber() && thread::panicking());
            self.0.borrow_mut().push(self.1);
        }
    }
    let inside = Rc::clone(&log);
    let mut suspended = fiber::<(), ()>(move |()| {
        let _first = Logged(Rc::clone(&inside), 1);
        let _second = Logged(inside, 2);
        suspend::<(), ()>(());
    });
    suspended.resume(());
    drop(suspended);
    assert_eq!(*log.borrow(), [2, 1]);
    assert!(!is_in_fiber() && !thread::panicking());
}

#[test]
fn a_fiber_that_is_unwound_cannot_be_suspended_again() {
    let tries = Rc::new(Cell::new(0));
    let inside = Rc::clone(&tries);
    let mut stubborn = fiber::<(), u32>(move |()| {
        for _ in 0..3 {
            let caught = catch_unwind(|| suspend::<(), u32>(1));
            inside.set(inside.get() + u32::from(caught.is_err()));
        }
        let caught = catch_unwind(|| suspend_enclosing::<(), u32>(1));
        inside.set(inside.get() + u32::from(caught.is_err()));
        panic_any("not heard");
    });
    stubborn.resume(());
    drop(stubborn);
    assert_eq!(tries.get(), 4);
    assert!(!is_in_fiber() && !thread::panicking());
}

#[test]
fn other_fibers_work_while_one_is_unwound() {
    let sum = Rc::new(Cell::new(0));
    struct Busy(Rc<Cell<u32>>);
    impl Drop for Busy {
        fn drop(&mut self) {
            let inside = Rc::clone(&self.0);
            let mut other = fiber::<u32, ()>(move |number| inside.set(number));
            assert_eq!(other.resume(5), ResumeOutcome::Ended);
        }
    }
    let inside = Rc::clone(&sum);
    let mut suspended = fiber::<(), ()>(move |()| {
        let _busy = Busy(inside);
        suspend::<(), ()>(());
    });
    suspended.resume(());
    drop(suspended);
    assert_eq!(sum.get(), 5);
}

#[test]
fn a_suspended_fiber_is_leaked_in_a_panic() {
    let count = Count::default();
    let inside = count.clone();
    let mut suspended = fiber::<(), ()>(move |()| {
        suspend::<(), ()>(());
        drop(inside);
    });
    suspended.resume(());
    // One that has not begun, and one that has ended, are not.
    let also = count.clone();
    let unbegun = fiber::<(), ()>(move |()| drop(also));
    let mut ended = fiber::<(), ()>(|()| {});
    ended.resume(());
    assert_eq!(others(&count), 2);
    panic_of(move || {
        let _dropped = (suspended, unbegun, ended);
        resume_unwind(Box::new(()));
    });
    assert_eq!(others(&count), 1);
    drop_leaked(&count);
}

#[test]
fn a_fiber_can_be_forgotten() {
    let count = Count::default();
    let inside = count.clone();
    let mut suspended = fiber::<(), ()>(move |()| {
        suspend::<(), ()>(());
        drop(inside);
    });
    suspended.resume(());
    suspended.forget();
    assert_eq!(others(&count), 1);
    drop_leaked(&count);
    // This one returns its stack.
    let stack = small();
    let mut ended = Fiber::<(), usize>::new(stack, super::LABEL, |()| {});
    ended.resume(());
    ended.forget();
}

#[test]
fn an_enclosing_fiber_is_unwound_with_those_inside() {
    let count = Count::default();
    let inside = (count.clone(), count.clone());
    let mut outer = fiber::<(), u64>(move |()| {
        let (first, second) = inside;
        let mut inner = fiber::<u8, u8>(move |_| {
            suspend_enclosing::<(), u64>(1);
            drop(second);
        });
        inner.resume(1);
        drop(first);
    });
    assert_eq!(outer.resume(()), ResumeOutcome::Suspended(1));
    assert_eq!(others(&count), 2);
    drop(outer);
    assert_eq!(others(&count), 0);
    assert!(!is_in_fiber());
}

#[test]
fn a_fiber_may_be_dropped_when_its_thread_ends() {
    thread_local! {
        static KEPT: RefCell<Option<Fiber<(), ()>>> = const { RefCell::new(None) };
    }
    struct Loud(std::sync::mpsc::Sender<bool>);
    impl Drop for Loud {
        fn drop(&mut self) {
            self.0.send(is_in_fiber()).unwrap();
        }
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    let run = move || {
        let mut fiber = fiber::<(), ()>(move |()| {
            let _loud = Loud(sender);
            suspend::<(), ()>(());
        });
        fiber.resume(());
        KEPT.set(Some(fiber));
    };
    thread::spawn(run).join().unwrap();
    assert_eq!(receiver.recv(), Ok(true));
}

#[test]
fn fibers_and_labels_are_shown() {
    let mut fiber = fiber::<(), ()>(|()| {});
    assert_eq!(format!("{fiber:?}"), "Fiber { has_ended: false, .. }");
    fiber.resume(());
    assert_eq!(format!("{fiber:?}"), "Fiber { has_ended: true, .. }");
    assert_eq!(format!("{:?}", small()), "Stack { size: 65536, .. }");
    assert_eq!(super::LABEL, FiberLabel { name: "`a test`", ..super::LABEL });
    let error = crate::Stack::take(usize::MAX).unwrap_err();
    assert!(error.to_string().starts_with(&format!("a stack cannot have {} bytes", usize::MAX)));
    assert_eq!(message(panic_of(|| panic!("{}", 1))), "1");
}

//! What fibers have on their stacks, and which of several is suspended.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Barrier;
use std::thread;

use coact_sync::current_stack::{self, StackPin};
use proptest::prelude::*;

use super::{down_to, fiber, message};
use crate::{
    Fiber, ResumeOutcome, Stack, is_enclosed, is_in_fiber, remaining_stack, suspend,
    suspend_enclosing,
};

#[test]
fn values_go_in_and_out() {
    let mut fiber = fiber::<String, Vec<String>>(|mut word: String| {
        while word.len() < 5 {
            word = suspend::<String, Vec<String>>(vec![word.clone(), word]);
        }
    });
    let twice = |word: &str| ResumeOutcome::Suspended(vec![word.to_owned(), word.to_owned()]);
    assert_eq!(fiber.resume("a".to_owned()), twice("a"));
    assert_eq!(fiber.resume("b".to_owned()), twice("b"));
    assert!(!fiber.has_ended());
    assert_eq!(fiber.resume("the end".to_owned()), ResumeOutcome::Ended);
    assert!(fiber.has_ended());
}

#[test]
fn values_of_any_size_and_alignment_go_in_and_out() {
    #[repr(align(256))]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Large([u64; 100]);
    let is_aligned = |large: &Large| std::ptr::from_ref(large).addr().is_multiple_of(256);
    let captured = Large([1; 100]);
    let mut fiber = fiber::<Large, Large>(move |first: Large| {
        assert!(is_aligned(&captured) && is_aligned(&first));
        let second = suspend::<Large, Large>(first);
        assert_eq!((captured.0[99], first.0[99], second.0[99]), (1, 2, 3));
    });
    assert_eq!(fiber.resume(Large([2; 100])), ResumeOutcome::Suspended(Large([2; 100])));
    assert_eq!(fiber.resume(Large([3; 100])), ResumeOutcome::Ended);
}

#[test]
fn what_is_on_the_stack_need_not_be_send() {
    thread_local! {
        static LOG: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    }
    let shared = Rc::new(RefCell::new(1));
    let inside = Rc::clone(&shared);
    let mut fiber = fiber::<(), ()>(move |()| {
        LOG.with_borrow_mut(|log| {
            let mut number = inside.borrow_mut();
            *number += 1;
            suspend::<(), ()>(());
            log.push(*number);
        });
    });
    fiber.resume(());
    assert!(shared.try_borrow().is_err(), "it is borrowed on the fiber's stack");
    assert!(LOG.with(|log| log.try_borrow().is_err()), "and so is this");
    fiber.resume(());
    assert_eq!(*shared.borrow(), 2);
    assert_eq!(LOG.take(), [2]);
}

#[test]
fn the_innermost_fiber_is_suspended() {
    let mut outer = fiber::<(), &str>(|()| {
        let mut inner = fiber::<(), &str>(|()| {
            suspend::<(), &str>("inner");
        });
        assert_eq!(inner.resume(()), ResumeOutcome::Suspended("inner"));
        suspend::<(), &str>("outer");
        assert_eq!(inner.resume(()), ResumeOutcome::Ended);
        suspend::<(), &str>("outer again");
    });
    assert_eq!(outer.resume(()), ResumeOutcome::Suspended("outer"));
    assert!(!is_in_fiber());
    assert_eq!(outer.resume(()), ResumeOutcome::Suspended("outer again"));
    assert_eq!(outer.resume(()), ResumeOutcome::Ended);
}

#[test]
fn a_fiber_may_move_while_it_is_suspended() {
    let mut fibers: VecDeque<Fiber<(), usize>> = VecDeque::new();
    for number in 0..10 {
        fibers.push_back(fiber::<(), usize>(move |()| {
            (0..number).for_each(|_| suspend::<(), usize>(number))
        }));
    }
    let mut counts = [0; 10];
    while let Some(mut fiber) = fibers.pop_front() {
        if let ResumeOutcome::Suspended(number) = fiber.resume(()) {
            counts[number] += 1;
            fibers.push_back(fiber);
        }
    }
    assert_eq!(counts, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn a_fiber_may_be_resumed_inside_of_others() {
    let shared = Rc::new(RefCell::new(fiber::<(), u32>(|()| {
        for count in 0..3 {
            suspend::<(), u32>(count);
        }
    })));
    for count in 0..3 {
        let shared = Rc::clone(&shared);
        let mut outer = fiber::<(), ()>(move |()| {
            assert_eq!(shared.borrow_mut().resume(()), ResumeOutcome::Suspended(count));
        });
        assert_eq!(outer.resume(()), ResumeOutcome::Ended);
    }
    assert_eq!(shared.borrow_mut().resume(()), ResumeOutcome::Ended);
}

#[test]
fn an_enclosing_fiber_is_suspended_with_those_inside() {
    let mut outer = fiber::<(), &str>(|()| {
        assert!(is_enclosed::<(), &str>() && !is_enclosed::<(), u32>());
        let mut inner = fiber::<u32, u32>(|mut count: u32| {
            loop {
                assert!(is_enclosed::<(), &str>() && is_enclosed::<u32, u32>());
                suspend_enclosing::<(), &str>("from the inside");
                count = suspend(count + 1);
            }
        });
        assert_eq!(inner.resume(1), ResumeOutcome::Suspended(2));
        suspend_enclosing::<(), &str>("between");
        assert_eq!(inner.resume(5), ResumeOutcome::Suspended(6));
    });
    let mut heard = Vec::new();
    while let ResumeOutcome::Suspended(word) = outer.resume(()) {
        assert!(!is_in_fiber());
        heard.push(word);
        // Its record stays where it is.
        outer = *Box::new(outer);
    }
    assert_eq!(heard, ["from the inside", "between", "from the inside"]);
}

#[test]
fn nothing_is_suspended_outside_of_fibers() {
    for suspend in [suspend::<(), ()>, suspend_enclosing::<(), ()>] {
        let payload = catch_unwind(|| suspend(())).unwrap_err();
        assert_eq!(message(payload), "only a fiber can be suspended, and none runs on this thread");
    }
    assert!(!is_in_fiber() && !is_enclosed::<(), ()>());
}

#[test]
fn a_fiber_of_other_types_is_not_suspended() {
    let mut fiber = fiber::<(), u64>(|()| {
        let payload = catch_unwind(|| suspend::<(), i64>(1)).unwrap_err();
        assert_eq!(
            message(payload),
            "the fiber `a test` #7 was made with other types than those it was to be suspended with, \
             which are `()` for its input and `i64` for its output"
        );
        let payload = catch_unwind(|| suspend::<u8, u64>(1)).unwrap_err();
        assert!(message(payload).contains("`u8` for its input and `u64` for its output"));
        suspend::<(), u64>(1);
    });
    assert_eq!(fiber.resume(()), ResumeOutcome::Suspended(1));
    assert_eq!(fiber.resume(()), ResumeOutcome::Ended);
}

#[test]
fn an_ended_fiber_is_not_resumed() {
    let mut fiber = fiber::<(), ()>(|()| {});
    fiber.resume(());
    let payload = catch_unwind(AssertUnwindSafe(|| fiber.resume(()))).unwrap_err();
    assert_eq!(message(payload), "the fiber has ended, and cannot be resumed");
    assert!(!is_in_fiber());
}

#[test]
fn what_is_left_of_the_stack_is_known() {
    assert_eq!(remaining_stack(), None);
    let mut fiber = fiber::<(), usize>(|()| {
        let left = || remaining_stack().unwrap();
        let here = left();
        assert!(here > 60 * 1024 && here < 64 * 1024, "{here}");
        let below = down_to(20_000, &mut || left());
        assert!(below > 10_000 && below < 20_000, "{below}");
        suspend::<(), usize>(left());
    });
    let ResumeOutcome::Suspended(left) = fiber.resume(()) else { panic!("it is suspended") };
    assert!(left > 60 * 1024);
    assert_eq!(remaining_stack(), None);
}

#[test]
fn the_whole_stack_can_be_used() {
    let stack = Stack::take(1024 * 1024).unwrap();
    let mut fiber = Fiber::<(), u32>::new(stack, super::LABEL, |()| {
        down_to(16_000, &mut || suspend::<(), u32>(1));
        down_to(16_000, &mut || suspend::<(), u32>(2));
    });
    assert_eq!(fiber.resume(()), ResumeOutcome::Suspended(1));
    assert_eq!(fiber.resume(()), ResumeOutcome::Suspended(2));
    assert_eq!(fiber.resume(()), ResumeOutcome::Ended);
}

#[test]
fn each_thread_has_its_own_innermost_fiber() {
    let barrier = Barrier::new(4);
    let run = |number: usize| {
        let mut fiber = fiber::<usize, usize>(move |mut heard: usize| {
            loop {
                heard = suspend::<usize, usize>(heard * number);
            }
        });
        for step in 0..1000 {
            if step % 100 == 0 {
                barrier.wait();
            }
            assert!(!is_in_fiber());
            assert_eq!(fiber.resume(step), ResumeOutcome::Suspended(step * number));
        }
    };
    thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || run(number));
        }
    });
}

proptest! {
    /// Fibers that resume one another: which of them a `suspend` suspends, beside a program without
    /// fibers.
    #[test]
    fn nested_fibers_do_what_nested_coroutines_do(depths in prop::collection::vec(0_u32..6, 1..12)) {
        /// Suspends itself after each of the fibers inside has been run to its end.
        fn nest(depth: u32) -> Fiber<(), u32> {
            fiber::<(), u32>(move |()| {
                for inside in 0..depth {
                    let mut inner = nest(inside);
                    while let ResumeOutcome::Suspended(value) = inner.resume(()) {
                        suspend::<(), u32>(value * 7 + depth);
                    }
                    suspend::<(), u32>(inside);
                }
            })
        }
        fn expected(depth: u32, told: &mut dyn FnMut(u32)) {
            for inside in 0..depth {
                expected(inside, &mut |value| told(value * 7 + depth));
                told(inside);
            }
        }
        for depth in depths {
            let (mut fiber, mut values, mut wanted) = (nest(depth), Vec::new(), Vec::new());
            while let ResumeOutcome::Suspended(value) = fiber.resume(()) {
                values.push(value);
            }
            expected(depth, &mut |value| wanted.push(value));
            prop_assert_eq!(values, wanted);
        }
    }
}

#[test]
fn a_fiber_is_not_suspended_where_its_stack_is_pinned() {
    let mut pinned = fiber::<(), u8>(|()| {
        let pin = StackPin::new();
        let refused = catch_unwind(AssertUnwindSafe(|| suspend::<(), u8>(1)));
        assert!(message(refused.unwrap_err()).contains("cannot be suspended inside of a call"));
        drop(pin);
        suspend::<(), u8>(2);
    });
    // The pins of the code that resumes it are not its own.
    let around = StackPin::new();
    assert_eq!(pinned.resume(()), ResumeOutcome::Suspended(2));
    drop(around);
    assert_eq!(pinned.resume(()), ResumeOutcome::Ended);
}

#[test]
fn each_stack_has_an_identity_while_it_is_there() {
    let own = current_stack::current();
    let place = || {
        fiber::<(), usize>(|()| {
            let here = current_stack::current().addr();
            suspend::<(), usize>(here);
            assert_eq!(current_stack::current().addr(), here);
        })
    };
    let (mut a, mut b) = (place(), place());
    let ResumeOutcome::Suspended(in_a) = a.resume(()) else { panic!("it is suspended") };
    assert_eq!(current_stack::current(), own);
    let ResumeOutcome::Suspended(in_b) = b.resume(()) else { panic!("it is suspended") };
    assert!(in_a != in_b && in_a != own.addr() && in_b != own.addr());
    a.resume(());
    b.resume(());
    assert_eq!(current_stack::current(), own);
}

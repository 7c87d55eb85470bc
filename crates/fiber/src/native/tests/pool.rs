//! The pool of stacks on Linux. Tests that see the memory of stacks use a size that no other test
//! has.

use std::cell::RefCell;
use std::sync::mpsc;
use std::thread;

use super::super::pool::{map_limit, maps, page_size, refuse_markers};
use super::{LABEL, child, down_to};
use crate::{Fiber, Stack, StackError, suspend};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// The address of a stack.
fn place(stack: &Stack) -> usize {
    stack.pooled().high()
}

/// The bytes of a stack that are in memory.
fn resident(stack: &Stack) -> usize {
    let low = stack.pooled().top().as_ptr().wrapping_sub(stack.size());
    let mut pages = vec![0_u8; stack.size() / page_size()];
    // SAFETY: the stack is mapped, and there is a byte for each of its pages.
    assert_eq!(unsafe { libc::mincore(low.cast(), stack.size(), pages.as_mut_ptr()) }, 0);
    pages.iter().filter(|page| **page & 1 != 0).count() * page_size()
}

/// Uses a stack to this depth, and returns it to the pool.
fn use_deeply(stack: Stack, bytes: usize) {
    let left = stack.size().saturating_sub(bytes);
    Fiber::<(), ()>::new(stack, LABEL, move |()| down_to(left, &mut || {})).resume(());
}

/// Uses more than there is of a stack.
fn overflow(stack: Stack) {
    Fiber::<(), ()>::new(stack, LABEL, |()| down_to(0, &mut || {})).resume(());
}

#[test]
fn sizes_are_powers_of_two() {
    let size = |size| Stack::take(size).unwrap().size();
    let least = crate::MIN_STACK_SIZE.max(page_size());
    assert_eq!([0, 1, 16 * KIB, 64 * KIB].map(size), [least; 4]);
    assert_eq!(size(16 * MIB + 1), 32 * MIB);
    assert_eq!(size(crate::DEFAULT_STACK_SIZE), crate::DEFAULT_STACK_SIZE);
    assert_eq!(size(MIB), MIB);
    if cfg!(target_pointer_width = "64") {
        assert_eq!(size(1 << 30), 1 << 30);
    }
    assert!(matches!(
        Stack::take((1 << 30) + 1),
        Err(StackError::TooLarge { size, most }) if most < size
    ));
}

#[test]
fn a_stack_is_used_again() {
    let first = Stack::take(512 * KIB).unwrap();
    let at = place(&first);
    drop(first);
    let again = Stack::take(512 * KIB).unwrap();
    assert_eq!(place(&again), at);
    let other = Stack::take(512 * KIB).unwrap();
    assert_ne!(place(&other), at);
}

#[test]
fn no_stack_is_had_twice() {
    let size = 32 * KIB;
    let run = || {
        let mut stacks = Vec::new();
        for step in 0_usize..2000 {
            let stack = Stack::take(size).unwrap();
            let low = place(&stack) - size;
            // SAFETY: the stack is this thread's, and its lowest word is aligned.
            unsafe { std::ptr::with_exposed_provenance_mut::<usize>(low).write(low ^ step) };
            stacks.push((stack, low ^ step));
            if step % 7 > 3 {
                let (stack, written) = stacks.swap_remove(step % stacks.len());
                let low = place(&stack) - size;
                // SAFETY: as above, and written before.
                let read = unsafe { std::ptr::with_exposed_provenance::<usize>(low).read() };
                assert_eq!(read, written);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(run);
        }
    });
}

#[test]
fn the_stacks_of_a_thread_that_ends_go_to_others() {
    let size = 2 * MIB;
    let take = move |count| (0..count).map(|_| Stack::take(size).unwrap()).collect::<Vec<_>>();
    let places = |stacks: &[Stack]| {
        let mut places: Vec<_> = stacks.iter().map(place).collect();
        places.sort_unstable();
        places
    };
    // More than a thread keeps; dropped by one thread, and then by that thread's end.
    let theirs = thread::spawn(move || places(&take(40))).join().unwrap();
    assert_eq!(places(&take(40)), theirs);
}

#[test]
fn stacks_can_be_had_while_a_thread_ends() {
    thread_local! {
        static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    }
    struct Late(Stack, mpsc::Sender<usize>);
    impl Drop for Late {
        fn drop(&mut self) {
            // The thread's own stacks are in the depot already, or go there later.
            let other = Stack::take(4 * MIB).unwrap();
            assert_ne!(place(&other), place(&self.0));
            self.1.send(place(&other)).unwrap();
        }
    }
    let (sender, receiver) = mpsc::channel();
    for is_kept_first in [false, true] {
        let sender = sender.clone();
        let run = move || {
            // The order in which the two destructors are registered.
            if is_kept_first {
                drop(Stack::take(4 * MIB).unwrap());
            }
            LATE.set(Some(Late(Stack::take(4 * MIB).unwrap(), sender)));
            drop(Stack::take(4 * MIB).unwrap());
        };
        thread::spawn(run).join().unwrap();
    }
    let places: Vec<_> = receiver.try_iter().collect();
    let again = [Stack::take(4 * MIB).unwrap(), Stack::take(4 * MIB).unwrap()];
    assert!(again.iter().any(|stack| places.contains(&place(stack))));
}

#[test]
fn a_stack_in_the_depot_keeps_its_top_only() {
    let size = 128 * KIB;
    let used = move || {
        let stack = Stack::take(size).unwrap();
        let at = place(&stack);
        let mut fiber = Fiber::<(), ()>::new(stack, LABEL, |()| {
            down_to(20 * KIB, &mut || {});
            suspend(())
        });
        fiber.resume(());
        (fiber, at)
    };
    let used = thread::spawn(move || {
        let (fibers, places): (Vec<_>, Vec<_>) = (0..40).map(|_| used()).unzip();
        drop(fibers);
        places
    });
    let used = used.join().unwrap();
    let stacks: Vec<_> = (0..60).map(|_| Stack::take(size).unwrap()).collect();
    let again: Vec<_> = stacks.iter().filter(|stack| used.contains(&place(stack))).collect();
    assert_eq!(again.len(), 40);
    for stack in again {
        let left = resident(stack);
        assert!(left > 0 && left <= 32 * KIB.max(page_size()), "{left}");
    }
}

#[test]
fn a_large_stack_keeps_its_top_only() {
    let stack = Stack::take(8 * MIB).unwrap();
    let at = place(&stack);
    use_deeply(stack, 3 * MIB);
    let again = Stack::take(8 * MIB).unwrap();
    assert_eq!(place(&again), at);
    assert!(resident(&again) <= 32 * KIB.max(page_size()));
    // Its guard is still there, and so is what can be used.
    use_deeply(again, 3 * MIB);
}

#[test]
fn guards_are_left_by_trimming() {
    let name = "pool::guards_are_left_by_trimming";
    let Some(output) = child::run(name, || {
        use_deeply(Stack::take(MIB).unwrap(), 300 * KIB);
        overflow(Stack::take(MIB).unwrap());
    }) else {
        return;
    };
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("`a test` #7 has overflowed: it has 1024 KiB")
    );
}

#[test]
fn protected_guards_work_as_well() {
    let name = "pool::protected_guards_work_as_well";
    let Some(output) = child::run(name, || {
        refuse_markers();
        let stacks: Vec<_> = (0..100).map(|_| Stack::take(64 * KIB).unwrap()).collect();
        stacks.into_iter().for_each(|stack| use_deeply(stack, 20 * KIB));
        overflow(Stack::take(64 * KIB).unwrap());
    }) else {
        return;
    };
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("`a test` #7 has overflowed: it has 64 KiB")
    );
}

#[test]
fn a_hundred_thousand_stacks_are_few_mappings() {
    child::must_pass("pool::a_hundred_thousand_stacks_are_few_mappings", || {
        let before = maps().unwrap();
        let first = Stack::take(256 * KIB).unwrap();
        if maps().unwrap() > before + 1 {
            println!("this system has no guard markers");
            return;
        }
        let stacks: Vec<_> = (1..100_000).map(|_| Stack::take(256 * KIB).unwrap()).collect();
        let more = maps().unwrap() - before;
        assert!(more < 2000, "{more} mappings");
        // To give them back would touch each of them.
        std::mem::forget(first);
        stacks.into_iter().for_each(std::mem::forget);
    });
}

#[test]
#[cfg_attr(coact_asan, ignore = "the sanitizer needs mappings, too, and ends the process")]
fn too_many_mappings_are_an_error_that_says_so() {
    child::must_pass("pool::too_many_mappings_are_an_error_that_says_so", || {
        let limit = map_limit().unwrap();
        if limit > 2_000_000 {
            println!("this system allows {limit} mappings");
            return;
        }
        refuse_markers();
        let mut stacks = Vec::with_capacity(limit);
        let error = loop {
            match Stack::take(16 * KIB) {
                Ok(stack) => stacks.push(stack),
                Err(error) => break error,
            }
        };
        let text = error.to_string();
        assert!(
            matches!(error, StackError::TooManyMaps { limit: Some(told) } if told == limit),
            "{text}"
        );
        assert!(
            text.contains(&format!("({limit})")) && text.contains("vm.max_map_count"),
            "{text}"
        );
        assert!(stacks.len() > limit / 3, "{} stacks of {limit} mappings", stacks.len());
        // The error has lost nothing, and the pool goes on with what it has.
        assert!(Stack::take(16 * KIB).is_err());
        stacks.truncate(10);
        let again: Vec<_> = (0..100).map(|_| Stack::take(16 * KIB).unwrap()).collect();
        stacks.into_iter().chain(again).for_each(std::mem::forget);
    });
}

#[test]
#[cfg_attr(coact_asan, ignore = "the sanitizer takes more addresses itself")]
fn memory_that_is_refused_is_an_error_that_says_so() {
    child::must_pass("pool::memory_that_is_refused_is_an_error_that_says_so", || {
        let limit = libc::rlimit { rlim_cur: 1 << 32, rlim_max: 1 << 32 };
        // SAFETY: lowers how many addresses this process may have.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
        let mut stacks = Vec::new();
        let error = loop {
            match Stack::take(1 << 30) {
                Ok(stack) => stacks.push(stack),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, StackError::Refused { .. }), "{error}");
        let says = "the system refuses memory for another stack of 1048576 KiB: ";
        assert!(error.to_string().starts_with(says), "{error}");
        assert!(std::error::Error::source(&error).is_some());
    });
}

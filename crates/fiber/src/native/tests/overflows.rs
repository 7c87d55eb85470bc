//! Overflows of stacks, and other faults, each in a process of its own.

use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::{ptr, thread};

use super::{LABEL, child, fiber};
use crate::{Fiber, FiberLabel, ResumeOutcome, Stack, suspend};

#[inline(never)]
fn recurse_for_ever(frame: &mut [u8; 256]) {
    let mut next = *std::hint::black_box(frame);
    if next[0] < 2 {
        recurse_for_ever(&mut next);
    }
    std::hint::black_box(&mut next);
}

fn overflow() {
    recurse_for_ever(&mut [1; 256]);
}

fn read_null() {
    // SAFETY: not sound: the test expects the fault.
    let value =
        unsafe { ptr::with_exposed_provenance::<u8>(std::hint::black_box(8)).read_volatile() };
    std::hint::black_box(value);
}

#[track_caller]
fn assert_dies(output: Option<Output>, signal: i32, says: &str) {
    let Some(output) = output else { return };
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(signal), "{:?}: {text}", output.status);
    assert!(text.contains(says), "{text}");
}

const REPORT: &str =
    "\nthe stack of `a test` #7 has overflowed: it has 64 KiB; give it more with `stack_size`\n";

#[test]
fn an_overflow_is_reported() {
    let output = child::run("overflows::an_overflow_is_reported", || {
        fiber::<(), ()>(|()| overflow()).resume(());
    });
    assert_dies(output, libc::SIGABRT, REPORT);
}

#[test]
fn an_overflow_on_the_second_resume_of_an_inner_fiber_is_reported() {
    let name = "overflows::an_overflow_on_the_second_resume_of_an_inner_fiber_is_reported";
    let output = child::run(name, || {
        let label = FiberLabel { name: "outer", number: 1, advice: "" };
        let body = |()| {
            let mut inner = fiber::<(), u8>(|()| {
                suspend::<(), u8>(1);
                overflow();
            });
            assert_eq!(inner.resume(()), ResumeOutcome::Suspended(1));
            inner.resume(());
        };
        Fiber::<(), ()>::new(Stack::take(1024 * 1024).unwrap(), label, body).resume(());
    });
    assert_dies(output, libc::SIGABRT, REPORT);
}

#[test]
fn an_overflow_of_the_outer_fiber_is_reported() {
    let output = child::run("overflows::an_overflow_of_the_outer_fiber_is_reported", || {
        let label = FiberLabel { name: "outer", number: 0, advice: "" };
        let body = |()| {
            let mut inner = fiber::<(), u8>(|()| suspend::<(), u8>(1));
            inner.resume(());
            inner.resume(());
            overflow();
        };
        Fiber::<(), ()>::new(Stack::take(100_000).unwrap(), label, body).resume(());
    });
    let report = "\nthe stack of outer has overflowed: it has 128 KiB\n";
    assert_dies(output, libc::SIGABRT, report);
}

#[test]
fn an_overflow_on_a_thread_without_a_stack_for_handlers_is_reported() {
    let name = "overflows::an_overflow_on_a_thread_without_a_stack_for_handlers_is_reported";
    let output = child::run(name, || {
        // SAFETY: integers and an address, for which zero is a value; the flag takes the stack for
        // handlers away from this thread, which is not on it.
        unsafe {
            let mut none: libc::stack_t = std::mem::zeroed();
            none.ss_flags = libc::SS_DISABLE;
            assert_eq!(libc::sigaltstack(&none, ptr::null_mut()), 0);
        }
        fiber::<(), ()>(|()| overflow()).resume(());
    });
    assert_dies(output, libc::SIGABRT, REPORT);
}

/// As code does that was compiled without probes, and has a large frame.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(coact_asan, ignore = "the sanitizer reports it, and exits")]
fn an_access_far_below_the_stack_is_reported() {
    let output = child::run("overflows::an_access_far_below_the_stack_is_reported", || {
        // Beside others, so that there is memory below the guard.
        let _others: Vec<_> = (0..4).map(|_| super::small()).collect();
        fiber::<(), ()>(|()| {
            let frame = 0_u8;
            let here = ptr::from_ref(std::hint::black_box(&frame)).addr();
            let below = here - crate::remaining_stack().unwrap() - 60 * 1024;
            // SAFETY: not sound: the test expects the fault.
            let value = unsafe { ptr::with_exposed_provenance::<u8>(below).read_volatile() };
            std::hint::black_box(value);
        })
        .resume(());
    });
    assert_dies(output, libc::SIGABRT, REPORT);
}

/// The smallest stack is large enough for a panic whose backtrace is printed.
#[test]
fn a_panic_on_the_smallest_stack_prints_its_backtrace() {
    let name = "overflows::a_panic_on_the_smallest_stack_prints_its_backtrace";
    let panics = || {
        let mut fiber = Fiber::<(), ()>::new(Stack::take(1).unwrap(), LABEL, |()| {
            panic!("a message of {} words", std::hint::black_box(5));
        });
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fiber.resume(())));
        assert_eq!(super::message(caught.unwrap_err()), "a message of 5 words");
    };
    let Some(output) = child::run_with(name, &[("RUST_BACKTRACE", "full")], panics) else { return };
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {text}", output.status);
    assert!(text.contains("stack backtrace"), "{text}");
}

#[test]
fn a_long_name_is_cut_off() {
    let output = child::run("overflows::a_long_name_is_cut_off", || {
        let label = FiberLabel { name: "long ".repeat(1000).leak(), ..LABEL };
        Fiber::<(), ()>::new(Stack::take(0).unwrap(), label, |()| overflow()).resume(());
    });
    assert_dies(output, libc::SIGABRT, "\nthe stack of long long long ");
}

#[test]
#[cfg_attr(coact_asan, ignore = "the sanitizer reports it, and exits")]
fn another_fault_on_a_fiber_ends_the_process() {
    let output = child::run("overflows::another_fault_on_a_fiber_ends_the_process", || {
        fiber::<(), ()>(|()| read_null()).resume(());
    });
    assert_dies(output, libc::SIGSEGV, "");
}

#[test]
#[cfg_attr(coact_asan, ignore = "the sanitizer reports it, and exits")]
fn a_fault_on_a_thread_ends_the_process() {
    let output = child::run("overflows::a_fault_on_a_thread_ends_the_process", || {
        fiber::<(), ()>(|()| {}).resume(());
        thread::spawn(read_null).join().unwrap();
    });
    assert_dies(output, libc::SIGSEGV, "");
}

#[test]
#[cfg_attr(coact_asan, ignore = "the sanitizer reports it, and exits")]
fn the_signal_from_a_process_ends_this_one() {
    let output = child::run("overflows::the_signal_from_a_process_ends_this_one", || {
        // Without a handler before ours, so that it is passed on to the system.
        // SAFETY: sets the default, and sends a signal to this process.
        unsafe {
            libc::signal(libc::SIGBUS, libc::SIG_DFL);
            fiber::<(), ()>(|()| {}).resume(());
            libc::kill(libc::getpid(), libc::SIGBUS);
            loop {
                libc::pause();
            }
        }
    });
    assert_dies(output, libc::SIGBUS, "");
}

#[test]
#[cfg_attr(coact_asan, ignore = "the sanitizer reports it, and exits")]
fn a_handler_from_before_is_called() {
    extern "C" fn handler(signal: libc::c_int) {
        let text = b"called\n";
        // SAFETY: a handler may call these; the bytes are those of the text.
        unsafe {
            libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
            libc::_exit(100 + signal);
        }
    }
    let output = child::run("overflows::a_handler_from_before_is_called", || {
        // SAFETY: the handler is of the type that goes without flags.
        unsafe { libc::signal(libc::SIGSEGV, handler as *const () as libc::sighandler_t) };
        fiber::<(), ()>(|()| read_null()).resume(());
    });
    let Some(output) = output else { return };
    assert_eq!(output.status.code(), Some(100 + libc::SIGSEGV));
    assert!(String::from_utf8_lossy(&output.stderr).contains("called\n"));
}

#[test]
#[cfg_attr(coact_asan, ignore = "the sanitizer reports it, and exits")]
fn an_overflow_of_a_thread_is_reported_as_ever() {
    let output = child::run("overflows::an_overflow_of_a_thread_is_reported_as_ever", || {
        let work = || {
            fiber::<(), ()>(|()| {}).resume(());
            overflow();
        };
        let builder = thread::Builder::new().name("deep".to_owned());
        builder.spawn(work).unwrap().join().unwrap();
    });
    // The name of the thread, and what the standard library says of it, which has varied.
    assert_dies(output, libc::SIGABRT, "overflow");
}

//! Functions on stacks of their own.

use std::any::Any;
use std::fmt::{self, Formatter};
use std::mem::{ManuallyDrop, align_of, forget, size_of};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::thread;

use corosensei::stack::{Stack as Ground, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::overflow;
use super::pool::PooledStack;
use super::running::{FiberRecord, RECORD_ROOM};
use super::sanitizer;
use super::stack::Stack;
use crate::label::FiberLabel;
use crate::resume_outcome::ResumeOutcome;

/// A larger function is in a box: it would take room on the stack, on which `corosensei` allows 1
/// KiB.
const MOST_IN_PLACE: usize = 512;

type PanicPayload = Box<dyn Any + Send>;

/// A function on a stack of its own, which [`suspend`](crate::suspend) can suspend anywhere. Each
/// [`resume`](Self::resume) gives it an `I`; it gives back an `O` when it is suspended.
///
/// A fiber stays on the thread that has made it:
///
/// ```compile_fail
/// fn send<T: Send>() {}
/// send::<coact_fiber::Fiber<(), ()>>();
/// ```
///
/// # When it is dropped
/// * If it has ended, its stack returns to the pool.
/// * If it has not begun, its function is dropped, with what that has captured.
/// * If it is suspended, its stack is unwound, as by a panic: what is on it is dropped, there and
///   then. The function can catch this, but not stop it: the next [`suspend`](crate::suspend) goes
///   on with it. The `drop` returns when the function has come to its end, and what it panics with
///   meanwhile is dropped.
/// * If it is suspended and the thread is panicking (which it also is while another fiber is
///   unwound), it is leaked, as [`forget`](Self::forget) does.
pub struct Fiber<I: 'static, O: 'static> {
    /// Dropped by hand, as it may have to be leaked.
    coroutine: ManuallyDrop<Coroutine<I, O, Result<(), PanicPayload>, StackBelowRecord>>,
    /// On the coroutine's stack, which stays until the coroutine is dropped. Also keeps the fiber
    /// from being sent.
    record: NonNull<FiberRecord>,
}

/// A stack without the room of the record at its top.
struct StackBelowRecord(PooledStack);

// SAFETY: what is between the addresses belongs to the stack, and to nothing else, since the pool
// hands it out once. Below are pages that fault. Both ends are aligned to 16 bytes, as pages and
// `RECORD_ROOM` are, and what is between them is more than 4 KiB: the smallest stack has 64 KiB, of
// which the record takes less than one.
unsafe impl Ground for StackBelowRecord {
    #[inline]
    fn base(&self) -> StackPointer {
        StackPointer::new(self.0.high() - RECORD_ROOM).expect("no stack is at address 0")
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        StackPointer::new(self.0.limit()).expect("no stack is at address 0")
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.0.system.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.0.system.update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

impl<I: 'static, O: 'static> Fiber<I, O> {
    /// Makes a fiber, whose function begins at the first [`resume`](Self::resume).
    ///
    /// On unix, the first call in the process installs handlers for `SIGSEGV` and `SIGBUS`, which
    /// report an overflow of a fiber's stack and pass everything else on to the handlers from
    /// before. The first call on a thread makes sure that it has a stack for signal handlers.
    ///
    /// Costs a few nanoseconds, and an allocation if `body` is larger than 512 bytes.
    pub fn new(stack: Stack, label: FiberLabel, body: impl FnOnce(I) + 'static) -> Self {
        const {
            assert!(
                cfg!(panic = "unwind"),
                "fibers are unwound when they are dropped: build with `panic = \"unwind\"`"
            );
        }
        overflow::prepare();
        if is_in_place(&body) {
            Self::on_stack(stack, label, body)
        } else {
            let body = Box::new(body);
            Self::on_stack(stack, label, body)
        }
    }

    fn on_stack(stack: Stack, label: FiberLabel, body: impl FnOnce(I) + 'static) -> Self {
        let record = FiberRecord::new::<I, O>(stack.pooled(), label);
        let ground = StackBelowRecord(stack.into_pooled());
        let coroutine = Coroutine::with_stack(ground, function(body));
        Self { coroutine: ManuallyDrop::new(coroutine), record }
    }

    /// Runs the fiber until it is suspended or ends.
    ///
    /// # Panics
    /// Panics with what its function panics with; the fiber has then ended. Panics if it has ended
    /// before.
    #[inline]
    #[track_caller]
    pub fn resume(&mut self, input: I) -> ResumeOutcome<O> {
        if self.has_ended() {
            refuse_ended();
        }
        let record = self.record();
        let switch = record.enter();
        // No panic can come out of this: `function` returns those of the body.
        let result = self.coroutine.resume(input);
        record.exit(switch);
        match result {
            CoroutineResult::Yield(output) => ResumeOutcome::Suspended(output),
            CoroutineResult::Return(Ok(())) => ResumeOutcome::Ended,
            CoroutineResult::Return(Err(payload)) => resume_unwind(payload),
        }
    }

    /// Returns whether its function has returned or panicked.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.coroutine.done()
    }

    /// Drops the fiber without unwinding its stack. Unless it has ended, the stack is leaked, with
    /// everything that is on it.
    pub fn forget(self) {
        if !self.has_ended() {
            forget(self);
        }
    }

    #[inline(always)]
    fn record<'a>(&self) -> &'a FiberRecord {
        // SAFETY: it was written when the fiber was made, and nothing but cells in it is changed.
        // The callers do not use it once the coroutine, which owns its memory, is dropped.
        unsafe { self.record.as_ref() }
    }

    /// Drops what is on the stack of the suspended fiber.
    #[cold]
    fn unwind(&mut self) {
        let record = self.record();
        record.unwind();
        let switch = record.enter();
        // No panic can come out of this, as in `resume`.
        self.coroutine.force_unwind();
        record.exit(switch);
    }
}

impl<I: 'static, O: 'static> Drop for Fiber<I, O> {
    fn drop(&mut self) {
        let has_begun = self.coroutine.started();
        if has_begun && !self.has_ended() {
            if thread::panicking() {
                return;
            }
            self.unwind();
        } else if !has_begun {
            // Drops the function. If a destructor panics, the stack is leaked; if it did so when
            // the coroutine is dropped, it would end the process.
            self.coroutine.force_unwind();
        }
        // SAFETY: this is the only place that drops it, and it is not used any more.
        unsafe { ManuallyDrop::drop(&mut self.coroutine) };
    }
}

impl<I: 'static, O: 'static> fmt::Debug for Fiber<I, O> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fiber").field("has_ended", &self.has_ended()).finish_non_exhaustive()
    }
}

/// Returns whether a function is stored on the stack of its fiber.
fn is_in_place<F>(_: &F) -> bool {
    size_of::<F>() <= MOST_IN_PLACE && align_of::<F>() <= 16
}

/// What the coroutine runs, the first frame on its stack. No panic leaves it, since
/// the steps behind the body must be done first.
fn function<I: 'static, O: 'static>(
    body: impl FnOnce(I) + 'static,
) -> impl FnOnce(&Yielder<I, O>, I) -> Result<(), PanicPayload> {
    move |yielder, input| {
        FiberRecord::begin(yielder, sanitizer::begun());
        let mut result = catch_unwind(AssertUnwindSafe(|| body(input)));
        let (outside, is_unwound) = FiberRecord::end();
        if is_unwound {
            drop_quietly(std::mem::replace(&mut result, Ok(())));
        }
        sanitizer::ending_for(outside);
        result
    }
}

/// Drops the outcome of a function that was unwound. A panic that panics when it is dropped is
/// leaked.
fn drop_quietly(result: Result<(), PanicPayload>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(result))) {
        forget(payload);
    }
}

#[cold]
#[track_caller]
fn refuse_ended() -> ! {
    panic!("the fiber has ended, and cannot be resumed");
}

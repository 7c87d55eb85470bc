//! The fibers that run on this thread, and how the innermost one is suspended.

use std::any::{Any, TypeId, type_name};
use std::cell::Cell;
use std::mem::offset_of;
use std::panic::resume_unwind;
use std::ptr::{self, NonNull};
use std::thread;

use coact_sync::current_stack::{self, StackState};
use corosensei::Yielder;

use super::pool::PooledStack;
use super::sanitizer::{self, StackRange, StackSwitch};
use crate::label::FiberLabel;

/// What is known of a fiber. It is at the top of the fiber's stack, and so stays in its place
/// wherever the [`Fiber`](super::fiber::Fiber) goes. The [state](StackState) of the stack is in it:
/// the innermost fiber is the one whose record has the [current](current_stack::current) one.
#[repr(C)]
pub(super) struct FiberRecord {
    // These four are what a switch uses. They share a cache line with what `corosensei` keeps
    // below.
    yielder: Cell<*const ()>,
    /// The types of its input and output, as `(I, O)`; while it is unwound, one that is never asked
    /// for.
    types: Cell<TypeId>,
    /// The stack that has resumed this one: the state of a fiber's, or null.
    outer: Cell<*const StackState>,
    /// The stack that it was resumed from, for the sanitizer.
    outside: Cell<StackRange>,
    /// The stack that it is suspended on: its own, or that of a fiber inside of it.
    inside: Cell<StackRange>,
    /// How often the stacks of the thread were pinned when it was resumed.
    pins: Cell<u32>,
    is_unwound: Cell<bool>,
    state: StackState,
    /// The lowest address of the guard below the stack, the lowest usable one, and the end.
    limit: usize,
    low: usize,
    high: usize,
    label: FiberLabel,
}

/// What a record takes at the top of a stack. It begins 16 bytes into a cache line, so that its
/// first fields share the line with the two words that `corosensei` keeps below it and uses in each
/// switch.
pub(super) const RECORD_ROOM: usize = (size_of::<FiberRecord>() + 16).next_multiple_of(64) - 16;

const _: () = assert!(align_of::<FiberRecord>() <= 16);

/// Stands for the types of a fiber that is being unwound.
struct UnwoundMarker;

impl FiberRecord {
    /// Writes the record of a fiber with inputs `I` and outputs `O` to the top of its stack.
    pub(super) fn new<I: 'static, O: 'static>(
        stack: &PooledStack,
        label: FiberLabel,
    ) -> NonNull<Self> {
        let (limit, low, high) = (stack.limit(), stack.low(), stack.high());
        let record = Self {
            yielder: Cell::new(ptr::null()),
            types: Cell::new(TypeId::of::<(I, O)>()),
            outer: Cell::new(ptr::null()),
            outside: Cell::new(StackRange::new(low, high)),
            inside: Cell::new(StackRange::new(low, high)),
            pins: Cell::new(0),
            is_unwound: Cell::new(false),
            state: StackState::new(),
            limit,
            low,
            high,
            label,
        };
        // SAFETY: the stack has the room: the smallest one is larger. What is in it is not in use
        // yet, and the place is aligned, as the top is to a page and the room to 16 bytes.
        unsafe {
            let place = stack.top().sub(RECORD_ROOM).cast::<Self>();
            place.write(record);
            place
        }
    }

    /// Makes this the innermost fiber. The caller switches to its stack next, and on return calls
    /// [`exit`](Self::exit).
    #[inline(always)]
    pub(super) fn enter(&self) -> StackSwitch {
        self.pins.set(current_stack::pins());
        // SAFETY: the record is on the stack of the fiber, to which the caller switches. The stack
        // of a fiber that has frames is kept, or leaked. (The pointer is to the whole record: see
        // `record_of`.)
        let outer = unsafe { current_stack::set_current(&raw const (*ptr::from_ref(self)).state) };
        self.outer.set(outer);
        sanitizer::leaving_for(self.inside.get())
    }

    /// Makes the fiber that has resumed this one the innermost again.
    #[inline(always)]
    pub(super) fn exit(&self, switch: StackSwitch) {
        self.inside.set(sanitizer::back(switch));
        // SAFETY: the thread is back on that stack, which `enter` has found to be the current one.
        unsafe { current_stack::set_current(self.outer.get()) };
    }

    /// Notes that the fiber, which is the innermost, has begun.
    pub(super) fn begin<I: 'static, O: 'static>(yielder: &Yielder<I, O>, outside: StackRange) {
        let record = innermost().expect("a fiber is entered before it begins");
        record.yielder.set(ptr::from_ref(yielder).cast());
        record.outside.set(outside);
    }

    /// Returns the stack that the innermost fiber was resumed from, and whether it is being
    /// unwound.
    pub(super) fn end() -> (StackRange, bool) {
        let record = innermost().expect("a fiber ends as the innermost one");
        (record.outside.get(), record.is_unwound.get())
    }

    /// Lets the next switch to the fiber unwind it, and every attempt to suspend it again.
    pub(super) fn unwind(&self) {
        self.is_unwound.set(true);
        self.types.set(TypeId::of::<UnwoundMarker>());
    }

    #[inline(always)]
    fn is_of<I: 'static, O: 'static>(&self) -> bool {
        self.types.get() == TypeId::of::<(I, O)>()
    }

    /// Suspends the fiber, from its own stack or that of a fiber inside of it.
    ///
    /// # Safety
    /// The fiber runs on this thread, is of these types, and has begun.
    #[inline(always)]
    unsafe fn suspend<I: 'static, O: 'static>(&self, output: O) -> I {
        /// Tells the sanitizer of the return, even if the fiber is unwound from here.
        struct LeaveGuard<'a>(Option<StackSwitch>, &'a FiberRecord);
        impl Drop for LeaveGuard<'_> {
            #[inline(always)]
            fn drop(&mut self) {
                if let Some(switch) = self.0.take() {
                    self.1.outside.set(sanitizer::back(switch));
                }
            }
        }
        // SAFETY: `begin` has set it to a yielder of the same types, which exists until the fiber's
        // function has returned. That has not: it is below on this stack.
        let yielder = unsafe { &*self.yielder.get().cast::<Yielder<I, O>>() };
        let _left = LeaveGuard(Some(sanitizer::leaving_for(self.outside.get())), self);
        yielder.suspend(output)
    }

    /// How the fiber is called, and the size and the guard of its stack.
    #[cfg(unix)]
    fn stack(&self) -> RunningStack {
        let Self { limit, low, high, label, .. } = *self;
        RunningStack { guard: limit..low, size: high - low, label }
    }
}

/// The stack that the thread is on, for the report of an overflow.
#[cfg(unix)]
pub(super) struct RunningStack {
    pub(super) guard: std::ops::Range<usize>,
    pub(super) size: usize,
    pub(super) label: FiberLabel,
}

/// Returns the stack of the fiber that runs on this thread, if there is one. A signal handler may
/// call this.
#[cfg(unix)]
pub(super) fn running_stack() -> Option<RunningStack> {
    innermost().map(FiberRecord::stack)
}

/// Returns the record of the innermost fiber. It must not be used beyond the end of that fiber.
#[inline(always)]
fn innermost<'a>() -> Option<&'a FiberRecord> {
    // SAFETY: what is current is null or from `enter`, as nothing else sets it. It is current from
    // `enter` to `exit`, and meanwhile the fiber's owner is in `resume` or `drop` and keeps the
    // stack that has the record.
    unsafe { record_of(current_stack::current()) }
}

/// Returns the record that has this state; `None` for the thread's own stack.
///
/// # Safety
/// The state is null, or comes from [`FiberRecord::enter`] and its record is still there.
#[inline(always)]
unsafe fn record_of<'a>(state: *const StackState) -> Option<&'a FiberRecord> {
    if state.is_null() {
        return None;
    }
    // SAFETY: `enter` has made the pointer from one to the record, whose fields are changed in
    // cells only.
    Some(unsafe { &*state.byte_sub(offset_of!(FiberRecord, state)).cast() })
}

/// Returns the innermost fiber that has these types.
fn enclosing<'a, I: 'static, O: 'static>() -> Option<&'a FiberRecord> {
    let mut next = innermost();
    while let Some(record) = next.filter(|record| !record.is_of::<I, O>()) {
        // SAFETY: the fiber that has resumed one which runs is running, too; see `innermost`.
        next = unsafe { record_of(record.outer.get()) };
    }
    next
}

/// Suspends the innermost fiber of this thread: the [`resume`](crate::Fiber::resume) that has it
/// run returns `output`. Returns the input of the `resume` that follows.
///
/// Costs a few nanoseconds, and so does [`resume`](crate::Fiber::resume).
///
/// ```
/// # if !coact_fiber::IS_SUPPORTED { return Ok(()) }
/// # use coact_fiber::{Fiber, FiberLabel, ResumeOutcome, Stack, suspend};
/// let label = FiberLabel { name: "echo", number: 0, advice: "" };
/// let mut echo = Fiber::new(Stack::take(16 * 1024)?, label, |mut heard: String| loop {
///     heard = suspend(heard);
/// });
/// assert_eq!(echo.resume("hello".to_owned()), ResumeOutcome::Suspended("hello".to_owned()));
/// assert_eq!(echo.resume("world".to_owned()), ResumeOutcome::Suspended("world".to_owned()));
/// # Ok::<(), coact_fiber::StackError>(())
/// ```
///
/// # Panics
/// Panics if no fiber runs on this thread, if the innermost one has other types than `I` and `O`,
/// or if the thread is panicking: what runs on the thread meanwhile would count that panic for its
/// own. Panics inside of a call that [pins](coact_sync::current_stack::StackPin) its stack: what it
/// has changed of the thread, it undoes when it returns.
///
/// If the fiber is dropped while it is suspended, this unwinds its stack (see
/// [`Fiber`](crate::Fiber)).
// A switch changes all registers. Inlined, it does not save those a second time that its caller has
// saved: 15 instructions of 49.
#[inline(always)]
#[track_caller]
pub fn suspend<I: 'static, O: 'static>(output: O) -> I {
    let Some(record) = innermost().filter(|record| record.is_of::<I, O>()) else {
        refuse::<I, O>();
    };
    if thread::panicking() {
        refuse_in_panic();
    }
    if current_stack::pins() != record.pins.get() {
        refuse_while_pinned();
    }
    // SAFETY: it is running and has these types. The caller is on its stack, so it has begun.
    unsafe { record.suspend(output) }
}

/// Suspends the innermost fiber of these types, with all that run inside of it, also while the
/// thread is panicking. For the simulator, which has fibers that resume others, and accounts for
/// panics.
///
/// # Panics
/// Panics if there is no such fiber.
#[doc(hidden)]
#[track_caller]
pub fn suspend_enclosing<I: 'static, O: 'static>(output: O) -> I {
    /// Makes this fiber the innermost again, even if it is unwound from here.
    struct InnermostGuard(*const StackState);
    impl Drop for InnermostGuard {
        fn drop(&mut self) {
            // SAFETY: the thread is back on that stack, or unwinds it.
            unsafe { current_stack::set_current(self.0) };
        }
    }
    let Some(record) = enclosing::<I, O>() else { refuse::<I, O>() };
    let _inner = InnermostGuard(current_stack::current());
    // SAFETY: it is running, as it is or encloses the innermost, and has these types. It has begun:
    // the caller is on its stack, or on that of a fiber that was resumed from there.
    unsafe { record.suspend(output) }
}

/// Returns whether a fiber of these types runs on this thread, whether or not it is the innermost.
#[doc(hidden)]
pub fn is_enclosed<I: 'static, O: 'static>() -> bool {
    enclosing::<I, O>().is_some()
}

/// Returns whether a fiber is running on this thread.
///
/// ```
/// assert!(!coact_fiber::is_in_fiber());
/// ```
#[inline]
pub fn is_in_fiber() -> bool {
    !current_stack::current().is_null()
}

/// Returns how many bytes are left on the stack of the innermost fiber, or `None` outside of
/// fibers.
///
/// ```
/// # if !coact_fiber::IS_SUPPORTED { return Ok(()) }
/// # use coact_fiber::{Fiber, FiberLabel, Stack, remaining_stack};
/// let label = FiberLabel { name: "gauge", number: 0, advice: "" };
/// let mut gauge = Fiber::<(), ()>::new(Stack::take(64 * 1024)?, label, |()| {
///     let left = remaining_stack().unwrap();
///     assert!(left > 32 * 1024 && left < 64 * 1024);
/// });
/// gauge.resume(());
/// assert_eq!(remaining_stack(), None);
/// # Ok::<(), coact_fiber::StackError>(())
/// ```
pub fn remaining_stack() -> Option<usize> {
    innermost().map(|record| stack_pointer().saturating_sub(record.low))
}

/// Returns the stack pointer, about.
#[inline(always)]
fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: reads a register.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let here = 0_u8;
        pointer = ptr::from_ref(std::hint::black_box(&here)).addr();
    }
    pointer
}

/// Why the innermost fiber cannot be suspended: it is being unwound, it has other types, or there
/// is none.
#[cold]
#[track_caller]
fn refuse<I: 'static, O: 'static>() -> ! {
    let Some(record) = innermost() else {
        panic!("only a fiber can be suspended, and none runs on this thread");
    };
    if record.is_unwound.get() {
        unwind_again();
    }
    let FiberLabel { name, number, .. } = record.label;
    let (input, output) = (type_name::<I>(), type_name::<O>());
    panic!(
        "the fiber {name} #{number} was made with other types than those it was to be suspended with, \
         which are `{input}` for its input and `{output}` for its output"
    );
}

/// Unwinds a fiber that was to be unwound, has caught that, and was to be suspended again.
fn unwind_again() -> ! {
    let payload: Box<dyn Any + Send> = Box::new(UnwoundMarker);
    resume_unwind(payload)
}

#[cold]
#[track_caller]
fn refuse_in_panic() -> ! {
    panic!(
        "a fiber cannot be suspended while its thread is panicking: what runs next on the thread would \
         count that panic for its own"
    );
}

#[cold]
#[track_caller]
fn refuse_while_pinned() -> ! {
    panic!(
        "a fiber cannot be suspended inside of a call that changes the state of its thread until it \
         returns: what runs next on the thread would get that state"
    );
}

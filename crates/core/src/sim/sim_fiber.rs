//! Fibers: parts of the program on stacks of their own, which can be suspended anywhere.

use crate::current;
use crate::drop_depth::DestructorStack;
use std::fmt::{self, Display};
use std::mem::{self, ManuallyDrop};
use std::panic::Location;

use coact_fiber::{
    DEFAULT_STACK_SIZE, FiberLabel, ResumeOutcome, Stack, is_enclosed, suspend_enclosing,
};

use crate::runtime_ids::RuntimeId;
use crate::sched::runtime_shared::RuntimeShared;
use crate::task::{TaskPtr, name_of};

/// Why a fiber was suspended.
pub(super) enum SuspendReason {
    /// At a scheduling point: it can resume at any time.
    AtPoint,
    /// It can resume once the condition holds. The condition and its description are on the fiber's
    /// stack, which stays unchanged until the fiber is resumed.
    Until(*const dyn Fn() -> bool, FiberWait),
    /// It has ended.
    Ended,
}

/// What a fiber waits for, and where.
#[derive(Clone, Copy)]
pub(super) struct FiberWait {
    pub(super) what: *const dyn Display,
    pub(super) at: &'static Location<'static>,
}

/// What a fiber runs, for reports.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FiberSubject {
    Main,
    /// A simulated thread, started here.
    Thread(&'static Location<'static>),
    /// A blocking job, by the name of its type.
    Blocking(&'static str),
    /// A task, by the name of its type, and the name of its runtime.
    Task(&'static str, &'static str),
}

impl FiberSubject {
    /// Describes a ready task.
    pub(super) fn task(task: TaskPtr, home: &'static RuntimeShared) -> Self {
        // SAFETY: the task is ready.
        let name = unsafe { name_of(task) };
        Self::Task(name(), &home.config.name)
    }

    /// Names it in the report of an overflow. The size of the stacks cannot be changed.
    fn label(self) -> FiberLabel {
        let name = match self {
            Self::Main => "the main program of a simulation",
            Self::Thread(_) => "a simulated thread",
            Self::Blocking(name) | Self::Task(name, _) => name,
        };
        FiberLabel { name, number: 0, advice: "" }
    }
}

impl Display for FiberSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.write_str("the main program"),
            Self::Thread(at) => write!(f, "the thread of {at}"),
            Self::Blocking(job) => write!(f, "the blocking job `{job}`"),
            Self::Task(name, runtime) => write!(f, "`{name}` on runtime `{runtime}`"),
        }
    }
}

pub(super) struct SimFiber {
    /// Leaked, with its stack, if the fiber is dropped before its end: unwinding it would run
    /// destructors in the middle of a failed run, whose calls could not be simulated.
    fiber: ManuallyDrop<coact_fiber::Fiber<(), SuspendReason>>,
    context: FiberState,
    /// The runtime whose task it runs, unless it is a plain thread.
    pub(super) body_of: Option<RuntimeId>,
    pub(super) who: FiberSubject,
    /// The cell of the promise that it completes at its end, if it is a thread.
    pub(super) keeps: Option<usize>,
    /// Whether it was suspended in the middle of a panic.
    pub(super) in_panic: bool,
    until: Option<(*const dyn Fn() -> bool, FiberWait)>,
}

/// The state of the layers below for the thread that a fiber simulates.
#[derive(Default)]
struct FiberState {
    thread: current::ThreadState,
    destructors: DestructorStack,
}

impl FiberState {
    /// Installs this state for the current thread, and returns the previous one.
    fn swap_in(self) -> Self {
        Self { thread: self.thread.swap_in(), destructors: self.destructors.swap_in() }
    }
}

impl SimFiber {
    pub(super) fn new(
        body_of: Option<RuntimeId>,
        who: FiberSubject,
        keeps: Option<usize>,
        main: Box<dyn FnOnce()>,
    ) -> Self {
        let stack = Stack::take(DEFAULT_STACK_SIZE).unwrap_or_else(|error| panic!("{error}"));
        let fiber = coact_fiber::Fiber::new(stack, who.label(), |()| main());
        let (fiber, context) = (ManuallyDrop::new(fiber), FiberState::default());
        Self { fiber, context, body_of, who, keeps, in_panic: false, until: None }
    }

    /// Resumes the fiber until it is suspended again.
    pub(super) fn resume(&mut self) -> SuspendReason {
        /// Restores the thread's state, even if a panic comes out of the fiber, and saves the
        /// fiber's.
        struct OutsideState<'a> {
            context: Option<FiberState>,
            fiber: &'a mut FiberState,
        }
        impl Drop for OutsideState<'_> {
            fn drop(&mut self) {
                *self.fiber = self.context.take().expect("taken once").swap_in();
            }
        }
        let context = mem::take(&mut self.context);
        let outside = OutsideState { context: Some(context.swap_in()), fiber: &mut self.context };
        let left = match self.fiber.resume(()) {
            ResumeOutcome::Suspended(left) => left,
            ResumeOutcome::Ended => SuspendReason::Ended,
        };
        drop(outside);
        self.until = match left {
            SuspendReason::Until(condition, wait) => Some((condition, wait)),
            _ => None,
        };
        left
    }

    /// Returns whether it waits as the stack of an actor does, which may wait for ever.
    pub(super) fn waits_idly(&self) -> bool {
        self.context.thread.waits_idly
    }

    /// Returns the stack of a fiber that has ended to the pool.
    pub(super) fn recycle(self) {
        drop(ManuallyDrop::into_inner(self.fiber));
    }

    /// Returns whether it could resume now.
    pub(super) fn can_go_on(&self) -> bool {
        // SAFETY: the condition is on the stack of the fiber, which is suspended in `leave`.
        self.until.is_none_or(|(condition, _)| unsafe { (*condition)() })
    }

    /// Returns where it waits.
    pub(super) fn waits_at(&self) -> Option<&'static Location<'static>> {
        self.until.map(|(_, wait)| wait.at)
    }

    /// Returns where it waits, and for what.
    pub(super) fn wait(&self) -> Option<(&'static Location<'static>, &dyn Display)> {
        // SAFETY: the description is on the stack of the fiber, which is suspended in `leave`.
        self.until.map(|(_, wait)| (wait.at, unsafe { &*wait.what }))
    }
}

/// Returns whether a fiber is running, and not the engine itself.
pub(super) fn is_in_fiber() -> bool {
    is_enclosed::<(), SuspendReason>()
}

/// Suspends the running fiber; returns when it is resumed. Also in the middle of a panic, and if
/// what runs on the fiber has resumed one of its own.
pub(super) fn leave(left: SuspendReason) {
    suspend_enclosing::<(), SuspendReason>(left);
}

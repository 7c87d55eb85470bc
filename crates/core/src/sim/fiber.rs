//! A piece of the program on a stack of its own, that can be left in the middle.

use crate::current;
use crate::depth::Destructors;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Display};
use std::mem::{self, ManuallyDrop};
use std::panic::Location;
use std::ptr;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::ids::RuntimeId;
use crate::sched::shared::Shared;
use crate::sim::sanitizer::{self, StackRange};
use crate::task::TaskPtr;

/// Enough for test programs that format and print.
const STACK_BYTES: usize = 256 * 1024;

/// Why a fiber was left.
pub(super) enum Left {
    /// At a scheduling point: it can go on at any time.
    AtPoint,
    /// It can go on once the condition holds. The condition, and what is said of it, lie on the fiber's
    /// stack, which stays as it is until the fiber is resumed.
    Until(*const dyn Fn() -> bool, Wait),
    /// It has ended.
    Ended,
}

/// What a fiber waits for, and where.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    pub(super) what: *const dyn Display,
    pub(super) at: &'static Location<'static>,
}

/// What a fiber is, for people.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Main,
    /// Begun here.
    Thread(&'static Location<'static>),
    /// A blocking job, by the name of its type.
    Blocking(&'static str),
    /// A task, by the name of its type, and the name of its runtime.
    Task(&'static str, &'static str),
}

impl Who {
    /// That of a ready task.
    pub(super) fn task(task: TaskPtr, home: &'static Shared) -> Self {
        // SAFETY: a ready task is live, and begins with its header.
        let vtable = unsafe { task.as_ref() }.vtable;
        Self::Task((vtable.name)(), &home.config.name)
    }
}

impl Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.write_str("the main program"),
            Self::Thread(at) => write!(f, "the thread of {at}"),
            Self::Blocking(job) => write!(f, "the blocking job `{job}`"),
            Self::Task(name, runtime) => write!(f, "`{name}` on runtime `{runtime}`"),
        }
    }
}

pub(super) struct Fiber {
    /// Lost, with its stack, if the fiber is dropped before its end: to unwind that would be to run destructors in the
    /// middle of a failed run, whose calls nobody could simulate.
    coroutine: ManuallyDrop<Coroutine<(), Left, ()>>,
    stack: StackRange,
    context: Snapshot,
    /// The runtime of which it runs a task, if it is no plain thread.
    pub(super) body_of: Option<RuntimeId>,
    pub(super) who: Who,
    /// The cell of the promise that is kept at its end, if it is a thread.
    pub(super) keeps: Option<usize>,
    /// Whether it was left in the middle of a panic.
    pub(super) in_panic: bool,
    until: Option<(*const dyn Fn() -> bool, Wait)>,
}

/// What the layers below know of the thread that a fiber simulates.
#[derive(Default)]
struct Snapshot {
    thread: current::Snapshot,
    destructors: Destructors,
}

impl Snapshot {
    /// Makes this what they know of the current thread, and returns what that was.
    fn swap_in(self) -> Self {
        Self { thread: self.thread.swap_in(), destructors: self.destructors.swap_in() }
    }
}

thread_local! {
    static YIELDER: Cell<*const Yielder<(), Left>> = const { Cell::new(ptr::null()) };
    /// The stack from which the fiber was resumed.
    static OUTSIDE: Cell<StackRange> = const { Cell::new((0, 0)) };
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

impl Fiber {
    pub(super) fn new(
        body_of: Option<RuntimeId>,
        who: Who,
        keeps: Option<usize>,
        main: Box<dyn FnOnce()>,
    ) -> Self {
        let stack = STACKS.with_borrow_mut(Vec::pop);
        let stack = stack.unwrap_or_else(|| {
            DefaultStack::new(STACK_BYTES).expect("the system has no memory for a fiber's stack")
        });
        let (low, high) = (stack.limit().get(), stack.base().get());
        let place = (low, high - low);
        sanitizer::cleared(place);
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), Left>, ()| {
            OUTSIDE.set(sanitizer::begun());
            YIELDER.set(yielder);
            main();
            sanitizer::ending_for(OUTSIDE.get());
        });
        let coroutine = ManuallyDrop::new(coroutine);
        let context = Snapshot::default();
        Self { coroutine, stack: place, context, body_of, who, keeps, in_panic: false, until: None }
    }

    /// Goes on until the fiber is left again.
    pub(super) fn resume(&mut self) -> Left {
        /// Puts back what the thread was, even if a panic comes out of the fiber, and keeps what the fiber is.
        struct Outside<'a> {
            context: Option<Snapshot>,
            yielder: *const Yielder<(), Left>,
            place: StackRange,
            fiber: &'a mut Snapshot,
        }
        impl Drop for Outside<'_> {
            fn drop(&mut self) {
                *self.fiber = self.context.take().expect("taken once").swap_in();
                YIELDER.set(self.yielder);
                OUTSIDE.set(self.place);
            }
        }
        let context = mem::take(&mut self.context);
        let outside = Outside {
            context: Some(context.swap_in()),
            yielder: YIELDER.get(),
            place: OUTSIDE.get(),
            fiber: &mut self.context,
        };
        let switch = sanitizer::leaving_for(self.stack);
        let left = match self.coroutine.resume(()) {
            CoroutineResult::Yield(left) => left,
            CoroutineResult::Return(()) => Left::Ended,
        };
        sanitizer::back(switch);
        drop(outside);
        self.until = match left {
            Left::Until(condition, wait) => Some((condition, wait)),
            _ => None,
        };
        left
    }

    /// Keeps the stack of a fiber that has ended for another one.
    pub(super) fn recycle(self) {
        let stack = ManuallyDrop::into_inner(self.coroutine).into_stack();
        STACKS.with_borrow_mut(|stacks| stacks.push(stack));
    }

    /// Whether it could go on now.
    pub(super) fn can_go_on(&self) -> bool {
        // SAFETY: the condition lies on the stack of the fiber, which is suspended in `leave`.
        self.until.is_none_or(|(condition, _)| unsafe { (*condition)() })
    }

    /// Where it waits, and for what.
    pub(super) fn wait(&self) -> Option<(&'static Location<'static>, &dyn Display)> {
        // SAFETY: what is said lies on the stack of the fiber, which is suspended in `leave`.
        self.until.map(|(_, wait)| (wait.at, unsafe { &*wait.what }))
    }
}

/// Whether a fiber runs now, and not the engine itself.
pub(super) fn is_in_fiber() -> bool {
    !YIELDER.get().is_null()
}

/// Leaves the fiber that runs now; returns when it is resumed.
pub(super) fn leave(left: Left) {
    let yielder = YIELDER.get();
    assert!(!yielder.is_null(), "only a fiber can be left");
    let switch = sanitizer::leaving_for(OUTSIDE.get());
    // SAFETY: set when the fiber began, and set again each time it goes on; a yielder lives as long
    // as its fiber runs.
    unsafe { (*yielder).suspend(left) };
    OUTSIDE.set(sanitizer::back(switch));
    YIELDER.set(yielder);
}

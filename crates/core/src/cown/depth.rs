//! How deep destructors of states lie on one stack: a cown's state may own the last handle of
//! another cown, and that of the next, a hundred thousand times over.
//!
//! Up to [`MAX_NESTED`] states are dropped inside of each other, as with `Box`. What lies deeper is
//! put aside, and dropped by the outermost of them in a loop.

use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

use coact_sync::shim::atomic::Ordering;

use crate::behaviour::task::{Mode, RunContext, TaskPtr, run_task};
use crate::runtime::RuntimeId;

/// How many destructors of states may lie on top of each other on one stack.
const MAX_NESTED: u32 = 32;

thread_local! {
    // Without destructors of their own, so that the states of other thread-locals can use them.
    static NESTED: Cell<u32> = const { Cell::new(0) };
    /// The newest task that was put aside; each links to the one before it.
    static ASIDE: Cell<*mut ()> = const { Cell::new(null_mut()) };
}

/// One destructor of a state that runs on this stack.
pub(super) struct Depth(());

impl Depth {
    /// `None` if the stack is deep enough: the caller has to [`put_aside`] what it wanted to do.
    #[inline]
    pub(super) fn enter() -> Option<Self> {
        let nested = NESTED.get();
        (nested < MAX_NESTED).then(|| {
            NESTED.set(nested + 1);
            Self(())
        })
    }
}

impl Drop for Depth {
    #[inline]
    fn drop(&mut self) {
        if NESTED.get() == 1 && !ASIDE.get().is_null() {
            finish();
        }
        NESTED.set(NESTED.get() - 1);
    }
}

/// Leaves a task that drops a state to the outermost destructor on this stack.
///
/// # Safety
/// The task is ready and the caller's to give away, and [`Depth::enter`] has just refused.
#[cold]
pub(super) unsafe fn put_aside(task: TaskPtr) {
    // SAFETY: a ready task is live, and its link is ours until it runs.
    let link = unsafe { (task.as_ref().vtable.link)(task).as_ref() };
    // ORDERING: Relaxed, here and in `finish`: the list never leaves the thread.
    link.store(ASIDE.replace(task.as_ptr().cast()), Ordering::Relaxed);
}

/// Runs what was put aside, and what is put aside meanwhile. The caller counts as nested, so that
/// none of it does the same.
#[cold]
fn finish() {
    let context = RunContext { home: RuntimeId::NONE, mode: Mode::Run };
    while let Some(task) = NonNull::new(ASIDE.get()) {
        let task: TaskPtr = task.cast();
        // SAFETY: on the list, so ready and ours, with its link; it is taken off before it runs.
        unsafe {
            let link = (task.as_ref().vtable.link)(task).as_ref();
            ASIDE.set(link.load(Ordering::Relaxed));
            run_task(task, &context);
        }
    }
}

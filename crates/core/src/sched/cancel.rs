//! Tasks that run without their bodies, since their runtime is past its deadline.

use std::cell::Cell;
use std::ptr::null;

use super::shared::Shared;
use crate::current::{Cancelling, Entered};
use crate::ids::RuntimeId;
use crate::task::{Mode, RunContext, TaskPtr, run_task};

impl Shared {
    /// Runs what is left in the inboxes of a stopped runtime, without the bodies. What that leads to, a
    /// promise's next behaviour for instance, is left to the outermost such call of this stack.
    pub(crate) fn cancel_inboxes(&self) {
        Emptying::once(self.id, || {
            while self.has_tasks_in_inboxes() {
                for worker in &self.workers {
                    for task in worker.inbox.take_all() {
                        // SAFETY: ready, and taken by us alone.
                        unsafe { self.cancel(task) };
                    }
                }
            }
        });
    }

    /// Runs a task, and those that follow it, without their bodies.
    ///
    /// # Safety
    /// The task is ready, and the caller's.
    pub(crate) unsafe fn cancel(&self, task: TaskPtr) {
        let context = RunContext::new(self.id, Mode::Cancel);
        let _cancelling = Cancelling::enter();
        // Destructors, and whoever is told, belong to this runtime.
        let _entered = Entered::new(self.id);
        let mut task = Some(task);
        while let Some(ready) = task {
            // SAFETY: by the caller's word, and that of the task for its successor.
            task = unsafe { run_task(ready, &context) };
        }
    }
}

#[cfg(not(all(test, loom)))]
thread_local! {
    /// The innermost. Without a destructor, for those of other thread-locals.
    static EMPTYING: Cell<*const Emptying> = const { Cell::new(null()) };
}

#[cfg(all(test, loom))]
::loom::thread_local! {
    static EMPTYING: Cell<*const Emptying> = Cell::new(null());
}

/// A runtime whose inboxes this thread empties, somewhere on its stack. There is one for each runtime at the
/// most, so the stack is bounded.
struct Emptying {
    runtime: RuntimeId,
    outer: *const Emptying,
}

impl Emptying {
    /// Calls `empty`, unless a call for the same runtime is on this stack.
    fn once(runtime: RuntimeId, empty: impl FnOnce()) {
        let this = Self { runtime, outer: EMPTYING.with(Cell::get) };
        if this.is_nested() {
            return;
        }
        // It is not moved before it is dropped, which takes it off the list.
        EMPTYING.with(|innermost| innermost.set(&raw const this));
        empty();
    }

    fn is_nested(&self) -> bool {
        // SAFETY: whoever is in the list lies farther out on this stack, and takes itself off before it goes.
        let mut outer = unsafe { self.outer.as_ref() };
        while let Some(one) = outer {
            if one.runtime == self.runtime {
                return true;
            }
            // SAFETY: as above.
            outer = unsafe { one.outer.as_ref() };
        }
        false
    }
}

impl Drop for Emptying {
    fn drop(&mut self) {
        EMPTYING.with(|innermost| innermost.set(self.outer));
    }
}

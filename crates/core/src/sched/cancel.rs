//! Runs tasks without their bodies, for runtimes past their deadline.

use std::cell::Cell;
use std::ptr::null;
use std::sync::atomic::Ordering;

use coact_sync::current_stack::StackPin;
use smallvec::SmallVec;

use super::external_threads;
use super::runtime_shared::{self, RuntimeShared};
use crate::current::{self, CancelMark, EnteredRuntime};
use crate::runtime_ids::RuntimeId;
use crate::task::{RunContext, RunMode, TaskPtr, run_task};

impl RuntimeShared {
    /// Runs what is left in the inboxes of a stopped runtime, without the bodies. What that leads
    /// to, such as a promise's next behaviour, is left to the outermost such call on this stack.
    pub(crate) fn cancel_inboxes(&self) {
        EmptiedRuntime::once(self.id, || {
            while self.has_tasks_in_inboxes() {
                for worker in &self.workers {
                    for task in worker.inbox.take_all() {
                        // SAFETY: the task is ready, and this thread has taken it.
                        unsafe { self.cancel(task) };
                    }
                }
            }
        });
    }

    /// Runs a task, and those that follow it, without their bodies.
    ///
    /// # Safety
    /// The task is ready, and the caller owns it.
    pub(crate) unsafe fn cancel(&self, task: TaskPtr) {
        let context = RunContext::new(self.id, RunMode::Cancel);
        let others = self.others_at_work();
        let _cancelling = CancelMark::enter();
        // Destructors and wakers that run here belong to this runtime.
        let _entered = EnteredRuntime::new(self.id);
        let mut task = Some(task);
        while let Some(ready) = task {
            // SAFETY: the caller owns the ready task, and each successor is ready and owned by this
            // thread.
            task = unsafe { run_task(ready, &context) };
            // ORDERING: Relaxed. It only shows that something happens.
            self.cancelled.fetch_add(1, Ordering::Relaxed);
            for other in &others {
                other.cancelled.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Returns the other runtimes whose shutdowns may be waiting for this thread.
    fn others_at_work(&self) -> SmallVec<[&'static RuntimeShared; 2]> {
        let mut others = SmallVec::<[&RuntimeShared; 2]>::new();
        let mut add = |id: RuntimeId| {
            let other = runtime_shared::find(id).filter(|other| other.id != self.id);
            others.extend(other);
        };
        match current::worker() {
            Some(worker) => add(worker.home()),
            None => add(current::entered()),
        }
        external_threads::own_runtimes(&mut add);
        others
    }
}

#[cfg(not(all(test, loom)))]
thread_local! {
    /// The innermost. Without a destructor, so that those of other thread-locals can use it.
    static EMPTYING: Cell<*const EmptiedRuntime> = const { Cell::new(null()) };
}

#[cfg(all(test, loom))]
::loom::thread_local! {
    static EMPTYING: Cell<*const EmptiedRuntime> = Cell::new(null());
}

/// A runtime whose inboxes this thread is emptying, somewhere on its stack. There is at most one
/// per runtime, so the depth of the stack is bounded.
struct EmptiedRuntime {
    runtime: RuntimeId,
    outer: *const EmptiedRuntime,
}

impl EmptiedRuntime {
    /// Calls `empty`, unless a call for the same runtime is on this stack.
    fn once(runtime: RuntimeId, empty: impl FnOnce()) {
        let this = Self { runtime, outer: EMPTYING.with(Cell::get) };
        if this.is_nested() {
            return;
        }
        // Entries are taken off in the reverse order: no fiber is suspended in between.
        let _pinned = StackPin::new();
        // It does not move before it is dropped, which takes it off the list.
        EMPTYING.with(|innermost| innermost.set(&raw const this));
        empty();
    }

    fn is_nested(&self) -> bool {
        // SAFETY: entries of the list are farther out on this stack, and leave the list before they
        // are dropped.
        let mut outer = unsafe { self.outer.as_ref() };
        while let Some(one) = outer {
            if one.runtime == self.runtime {
                return true;
            }
            // SAFETY: entries of the list are farther out on this stack, and leave the list before
            // they are dropped.
            outer = unsafe { one.outer.as_ref() };
        }
        false
    }
}

impl Drop for EmptiedRuntime {
    fn drop(&mut self) {
        EMPTYING.with(|innermost| innermost.set(self.outer));
    }
}

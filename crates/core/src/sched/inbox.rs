//! The inbox in which threads that are not workers of the runtime leave ready tasks: a lock-free
//! stack that is only ever taken as a whole (so there is no ABA), and reversed into the order of
//! arrival.

use std::ptr::{NonNull, null_mut};

use coact_sync::shim::atomic::{AtomicPtr, Ordering};

use crate::task::{Task, TaskPtr};

#[derive(Default)]
pub(crate) struct Inbox {
    top: AtomicPtr<Task>,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self { top: AtomicPtr::new(null_mut()) }
    }

    /// Adds a task.
    ///
    /// # Safety
    /// The task is ready, and the caller owns it and gives it away.
    pub(crate) unsafe fn push(&self, task: TaskPtr) {
        // SAFETY: the caller owns the ready task and gives it away.
        unsafe { self.push_all(std::iter::once(task)) };
    }

    /// Adds several tasks, oldest first, at the cost of one.
    ///
    /// # Safety
    /// The tasks are ready, and the caller owns them and gives them away.
    pub(crate) unsafe fn push_all(&self, tasks: impl IntoIterator<Item = TaskPtr>) {
        let mut tasks = tasks.into_iter();
        let Some(oldest) = tasks.next() else { return };
        let mut newest = oldest;
        for task in tasks {
            // SAFETY: a ready task is live, and its owner may use its link until it runs.
            let link = unsafe { (task.as_ref().vtable.link)(task).as_ref() };
            // ORDERING: Relaxed. The exchange below publishes it.
            link.store(newest.as_ptr().cast(), Ordering::Relaxed);
            newest = task;
        }
        // SAFETY: a ready task is live, and its owner may use its link until it runs.
        let link = unsafe { (oldest.as_ref().vtable.link)(oldest).as_ref() };
        // ORDERING: Relaxed. Only compared and stored, never dereferenced here.
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // ORDERING: Relaxed. The exchange below publishes it.
            link.store(top.cast(), Ordering::Relaxed);
            // ORDERING: Release publishes the task and its link to `take_all`. Relaxed on failure:
            // the value is only compared and stored.
            let (ok, failed) = (Ordering::Release, Ordering::Relaxed);
            match self.top.compare_exchange_weak(top, newest.as_ptr(), ok, failed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Returns whether there is nothing to take; a hint.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: Relaxed. A hint; a caller that must not miss a task puts a barrier before it.
        self.top.load(Ordering::Relaxed).is_null()
    }

    /// Takes everything, oldest first.
    pub(crate) fn take_all(&self) -> DrainedTasks {
        if self.is_empty() {
            return DrainedTasks(null_mut());
        }
        // ORDERING: Acquire pairs with the Release of each push: a later push continues the release
        // sequence of the previous one (being a read-modify-write), so all of them are visible.
        let mut newest = self.top.swap(null_mut(), Ordering::Acquire);
        let mut oldest = null_mut();
        while let Some(task) = NonNull::new(newest) {
            // SAFETY: the task was taken off the stack, so this thread owns it and its link.
            let link = unsafe { (task.as_ref().vtable.link)(task).as_ref() };
            // ORDERING: Relaxed, all three, here and in `DrainedTasks`. This thread owns the links
            // now.
            newest = link.load(Ordering::Relaxed).cast();
            link.store(oldest, Ordering::Relaxed);
            oldest = task.as_ptr().cast();
        }
        DrainedTasks(oldest)
    }
}

/// The tasks taken from an inbox. Those not consumed are lost: consume all of them.
pub(crate) struct DrainedTasks(*mut ());

impl Iterator for DrainedTasks {
    type Item = TaskPtr;

    fn next(&mut self) -> Option<TaskPtr> {
        let task: TaskPtr = NonNull::new(self.0.cast())?;
        // SAFETY: this thread owns the ready task and its link.
        self.0 = unsafe { (task.as_ref().vtable.link)(task).as_ref() }.load(Ordering::Relaxed);
        Some(task)
    }
}

#[cfg(all(test, loom))]
mod loom;

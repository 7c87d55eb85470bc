//! A worker's own tasks: plain memory behind a lock that costs its owner no atomic
//! read-modify-write.
//!
//! The owner enters with two stores and a load; thieves enter rarely, and pay for both sides with a
//! heavy barrier. So other workers can take whatever a worker has queued, even while it is in a
//! long behaviour, and pushing and popping still cost about a nanosecond. For the argument, see
//! README.md, "The local queue".

mod biased_lock;

use std::collections::VecDeque;
use std::ptr::{NonNull, null_mut};

use coact_sync::shim::atomic::{AtomicPtr, AtomicUsize, Ordering};
use coact_sync::shim::cell::UnsafeCell;

use self::biased_lock::BiasedLock;
use crate::path_coverage::FastPath;
use crate::task::{Task, TaskPtr};

/// The tasks themselves.
#[derive(Default)]
pub(crate) struct TaskQueue {
    /// The task that was made ready last: it runs next, since its cown is in the cache. In a word
    /// of its own while no thread is inside: [`LocalQueue::next`].
    pub(crate) next: Option<TaskPtr>,
    /// Tasks that were in `next` before: newest first for the owner, oldest first for thieves.
    pub(crate) fresh: VecDeque<TaskPtr>,
    /// Tasks that have already waited for their turn: oldest first for everyone.
    pub(crate) aged: VecDeque<TaskPtr>,
    /// Tasks that [give way](super::give_way) to all others: oldest first for everyone.
    pub(crate) held: VecDeque<TaskPtr>,
}

impl TaskQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.next.is_none() && self.waiting() == 0
    }

    /// The number of waiting tasks.
    fn waiting(&self) -> usize {
        self.fresh.len() + self.aged.len() + self.held.len()
    }

    /// Takes half of the tasks (rounded up) that wait only for their turn, oldest first, at most
    /// `most` of each kind.
    pub(crate) fn take_half(&mut self, most: usize, stolen: &mut Vec<TaskPtr>) {
        take_half_of(&mut self.aged, most, stolen);
        take_half_of(&mut self.fresh, most, stolen);
    }
}

fn take_half_of(tasks: &mut VecDeque<TaskPtr>, most: usize, stolen: &mut Vec<TaskPtr>) {
    stolen.extend(tasks.drain(..tasks.len().div_ceil(2).min(most)));
}

pub(crate) struct LocalQueue {
    lock: BiasedLock,
    /// The number of tasks available to thieves, besides `next`. Written by the thread inside.
    len: AtomicUsize,
    /// The task that runs next, or null. Only the owner fills it, inside or outside; it is emptied
    /// only from inside. Most of the time the owner changes nothing else.
    next: AtomicPtr<Task>,
    tasks: UnsafeCell<TaskQueue>,
}

// SAFETY: `tasks` is accessed only from inside the lock, by one thread at a time; tasks may run,
// and so move, on any thread.
unsafe impl Send for LocalQueue {}
// SAFETY: `tasks` is accessed only from inside the lock, by one thread at a time; the other fields
// are atomic.
unsafe impl Sync for LocalQueue {}

impl LocalQueue {
    pub(crate) fn new() -> Self {
        Self {
            lock: BiasedLock::new(),
            len: AtomicUsize::new(0),
            next: AtomicPtr::new(null_mut()),
            tasks: UnsafeCell::new(TaskQueue::default()),
        }
    }

    /// Gives `work` access to the tasks as their owner.
    ///
    /// # Safety
    /// Only one thread ever calls this, the owner, and `work` does not re-enter it.
    #[inline]
    pub(crate) unsafe fn with_queue<R>(&self, work: impl FnOnce(&mut TaskQueue) -> R) -> R {
        self.lock.enter();
        let result = self.tasks.with_mut(|tasks| {
            // SAFETY: the owner is inside, so no thief is (README.md, "The local queue").
            let tasks = unsafe { &mut *tasks };
            // ORDERING: Relaxed, both. Inside, the owner is alone with the word.
            tasks.next = NonNull::new(self.next.load(Ordering::Relaxed));
            let result = work(tasks);
            let next = tasks.next.take().map_or(null_mut(), NonNull::as_ptr);
            self.next.store(next, Ordering::Relaxed);
            self.publish_len(tasks);
            result
        });
        self.lock.leave();
        result
    }

    /// Puts a task into `next`; returns it if there already is one. Needs no lock: thieves do not
    /// write to an empty word.
    ///
    /// # Safety
    /// See [`with_queue`](Self::with_queue).
    #[inline(always)]
    pub(crate) unsafe fn try_put_next(&self, task: TaskPtr) -> Result<(), TaskPtr> {
        // ORDERING: Relaxed. Only this thread fills the word, so it stays empty. A stale read of a
        // task that a thief has taken is harmless: the push takes the slow path.
        if !self.next.load(Ordering::Relaxed).is_null() {
            return Err(task);
        }
        // ORDERING: Release pairs with the Acquire in `take_next_away`: a thief sees the
        // initialised task.
        self.next.store(task.as_ptr(), Ordering::Release);
        Ok(())
    }

    /// Puts a task into `next`, and the one that is there among the fresh ones; returns the task if
    /// there is none, if there is no room, or if a thief is in the way.
    ///
    /// # Safety
    /// See [`with_queue`](Self::with_queue).
    #[inline(always)]
    pub(crate) unsafe fn try_put_before(&self, task: TaskPtr) -> Result<(), TaskPtr> {
        if !self.lock.try_enter_at_once() {
            return Err(task);
        }
        // ORDERING: Relaxed, both. Inside, the owner is alone with the word; `leave` publishes the
        // store.
        let before = NonNull::new(self.next.load(Ordering::Relaxed));
        let has_put = before.is_some_and(|before| self.try_put_aside(before));
        if has_put {
            self.next.store(task.as_ptr(), Ordering::Relaxed);
        }
        self.lock.leave();
        if has_put { Ok(()) } else { Err(task) }
    }

    /// For the owner, inside. Returns whether there is room.
    #[inline(always)]
    fn try_put_aside(&self, task: TaskPtr) -> bool {
        self.tasks.with_mut(|tasks| {
            // SAFETY: the owner is inside, so no thief is.
            let fresh = unsafe { &mut (*tasks).fresh };
            let has_room = fresh.len() < fresh.capacity();
            if has_room {
                fresh.push_back(task);
                self.len.store(self.len.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
            has_room
        })
    }

    /// Takes the task in `next`, or else the newest of the fresh ones; `None` if there is none, or
    /// a thief is in the way.
    ///
    /// # Safety
    /// See [`with_queue`](Self::with_queue).
    #[inline(always)]
    pub(crate) unsafe fn try_take(&self) -> Option<TaskPtr> {
        if !self.lock.try_enter() {
            return None;
        }
        // ORDERING: Relaxed, both; see `try_put_before`.
        let next = NonNull::new(self.next.load(Ordering::Relaxed));
        if next.is_none() {
            // SAFETY: the owner is inside.
            return unsafe { self.take_fresh_and_leave() };
        }
        self.next.store(null_mut(), Ordering::Relaxed);
        self.lock.leave();
        FastPath::Next.take();
        next
    }

    /// Takes the newest of the fresh tasks, if there is one, and leaves.
    ///
    /// # Safety
    /// The caller is the owner, and inside.
    #[inline(never)]
    unsafe fn take_fresh_and_leave(&self) -> Option<TaskPtr> {
        let task = self.tasks.with_mut(|tasks| {
            // SAFETY: the owner is inside, so no thief is.
            let task = unsafe { (*tasks).fresh.pop_back() }?;
            self.len.store(self.len.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
            FastPath::Fresh.take();
            Some(task)
        });
        self.lock.leave();
        task
    }

    /// Takes the next task, for a thief that is inside.
    fn take_next_away(&self) -> Option<TaskPtr> {
        // ORDERING: Acquire pairs with the Release in `try_put_next`. Relaxed for the store: the
        // owner overwrites a full word only from inside, so no store of the owner can come in
        // between.
        let next = NonNull::new(self.next.load(Ordering::Acquire))?;
        self.next.store(null_mut(), Ordering::Relaxed);
        Some(next)
    }

    /// Updates what is visible from outside.
    #[inline]
    fn publish_len(&self, tasks: &TaskQueue) {
        // ORDERING: Relaxed. Outside it is a hint.
        self.len.store(tasks.waiting(), Ordering::Relaxed);
    }

    /// Returns the number of tasks besides the one that runs next; a hint.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Returns whether there is any task; a hint.
    pub(crate) fn has_any(&self) -> bool {
        self.len() > 0 || !self.next.load(Ordering::Relaxed).is_null()
    }

    /// Takes half of the tasks (rounded up), oldest first, and also `next` if the owner seems stuck
    /// in a behaviour. Takes nothing if another thief, or the owner, is in the way.
    pub(crate) fn steal(&self, with_next: bool, stolen: &mut Vec<TaskPtr>) {
        self.lock.try_break_in(|| {
            self.tasks.with_mut(|tasks| {
                // SAFETY: the claim keeps other thieves out; the owner is outside, and sees the
                // claim before it can enter again.
                let tasks = unsafe { &mut *tasks };
                tasks.take_half(usize::MAX, stolen);
                take_half_of(&mut tasks.held, usize::MAX, stolen);
                self.publish_len(tasks);
            });
            if with_next {
                stolen.extend(self.take_next_away());
            }
        });
    }
}

#[cfg(all(test, loom))]
mod loom;

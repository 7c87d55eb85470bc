//! A worker's own tasks: plain memory behind a lock that costs its owner no atomic
//! read-modify-write.
//!
//! The owner enters with two stores and a load; others (thieves) enter rarely, and pay for both
//! sides with a [heavy](asym::heavy) barrier. So whatever a worker has queued can be taken by
//! another one, even while the worker is deep in a long behaviour, and pushing and popping still
//! costs about a nanosecond. README.md, "The local queue", has the argument.

use std::collections::VecDeque;
use std::ptr::{NonNull, null_mut};

use coact_sync::asym;
use coact_sync::shim::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use coact_sync::shim::cell::UnsafeCell;

use crate::behaviour::task::{Task, TaskPtr};

/// The tasks themselves.
#[derive(Default)]
pub(crate) struct Tasks {
    /// The task that was made ready last: it runs next, since its cown is in the cache. Lies in a word of its own
    /// while nobody is inside: [`LocalQueue::next`].
    pub(crate) next: Option<TaskPtr>,
    /// Tasks that were in `next` before: newest first for the owner, oldest first for thieves.
    pub(crate) fresh: VecDeque<TaskPtr>,
    /// Tasks that have waited for their turn already: oldest first for everyone.
    pub(crate) aged: VecDeque<TaskPtr>,
}

impl Tasks {
    pub(crate) fn is_empty(&self) -> bool {
        self.next.is_none() && self.fresh.is_empty() && self.aged.is_empty()
    }

    /// Takes half of the tasks (rounded up) that are to wait anyway, oldest first.
    pub(crate) fn take_half(&mut self, loot: &mut Vec<TaskPtr>) {
        for tasks in [&mut self.aged, &mut self.fresh] {
            loot.extend(tasks.drain(..tasks.len().div_ceil(2)));
        }
    }
}

pub(crate) struct LocalQueue {
    /// The owner is inside.
    busy: AtomicBool,
    /// A thief is inside, or about to be.
    claimed: AtomicBool,
    /// How many tasks thieves may look for, beside `next`. Written by whoever is inside.
    len: AtomicUsize,
    /// The task that runs next, or null. Written by whoever is inside; so the owner, who changes nothing else most of the
    /// time, is in and out with a few instructions.
    next: AtomicPtr<Task>,
    tasks: UnsafeCell<Tasks>,
}

// SAFETY: `tasks` is reached only from inside the lock, by one thread at a time; tasks may run, and
// so move, on any thread.
unsafe impl Send for LocalQueue {}
// SAFETY: as above.
unsafe impl Sync for LocalQueue {}

impl LocalQueue {
    /// How often a thief looks whether the owner has come out.
    const PATIENCE: u32 = if cfg!(loom) { 2 } else { 100 };

    pub(crate) fn new() -> Self {
        Self {
            busy: AtomicBool::new(false),
            claimed: AtomicBool::new(false),
            len: AtomicUsize::new(0),
            next: AtomicPtr::new(null_mut()),
            tasks: UnsafeCell::new(Tasks::default()),
        }
    }

    /// Works on the tasks as their owner.
    ///
    /// # Safety
    /// Only one thread ever calls this, the owner, and `work` does not call it again.
    #[inline]
    pub(crate) unsafe fn own<R>(&self, work: impl FnOnce(&mut Tasks) -> R) -> R {
        self.enter();
        let result = self.tasks.with_mut(|tasks| {
            // SAFETY: the owner is inside, and so no thief is (README.md, "The local queue").
            let tasks = unsafe { &mut *tasks };
            self.look_at_next(tasks);
            let result = work(tasks);
            self.publish(tasks);
            result
        });
        self.leave();
        result
    }

    /// Puts a task into `next`; gives it back if one is there, or a thief in the way.
    ///
    /// # Safety
    /// As [`own`](Self::own).
    #[inline(always)]
    pub(crate) unsafe fn try_put_next(&self, task: TaskPtr) -> Result<(), TaskPtr> {
        if !self.try_enter() {
            return Err(task);
        }
        // ORDERING: Relaxed, both. Whoever is inside is alone with the word; `leave` publishes it.
        let is_free = self.next.load(Ordering::Relaxed).is_null();
        if is_free {
            self.next.store(task.as_ptr(), Ordering::Relaxed);
        }
        self.leave();
        if is_free { Ok(()) } else { Err(task) }
    }

    /// Puts a task into `next`, and the one that is there among the fresh ones; gives it back if none is there, if
    /// there is no room, or a thief in the way.
    ///
    /// # Safety
    /// As [`own`](Self::own).
    #[inline(always)]
    pub(crate) unsafe fn try_put_before(&self, task: TaskPtr) -> Result<(), TaskPtr> {
        if !self.try_enter() {
            return Err(task);
        }
        // ORDERING: Relaxed, both, as in `try_put_next`.
        let before = NonNull::new(self.next.load(Ordering::Relaxed));
        let has_put = before.is_some_and(|before| self.try_put_aside(before));
        if has_put {
            self.next.store(task.as_ptr(), Ordering::Relaxed);
        }
        self.leave();
        if has_put { Ok(()) } else { Err(task) }
    }

    /// For the owner, inside. Returns whether there is room.
    #[inline(always)]
    fn try_put_aside(&self, task: TaskPtr) -> bool {
        self.tasks.with_mut(|tasks| {
            // SAFETY: the owner is inside, and so no thief is.
            let fresh = unsafe { &mut (*tasks).fresh };
            let has_room = fresh.len() < fresh.capacity();
            if has_room {
                fresh.push_back(task);
                self.len.store(self.len.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
            has_room
        })
    }

    /// Takes the task in `next`, if there is one and no thief in the way.
    ///
    /// # Safety
    /// As [`own`](Self::own).
    #[inline(always)]
    pub(crate) unsafe fn try_take_next(&self) -> Option<TaskPtr> {
        if !self.try_enter() {
            return None;
        }
        // ORDERING: Relaxed, both, as in `try_put_next`.
        let next = self.next.load(Ordering::Relaxed);
        self.next.store(null_mut(), Ordering::Relaxed);
        self.leave();
        NonNull::new(next)
    }

    /// Takes the newest of the fresh tasks, if there is one, none in `next`, and no thief in the way.
    ///
    /// # Safety
    /// As [`own`](Self::own).
    #[inline(always)]
    pub(crate) unsafe fn try_take_fresh(&self) -> Option<TaskPtr> {
        if !self.try_enter() {
            return None;
        }
        let task = self.tasks.with_mut(|tasks| {
            // ORDERING: Relaxed, as in `try_put_next`.
            if !self.next.load(Ordering::Relaxed).is_null() {
                return None;
            }
            // SAFETY: the owner is inside, and so no thief is.
            let task = unsafe { (*tasks).fresh.pop_back() }?;
            self.len.store(self.len.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
            Some(task)
        });
        self.leave();
        task
    }

    #[inline]
    fn enter(&self) {
        while !self.try_enter() {
            self.wait_for_thief();
        }
    }

    /// The owner comes in, unless a thief is inside, or about to be.
    #[inline(always)]
    fn try_enter(&self) -> bool {
        // ORDERING: Relaxed. The barrier orders it before the load. It pairs with the heavy one in
        // `steal`: either we see the claim, or the thief sees us inside.
        self.busy.store(true, Ordering::Relaxed);
        asym::light();
        // ORDERING: Acquire pairs with the release at the end of `steal`.
        let is_claimed = self.claimed.load(Ordering::Acquire);
        if is_claimed {
            self.leave();
        }
        !is_claimed
    }

    #[inline(always)]
    fn leave(&self) {
        // ORDERING: Release pairs with the acquire in `owner_is_outside`: a thief that finds the owner outside sees the
        // tasks as the owner left them when it was inside the last time.
        self.busy.store(false, Ordering::Release);
    }

    #[cold]
    fn wait_for_thief(&self) {
        // A thief is inside for as long as a heavy barrier takes, and a few moves. It may be
        // preempted, so the wait must not hold the processor; but it is too short to nap.
        // ORDERING: Relaxed. `enter` looks again, with acquire.
        while self.claimed.load(Ordering::Relaxed) {
            coact_sync::shim::thread::yield_now();
        }
    }

    /// Completes the tasks for whoever is inside.
    #[inline]
    fn look_at_next(&self, tasks: &mut Tasks) {
        // ORDERING: Relaxed. Whoever is inside is alone with the word.
        tasks.next = NonNull::new(self.next.load(Ordering::Relaxed));
    }

    /// Updates what can be seen from outside.
    #[inline]
    fn publish(&self, tasks: &mut Tasks) {
        // ORDERING: Relaxed, both. For those outside they are hints (a worker about to sleep puts a heavy barrier
        // before it looks); whoever comes in next finds them as the tasks.
        self.len.store(tasks.fresh.len() + tasks.aged.len(), Ordering::Relaxed);
        let next = tasks.next.take().map_or(null_mut(), NonNull::as_ptr);
        self.next.store(next, Ordering::Relaxed);
    }

    /// How many tasks there are, beside the one that runs next; a hint.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Whether there is any task at all; a hint.
    pub(crate) fn has_any(&self) -> bool {
        self.len() > 0 || !self.next.load(Ordering::Relaxed).is_null()
    }

    /// Takes half of the tasks (rounded up), oldest first, and `next` too if the owner seems stuck
    /// in a behaviour. Takes nothing if another thief, or the owner, is in the way.
    pub(crate) fn steal(&self, with_next: bool, loot: &mut Vec<TaskPtr>) {
        // ORDERING: Acquire pairs with the release of the thief before (as the barrier would).
        let (ok, failed) = (Ordering::Acquire, Ordering::Relaxed);
        if self.claimed.compare_exchange(false, true, ok, failed).is_err() {
            return;
        }
        // Pairs with the light barrier in `enter`: from here on the owner sees the claim.
        asym::heavy();
        if self.owner_is_outside() {
            self.tasks.with_mut(|tasks| {
                // SAFETY: the claim keeps other thieves out; the owner is outside, and sees the
                // claim before it can come in again.
                let tasks = unsafe { &mut *tasks };
                self.look_at_next(tasks);
                tasks.take_half(loot);
                if with_next {
                    loot.extend(tasks.next.take());
                }
                self.publish(tasks);
            });
        }
        // ORDERING: Release pairs with the acquires of the owner and of the next thief.
        self.claimed.store(false, Ordering::Release);
    }

    /// Waits a moment for the owner to come out. It is inside for a few instructions at a time,
    /// unless it is preempted there: then we rather go elsewhere.
    fn owner_is_outside(&self) -> bool {
        for _ in 0..Self::PATIENCE {
            // ORDERING: Acquire pairs with the releases in `leave`.
            if !self.busy.load(Ordering::Acquire) {
                return true;
            }
            coact_sync::shim::hint::spin_loop();
        }
        false
    }
}

#[cfg(all(test, loom))]
mod loom;

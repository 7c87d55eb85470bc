//! What a worker runs next, of its own tasks and of those that were sent to it.

use super::{OLDEST_EVERY, Worker};
use crate::sched::local::TaskQueue;
use crate::sched::worker_shared::WorkerShared;
use crate::task::TaskPtr;

/// Within this many tasks, each place where tasks wait has had its turn.
pub(super) const ROUND: u32 = 64;
/// The worker checks whether another one is stuck once per this many rounds.
const STUCK_EVERY: u32 = 16;

impl Worker {
    /// Takes the worker's own next task.
    // Called from both loops of `work`, so the compiler would otherwise make it a call: ten
    // instructions per task.
    #[inline(always)]
    pub(in crate::sched) fn take(&self) -> Option<TaskPtr> {
        self.take_of(self.me)
    }

    /// The same, given the worker's shared part.
    #[inline(always)]
    pub(super) fn take_of(&self, me: &WorkerShared) -> Option<TaskPtr> {
        me.tick();
        let left = self.until_oldest.get() - 1;
        self.until_oldest.set(left);
        if left == 0
            && let Some(task) = self.take_oldest()
        {
            return Some(task);
        }
        // SAFETY: this is the worker's own queue, on its thread; see `own`.
        match unsafe { me.local.try_take() } {
            None => self.take_any(),
            task => task,
        }
    }

    /// The same if there may be neither a next nor a fresh task, or a thief is in the way.
    #[inline(never)]
    fn take_any(&self) -> Option<TaskPtr> {
        let task = self.with_queue(|tasks| {
            let next = tasks.next.take().or_else(|| tasks.fresh.pop_back());
            next.or_else(|| tasks.aged.pop_front())
        });
        task.or_else(|| self.take_bound()).or_else(|| self.take_from_inbox(self.index))
    }

    /// Takes the task that has waited longest, from the places where tasks wait, in turn.
    #[cold]
    fn take_oldest(&self) -> Option<TaskPtr> {
        self.until_oldest.set(OLDEST_EVERY);
        self.until_share.set((self.until_share.get() - OLDEST_EVERY as i32).max(0));
        // Not twice in a row: the tasks that have waited longest must have their turn as well.
        if !self.has_done_jobs.get()
            && let Some(jobs) = self.take_bound()
        {
            self.has_done_jobs.set(true);
            return Some(jobs);
        }
        self.has_done_jobs.set(false);
        let turns = self.turns.get().wrapping_add(1);
        self.turns.set(turns);
        let (round, turn) = (turns / (ROUND / OLDEST_EVERY), turns % (ROUND / OLDEST_EVERY));
        let elsewhere = match turn {
            0 => self.take_from_inbox(round as usize % self.shared.workers.len()),
            1 if round.is_multiple_of(STUCK_EVERY) => self.help_stuck(true),
            _ => None,
        };
        // Only this thread adds to the queue, so a length of 0 is exact.
        if elsewhere.is_some() || self.me.local.len() == 0 {
            return elsewhere;
        }
        let (task, more) = self.with_queue(|tasks| {
            let TaskQueue { fresh, aged, held, .. } = tasks;
            let [first, second] = match turn {
                0 | 2 => [aged, fresh],
                3 if !held.is_empty() => [held, fresh],
                _ => [fresh, aged],
            };
            let task = first.pop_front().or_else(|| second.pop_front());
            (task, !tasks.fresh.is_empty() || !tasks.aged.is_empty())
        });
        if more {
            self.share_if_due();
        }
        task
    }

    /// Moves an inbox's tasks to the end of the worker's own queue, and takes the first.
    pub(in crate::sched) fn take_from_inbox(&self, index: usize) -> Option<TaskPtr> {
        let inbox = &self.shared.workers[index].inbox;
        if inbox.is_empty() {
            return None;
        }
        if index == self.index {
            self.taken_back.set(true);
        }
        let mut tasks = inbox.take_all();
        let first = tasks.next();
        let more = self.with_queue(|own| {
            own.aged.extend(tasks);
            !own.aged.is_empty()
        });
        if more {
            self.share_bulk();
        }
        first
    }
}

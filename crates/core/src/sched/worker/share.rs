//! Sharing of tasks with other workers, and requests for theirs.

use coact_sync::shim::atomic::Ordering;

use super::{ASK_EVERY, Worker};
use crate::sched::share_policy::{SHARE_EVERY, ShareDecision};

/// The worker checks again after this many more tasks if it was too soon to tell whether sharing
/// pays.
const SOON: i32 = 8;

impl Worker {
    /// Serves tasks that always have more to do evenly, whichever worker has them: each worker asks
    /// another one for a task once per round of its own queue. README.md, "Evening out".
    pub(super) fn even_out(&self, waiting: usize) {
        // ORDERING: Relaxed, here and in `ask`. The word holds a request, and guards nothing.
        let asker = self.me.asker.load(Ordering::Relaxed);
        if asker != 0 {
            self.me.asker.store(0, Ordering::Relaxed);
            self.give_to(asker - 1);
        }
        if self.expecting.get()
            && let Some(task) = self.take_from_inbox(self.index)
        {
            self.expecting.set(false);
            self.with_queue(|tasks| tasks.aged.push_back(task));
        }
        let left = self.until_ask.get().saturating_sub(1);
        self.until_ask.set(left);
        // The rest of the inbox is shared with idle workers.
        if left == 0 && self.me.inbox.is_empty() {
            self.ask(waiting);
        }
    }

    /// Asks a worker for one of its waiting tasks. Which one, and the time of the next request, are
    /// random within bounds: in step with each other, two workers would pass the same tasks to and
    /// fro.
    pub(super) fn ask(&self, waiting: usize) {
        let round = u32::try_from(waiting).unwrap_or(u32::MAX / 4).max(ASK_EVERY);
        self.until_ask.set(round / 2 + self.random() % (round + 1));
        let workers = &self.shared.workers;
        let first = self.random() as usize;
        let others = (0..workers.len()).map(|turn| (first + turn) % workers.len());
        let mut rich =
            others.filter(|other| *other != self.index && workers[*other].local.len() > 0);
        if let Some(other) = rich.next() {
            // ORDERING: Relaxed, both. See `even_out`.
            if workers[other].asker.load(Ordering::Relaxed) == self.index + 1 {
                self.take_half_of(other);
            }
            workers[other].asker.store(self.index + 1, Ordering::Relaxed);
            self.expecting.set(true);
        }
    }

    /// Takes half of the tasks of a worker that has put none aside since it was asked for one: it
    /// has no processor, or is in a long behaviour.
    #[cold]
    fn take_half_of(&self, other: usize) {
        if let Some(task) = self.steal_from(other, false) {
            self.with_queue(|tasks| tasks.aged.push_back(task));
        }
    }

    /// Returns the next number of a xorshift generator.
    pub(super) fn random(&self) -> u32 {
        let mut number = self.random.get();
        number ^= number << 13;
        number ^= number >> 17;
        number ^= number << 5;
        self.random.set(number);
        number
    }

    /// Gives away the task that has waited longest, unless it is the only one.
    #[cold]
    fn give_to(&self, asker: usize) {
        let oldest = self.with_queue(|tasks| {
            if tasks.aged.len() > 1 { tasks.aged.pop_front() } else { tasks.fresh.pop_front() }
        });
        if let Some(task) = oldest {
            // SAFETY: the task is ready, and was taken from this worker's own queue.
            unsafe { self.shared.workers[asker].inbox.push(task) };
            // The asker may have fallen asleep.
            self.announce_inbox();
        }
    }

    /// Called when this worker has tasks besides the next one: now and then, if another worker has
    /// none, it puts half of them where that finds them. So tasks change hands in bulk, and an idle
    /// worker does not disturb a busy one.
    #[inline]
    pub(super) fn share_some(&self) {
        let left = self.until_share.get() - 1;
        self.until_share.set(left);
        if left <= 0 {
            self.share_now();
        }
    }

    #[inline]
    pub(super) fn share_if_due(&self) {
        if self.until_share.get() <= 0 {
            self.share_now();
        }
    }

    #[inline(never)]
    fn share_now(&self) {
        self.share_if_hungry(|| self.decide());
    }

    /// Shares tasks that have come in bulk, at once.
    pub(super) fn share_bulk(&self) {
        self.share_if_hungry(|| ShareDecision::Share(usize::MAX));
    }

    fn share_if_hungry(&self, decide: impl FnOnce() -> ShareDecision) {
        if self.shared.workers.len() == 1 {
            // No other worker is ever hungry, so this need not be asked with each task.
            self.until_share.set(SHARE_EVERY);
        } else if self.shared.idle.is_hungry() {
            match decide() {
                ShareDecision::Share(most) => self.share(most),
                ShareDecision::Wait => self.until_share.set(SOON),
                ShareDecision::Keep => self.until_share.set(SHARE_EVERY),
            }
        } else {
            self.until_share.set(0);
        }
    }

    /// Returns the nanoseconds since the runtime's start.
    pub(super) fn now(&self) -> u64 {
        self.shared.clock.now()
    }

    /// Returns whether shared behaviours end sooner. README.md, "What sharing costs".
    pub(super) fn decide(&self) -> ShareDecision {
        // A measurement would include what an executor does between two turns.
        if self.hosted {
            return ShareDecision::Share(usize::MAX);
        }
        // If others have not taken the last shared tasks yet, or tasks have come from outside,
        // there is no need for more.
        let helped = self.me.inbox.is_empty() && !self.taken_back.get();
        let now = self.now();
        let ran = self.ticks().wrapping_add(self.followers.get());
        let mut sharing = self.sharing.borrow_mut();
        let decision = sharing.decide(now, ran, helped);
        // ORDERING: Relaxed. For a decision that may be wrong.
        self.me.keeps_until.store(sharing.keeps_until(), Ordering::Relaxed);
        decision
    }

    #[cold]
    pub(super) fn share(&self, most: usize) {
        let began = self.now();
        self.until_share.set(SHARE_EVERY);
        self.taken_back.set(false);
        // From here on the inbox contains tasks for others.
        self.expecting.set(false);
        let mut shared = self.stolen.borrow_mut();
        self.with_queue(|tasks| tasks.take_half(most, &mut shared));
        // SAFETY: the tasks are ready, and were taken from this worker's own queue.
        unsafe { self.me.inbox.push_all(shared.drain(..)) };
        self.announce_inbox();
        self.sharing.borrow_mut().leave_out(self.now() - began);
    }

    /// Announces tasks in an inbox. Waking a worker that an executor hosts runs foreign code, which
    /// must not run in the middle of what this worker is doing: that waits for the end of the task.
    fn announce_inbox(&self) {
        if self.hosted {
            self.has_unannounced.set(true);
        } else {
            self.shared.notify_of_inbox();
        }
    }

    /// Announces tasks that were shared meanwhile; for a hosted worker, between two tasks.
    #[inline]
    pub(in crate::sched) fn announce_shared(&self) {
        if self.has_unannounced.replace(false) {
            self.shared.notify_of_inbox();
        }
    }

    /// A task waits behind the running behaviour while all other workers sleep: if the behaviour is
    /// a long one, a watcher must notice.
    #[cold]
    pub(super) fn appoint_watcher(&self) {
        if let Some(worker) = self.shared.idle.choose_sleeper() {
            self.shared.unpark(worker);
        }
    }
}

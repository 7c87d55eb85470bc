//! What a worker does when it has no tasks: it looks for those of others, and sleeps.

use std::time::Duration;

use coact_sync::shim::atomic::Ordering;

use super::Worker;
use crate::sched::phase::RuntimePhase;
use crate::sched::trim::{self, park_for};
use crate::task::TaskPtr;

/// How often a worker looks at all queues before it goes to sleep.
const SEARCH_ROUNDS: u32 = 40;
/// How often it does so before it runs what gives way: some 1 to 2 µs, in which a cown runs 20
/// short behaviours.
const HELD_ROUNDS: u32 = 8;
/// How long a task may wait behind a long behaviour while a worker sleeps.
const WATCH_INTERVAL: Duration = Duration::from_millis(1);
/// How many looks the watcher makes after all other workers have gone to sleep.
const WATCH_LAST: u32 = 10;

impl Worker {
    /// Looks for work everywhere, and sleeps until there is some. Returns `None` once the runtime
    /// stops.
    #[cold]
    pub(super) fn search(&self) -> Option<TaskPtr> {
        self.sharing.borrow_mut().interrupt();
        self.until_share.set(0);
        let mut in_a_crowd = self.shared.idle.start_searching();
        loop {
            let found = if in_a_crowd { self.look_once_for_any() } else { self.look_for_a_while() };
            if let Some(task) = found {
                if self.shared.idle.found_work() {
                    self.shared.notify_of_rest();
                }
                // This worker may have been the watcher; and tasks that it has taken along wait
                // behind the one that it runs now.
                if self.shared.idle.misses_watcher() {
                    self.appoint_watcher();
                }
                return Some(task);
            }
            // Only after that look: a watcher has returned with tasks that no other worker knows
            // of.
            if self.shared.phase() == RuntimePhase::Stopped {
                return None;
            }
            self.sleep(in_a_crowd);
            in_a_crowd = false;
        }
    }

    /// Looks for tasks that others share.
    fn look_once(&self) -> Option<TaskPtr> {
        // The watcher may have returned with tasks of its own.
        self.with_queue(|tasks| tasks.aged.pop_front()).or_else(|| self.look_into_inboxes())
    }

    /// The same, and for its own tasks that give way.
    pub(in crate::sched) fn look_once_for_any(&self) -> Option<TaskPtr> {
        self.look_once().or_else(|| self.take_held())
    }

    /// The same repeatedly; finally, takes tasks from stuck workers.
    pub(super) fn look_for_a_while(&self) -> Option<TaskPtr> {
        // Without other workers, there are no other tasks that those giving way could wait for.
        let is_alone = self.shared.workers.len() == 1;
        let found = if is_alone { self.look_once_for_any() } else { self.look_once() };
        if found.is_some() {
            return found;
        }
        self.note_ticks();
        for round in 0..SEARCH_ROUNDS {
            for _ in 0..=round.min(16) {
                coact_sync::shim::hint::spin_loop();
            }
            if let Some(task) = self.look_into_inboxes() {
                return Some(task);
            }
            if round == HELD_ROUNDS
                && let Some(task) = self.take_held()
            {
                return Some(task);
            }
        }
        self.help_stuck(false)
            .or_else(|| self.help_stuck_for_long())
            .or_else(|| self.look_patiently())
    }

    /// Goes on looking into inboxes for as long as experience says, unless other workers search as
    /// well: one that is awake is enough.
    fn look_patiently(&self) -> Option<TaskPtr> {
        let lasts = self.patience.lasts();
        if lasts == 0 {
            return None;
        }
        let until = self.now().saturating_add(lasts);
        while self.shared.idle.is_only_searcher() && self.now() < until {
            // A thread that is about to leave a task may want this processor.
            coact_sync::shim::thread::yield_now();
            let found = self.look_into_inboxes();
            if found.is_some() {
                return found;
            }
            if self.shared.phase() == RuntimePhase::Stopped {
                break;
            }
        }
        None
    }

    fn look_into_inboxes(&self) -> Option<TaskPtr> {
        let count = self.shared.workers.len();
        let mut others = (1..=count).map(|distance| (self.index + distance) % count);
        self.take_bound().or_else(|| others.find_map(|index| self.take_from_inbox(index)))
    }

    /// Remembers how many tasks the others have taken, for `help_stuck`.
    fn note_ticks(&self) {
        for (seen, worker) in self.seen.borrow_mut().iter_mut().zip(&self.shared.workers) {
            *seen = worker.ticks.load(Ordering::Relaxed);
        }
    }

    pub(in crate::sched) fn steal_from(&self, victim: usize, with_next: bool) -> Option<TaskPtr> {
        let local = &self.shared.workers[victim].local;
        if victim == self.index || !(local.len() > 0 || with_next && local.has_any()) {
            return None;
        }
        let (first, more) = {
            let mut stolen = self.stolen.borrow_mut();
            local.steal(with_next, &mut stolen);
            let mut stolen = stolen.drain(..);
            let first = stolen.next();
            let more = stolen.len() > 0;
            if more {
                self.with_queue(|tasks| tasks.aged.extend(stolen));
            }
            (first, more)
        };
        if more {
            self.share_bulk();
        }
        first
    }

    /// Takes tasks, including `next` if wanted, from a worker that has taken none itself since this
    /// worker last looked: it is in a long behaviour.
    pub(super) fn help_stuck(&self, with_next: bool) -> Option<TaskPtr> {
        self.take_from_stuck(&mut self.seen.borrow_mut(), with_next)
    }

    /// Takes tasks, including `next`, from a worker that has taken none itself for as long as a
    /// watcher sleeps. A worker that is woken for something else again and again never sleeps for
    /// that long, and another one may not be there to watch.
    fn help_stuck_for_long(&self) -> Option<TaskPtr> {
        let mut seen = self.seen_long_ago.borrow_mut();
        let (ticks, when) = &mut *seen;
        let now = self.now();
        if now < when.saturating_add(WATCH_INTERVAL.as_nanos() as u64) {
            return None;
        }
        *when = now;
        self.take_from_stuck(ticks, true)
    }

    /// Takes tasks from a worker whose count of taken tasks is as it was seen before.
    fn take_from_stuck(&self, seen: &mut [u64], with_next: bool) -> Option<TaskPtr> {
        seen.iter_mut().enumerate().find_map(|(index, seen)| {
            let stuck = self.shared.workers[index].taken_since(seen) == 0;
            stuck.then(|| self.steal_from(index, with_next)).flatten()
        })
    }

    /// Returns whether a worker is stuck, as in [`help_stuck`](Self::help_stuck), or is not going
    /// to share soon.
    pub(super) fn sees_stuck(&self) -> bool {
        let mut seen = self.seen.borrow_mut();
        let mut workers = self.shared.workers.iter().zip(&mut *seen).enumerate();
        workers.any(|(index, (other, seen))| {
            other.is_long_in_sharing(seen, &self.shared.clock) && index != self.index
        })
    }

    /// Sleeps until woken, by a task or because the runtime stops; counts as searching on return.
    /// In a crowd, it leaves other workers' queues to those that are searching.
    pub(super) fn sleep(&self, in_a_crowd: bool) {
        coact_sync::pool::flush_thread();
        let (shared, idle) = (self.shared, &self.shared.idle);
        idle.fall_asleep(self.index);
        let is_there_more =
            if in_a_crowd { shared.has_tasks_in_inboxes() } else { shared.has_tasks_to_share() };
        let has_jobs = !self.me.bound.is_empty();
        if is_there_more || has_jobs || shared.phase() == RuntimePhase::Stopped {
            return self.wake_up();
        }
        self.shared.tell_if_idle();
        let began = self.now();
        if self.shared.workers.len() > 1 && idle.start_watching() {
            self.watch();
        } else {
            self.park();
            // Woken by `unpark_all` (a stop), or by a waker that took this worker off the list.
            idle.wake_up(self.index);
        }
        self.patience.note_sleep(self.now() - began);
    }

    pub(super) fn wake_up(&self) {
        if !self.shared.idle.wake_up(self.index) {
            // A waker came first: consume its permit, so that the next sleep does not end at once.
            self.parker.park();
        }
    }

    /// Sleeps as the watcher, which checks now and then whether a worker is stuck in a long
    /// behaviour with tasks waiting behind it.
    pub(super) fn watch(&self) {
        let idle = &self.shared.idle;
        let mut quiet = 0;
        while quiet < WATCH_LAST || !idle.end_watch(self.shared.workers.len()) {
            if park_for(&self.parker, WATCH_INTERVAL) {
                idle.wake_up(self.index);
                return idle.stop_watching();
            }
            let all_asleep = idle.sleeping() == self.shared.workers.len();
            quiet = if all_asleep { quiet + 1 } else { 0 };
            if self.sees_stuck() {
                // Wake up first: a task in the hands of a worker that counts as asleep is in no
                // queue, and the worker it was taken from may fall asleep. The runtime would look
                // idle.
                self.wake_up();
                if let Some(task) = self.help_stuck(true) {
                    self.with_queue(|tasks| tasks.aged.push_back(task));
                }
                return idle.stop_watching();
            }
        }
        self.park();
        idle.wake_up(self.index);
    }

    /// Parks. The last sleeper also looks after surplus memory.
    pub(super) fn park(&self) {
        trim::park(&self.parker, None, || self.shared.idle.sleeping() == self.shared.workers.len());
    }
}

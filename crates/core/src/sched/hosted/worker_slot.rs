//! A hosted worker while no thread is running it, and what is to run it next.

use std::task::Waker;

use coact_sync::shim::sync::Mutex;

/// The slot of one worker. All of its state changes under its lock; wakers are cloned, woken and
/// dropped outside.
pub(super) struct WorkerSlot<W>(Mutex<SlotState<W>>);

struct SlotState<W> {
    status: SlotStatus<W>,
    /// How to make the executor poll the worker: `Some` unless it was used since the last poll.
    waker: Option<Waker>,
    /// The executor has neglected the worker, and has not polled it since: a fallback thread may
    /// run it.
    neglected: bool,
}

enum SlotStatus<W> {
    /// The worker has nothing to do: it is among its runtime's sleepers.
    Asleep(W),
    /// It has something to do, and waits for a thread. `seen` says whether the monitor has already
    /// found it so.
    Due { worker: W, seen: bool },
    /// A thread is running it. `called` says whether it was called meanwhile.
    Running { called: bool },
    /// The runtime has stopped, and the worker has ended.
    Over,
}

/// Whom a call, or the end of a turn, must notify.
#[derive(Debug)]
pub(super) enum Notification {
    /// The worker is on its way, asleep, or over.
    NotNeeded,
    /// Wake the executor, if there is a waker; and a fallback thread, if the worker is `neglected`.
    Wake { waker: Option<Waker>, neglected: bool },
}

/// The result of a poll.
#[derive(Debug)]
pub(super) enum SlotPoll<W> {
    /// The worker, to be run.
    Due(W),
    /// It has nothing to do, or another thread has it.
    Nothing,
    /// It has ended.
    Over,
}

/// How a worker returns from a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TurnEnd {
    /// It has more to do.
    Due,
    /// It has fallen asleep.
    Asleep,
}

impl<W> WorkerSlot<W> {
    /// Creates a slot whose worker is running, and about to be put there.
    pub(super) fn new() -> Self {
        let status = SlotStatus::Running { called: false };
        Self(Mutex::new(SlotState { status, waker: None, neglected: false }))
    }

    /// The worker was taken off the list of sleepers: some thread must run it.
    pub(super) fn call(&self) -> Notification {
        let mut state = self.0.lock();
        match std::mem::replace(&mut state.status, SlotStatus::Over) {
            SlotStatus::Asleep(worker) => state.set_due(worker),
            SlotStatus::Running { .. } => {
                state.status = SlotStatus::Running { called: true };
                Notification::NotNeeded
            }
            other => {
                state.status = other;
                Notification::NotNeeded
            }
        }
    }

    /// Takes the worker to run it if it is due and may run now, for the executor, which polls with
    /// this waker. Also returns a waker to be dropped.
    pub(super) fn take_polled(&self, waker: Waker, may_run: bool) -> (SlotPoll<W>, Option<Waker>) {
        let mut state = self.0.lock();
        if matches!(state.status, SlotStatus::Over) {
            return (SlotPoll::Over, Some(waker));
        }
        state.neglected = false;
        let before = state.waker.replace(waker);
        let worker = state.take_if(|status| may_run && matches!(status, SlotStatus::Due { .. }));
        (worker.map_or(SlotPoll::Nothing, SlotPoll::Due), before)
    }

    /// Called by the monitor: returns whether the executor has neglected the worker since the last
    /// call, or before. Then a fallback thread may take it.
    pub(super) fn is_overdue(&self) -> bool {
        let mut state = self.0.lock();
        let neglected = state.neglected;
        let SlotStatus::Due { seen, .. } = &mut state.status else { return false };
        let overdue = neglected || *seen;
        *seen = true;
        state.neglected = overdue;
        overdue
    }

    /// Takes the worker for a fallback thread.
    pub(super) fn take_neglected(&self) -> Option<W> {
        let mut state = self.0.lock();
        let neglected = state.neglected;
        state.take_if(|status| neglected && matches!(status, SlotStatus::Due { .. }))
    }

    /// Takes it if it is asleep.
    pub(super) fn take_asleep(&self) -> Option<W> {
        self.0.lock().take_if(|status| matches!(status, SlotStatus::Asleep(_)))
    }

    /// Takes it if no thread is running it.
    pub(super) fn take_vacant(&self) -> Option<W> {
        let is_vacant =
            |status: &_| matches!(status, SlotStatus::Asleep(_) | SlotStatus::Due { .. });
        self.0.lock().take_if(is_vacant)
    }

    /// Puts the worker back after a turn. It is due if it has more to do, or was called meanwhile.
    pub(super) fn put(&self, worker: W, next: TurnEnd) -> Notification {
        let mut state = self.0.lock();
        if state.is_due_after(next) {
            return state.set_due(worker);
        }
        state.status = SlotStatus::Asleep(worker);
        Notification::NotNeeded
    }

    /// The same for the monitor, which does not ask the executor: if the worker is due, a fallback
    /// thread may run it, and this returns `true`. Its waker stays for the next call.
    pub(super) fn put_neglected(&self, worker: W, next: TurnEnd) -> bool {
        let mut state = self.0.lock();
        let is_due = state.is_due_after(next);
        state.neglected |= is_due;
        state.status = if is_due {
            SlotStatus::Due { worker, seen: true }
        } else {
            SlotStatus::Asleep(worker)
        };
        is_due
    }

    /// Records that the worker has ended. Returns the waker of its future, which is over, too.
    pub(super) fn end(&self) -> Option<Waker> {
        let mut state = self.0.lock();
        state.status = SlotStatus::Over;
        state.waker.take()
    }

    /// Records that the executor has dropped the worker's future and is not going to poll it any
    /// more. Returns the waker, to be dropped.
    pub(super) fn note_future_dropped(&self) -> Option<Waker> {
        let mut state = self.0.lock();
        state.neglected = true;
        state.waker.take()
    }

    pub(super) fn is_asleep(&self) -> bool {
        matches!(self.0.lock().status, SlotStatus::Asleep(_))
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.0.lock().status, SlotStatus::Running { .. })
    }
}

impl<W> SlotState<W> {
    /// Returns whether the running worker is due after its turn: it has more to do, or was called
    /// meanwhile.
    fn is_due_after(&self, next: TurnEnd) -> bool {
        next == TurnEnd::Due || matches!(self.status, SlotStatus::Running { called: true })
    }

    fn set_due(&mut self, worker: W) -> Notification {
        self.status = SlotStatus::Due { worker, seen: false };
        Notification::Wake { waker: self.waker.take(), neglected: self.neglected }
    }

    fn take_if(&mut self, may: impl FnOnce(&SlotStatus<W>) -> bool) -> Option<W> {
        if !may(&self.status) {
            return None;
        }
        match std::mem::replace(&mut self.status, SlotStatus::Running { called: false }) {
            SlotStatus::Asleep(worker) | SlotStatus::Due { worker, .. } => Some(worker),
            SlotStatus::Running { .. } | SlotStatus::Over => {
                unreachable!("there is no worker to take")
            }
        }
    }
}

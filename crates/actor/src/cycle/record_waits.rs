//! Keeps the table up to date with the waits, and schedules searches when they may have closed a
//! circle.

use std::sync::Arc;
use std::task::Waker;

use coact_core::cown::CownId;
use coact_core::internals::QueuePosition;

use super::held_actor::held_actor;
use super::report::AskCycle;
use super::search_schedule::search_soon;
use super::table;
use super::wait::{AskWait, SortedMailbox};
use crate::any_addr::AnyAddr;

impl AskWait {
    /// Notes that the message was sent, after this many hops; it may have been handled by now.
    /// `place` is its place, if it waits in a queue itself.
    pub(crate) fn sent(self: &Arc<Self>, hops: u32, place: Option<(CownId, QueuePosition)>) {
        // Until now it was not visible what it waits behind. (If it was not passed on, it is not
        // awaited yet.)
        if self.set_sent(hops, place) && hops > 0 {
            moved(self);
        }
    }

    /// Notes that the message was put into a mailbox that sorts, after this many hops.
    pub(crate) fn sorted(self: &Arc<Self>, hops: u32, mailbox: Arc<dyn SortedMailbox>) {
        if self.set_sorted(hops, mailbox) && hops > 0 {
            moved(self);
        }
    }

    /// Notes that a future that holds an actor has the answer.
    pub(crate) fn held_by(self: &Arc<Self>, actor: &AnyAddr) {
        if self.set_held_by(actor) {
            // The reply was given to that actor, or the wait began while the handler had it, or it
            // was passed on and handled before the table was updated. Being held with it may close
            // a circle.
            moved(self);
        }
    }
}

/// Notes that the message of a wait has reached the place where it now waits.
fn moved(wait: &Arc<AskWait>) {
    search_if(table::moved(wait), wait);
}

fn search_if(may_be_closed: bool, wait: &Arc<AskWait>) {
    if may_be_closed {
        search_soon(wait);
    }
}

/// An ask's own part of its wait.
pub(crate) struct TrackedWait {
    wait: Arc<AskWait>,
    is_known: bool,
}

impl TrackedWait {
    pub(crate) fn new(wait: Arc<AskWait>) -> Self {
        Self { wait, is_known: false }
    }

    /// Returns why there will be no answer, if that is known.
    pub(crate) fn failure(&self) -> Option<Arc<AskCycle>> {
        self.wait.failure()
    }

    /// Notes that the ask is awaited, and there is no answer yet. The caller then checks for a
    /// [failure](Self::failure).
    pub(crate) fn goes_on(&mut self, waker: &Waker) {
        if held_actor().is_none_or(|held_actor| !self.wait.is_of(&held_actor)) {
            // It was moved to another task, which holds no actor.
            return self.leave();
        }
        self.wait.wake_by(waker);
        if !std::mem::replace(&mut self.is_known, true) {
            self.wait.set_awaited();
            search_if(table::add(&self.wait), &self.wait);
        }
    }

    fn leave(&mut self) {
        if !std::mem::replace(&mut self.is_known, false) {
            return;
        }
        self.wait.set_unawaited();
        table::remove(&self.wait);
        // The waker may own the task that owns the wait.
        drop(self.wait.take_waker());
    }
}

impl Drop for TrackedWait {
    fn drop(&mut self) {
        self.leave();
    }
}

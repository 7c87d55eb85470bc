//! Keeps the table up to date with the waits, and has searches made when they may have closed a circle.

use std::sync::Arc;
use std::task::Waker;

use coact_core::cown::CownId;
use coact_core::internals::QueuePosition;

use super::holder::holder;
use super::pass::search_soon;
use super::report::AskCycle;
use super::table;
use super::wait::{SortedMailbox, Wait};
use crate::any::AnyAddr;

impl Wait {
    /// The message was sent after so many hops, and may have been handled by now. `place` is where it stands, if it
    /// stands in a queue by itself.
    pub(crate) fn sent(self: &Arc<Self>, hops: u32, place: Option<(CownId, QueuePosition)>) {
        // Before this it could not be seen what it stands behind. (If it was not passed on, it is yet to be awaited.)
        if self.set_sent(hops, place) && hops > 0 {
            moved(self);
        }
    }

    /// The message was put into a mailbox that sorts, after so many hops.
    pub(crate) fn sorted(self: &Arc<Self>, hops: u32, mailbox: Arc<dyn SortedMailbox>) {
        if self.set_sorted(hops, mailbox) && hops > 0 {
            moved(self);
        }
    }

    /// A future that holds an actor has the answer.
    pub(crate) fn held_by(self: &Arc<Self>, actor: &AnyAddr) {
        if self.set_held_by(actor) {
            // The reply was given to that actor, or the wait began while the handler had it, or it was passed on and
            // handled before the table was told. To be held with it may close a circle.
            moved(self);
        }
    }
}

/// The message of a wait has come to where it waits now.
fn moved(wait: &Arc<Wait>) {
    search_if(table::moved(wait), wait);
}

fn search_if(may_be_closed: bool, wait: &Arc<Wait>) {
    if may_be_closed {
        search_soon(wait);
    }
}

/// An ask's own part of its wait.
pub(crate) struct Waiting {
    wait: Arc<Wait>,
    is_known: bool,
}

impl Waiting {
    pub(crate) fn new(wait: Arc<Wait>) -> Self {
        Self { wait, is_known: false }
    }

    /// Why there will be no answer, if that is known.
    pub(crate) fn failure(&self) -> Option<Arc<AskCycle>> {
        self.wait.failure()
    }

    /// The ask is awaited, and there is no answer yet. To be followed by a look for a [failure](Self::failure).
    pub(crate) fn goes_on(&mut self, waker: &Waker) {
        if holder().is_none_or(|holder| !self.wait.is_of(&holder)) {
            // It was handed to somebody else, who holds nobody.
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
        // It may own what owns the wait.
        drop(self.wait.take_waker());
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.leave();
    }
}

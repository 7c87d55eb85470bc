//! A step of a pipelined behaviour that is on its way: what is to be done behind it is done behind all that its members had on
//! their way before.
//!
//! It has a part in the queue of each member (`owner.rs`), and these leave together: the queue in which it comes to the
//! front last does what is to be done, and the others wait for that. So what follows from decisions leaves in the order of the
//! decisions, for each entity, and across several.

use std::sync::{Arc, Mutex};

use coact_core::behaviour::NotCommitted;
use coact_core::internals::drop_quietly;
use coact_persist::Position;

use crate::access::lock;
use crate::outcome::{End, Then};

/// What a member has on its way, in order.
pub(crate) trait InOrder: Send + Sync {
    /// Has done what is to be done, if it is known by now what has come of the first.
    fn go_on(self: Arc<Self>);

    /// Says that what was to be done is not, as the runtime has ended, behind all of which it is known what has come of them. Adds
    /// those that may have more of them then.
    fn abandon_known(&self, others: &mut Vec<Arc<dyn InOrder>>);
}

pub(crate) struct Joint {
    members: Vec<Arc<dyn InOrder>>,
    /// Whether it has something to be stored itself.
    has_commit: bool,
    progress: Mutex<Progress>,
}

/// (Locked behind that of a member, never before.)
struct Progress {
    /// What has come of its commit, once that is known; of one that persists nothing, what has come of what it has seen.
    end: Option<End>,
    /// For how many members it has not come to the front.
    missing: usize,
    /// Until it is called.
    then: Option<Then>,
    is_over: bool,
}

impl Joint {
    /// A step that is to be stored, or has nothing to be stored itself.
    pub(crate) fn new(members: Vec<Arc<dyn InOrder>>, has_commit: bool, then: Then) -> Arc<Self> {
        let (missing, end) = (members.len(), (!has_commit).then_some(End::Stored(Position::ZERO)));
        let progress = Progress { end, missing, then: Some(then), is_over: false };
        Arc::new(Self { members, has_commit, progress: Mutex::new(progress) })
    }

    /// Whether a part of it may arrive at the front, or leave it.
    pub(crate) fn may_move(&self, has_arrived: bool) -> bool {
        let progress = lock(&self.progress);
        progress.is_over || !has_arrived && progress.end.is_some()
    }

    /// Returns what has come of it, if what was to be done is.
    pub(crate) fn over(&self) -> Option<End> {
        let progress = lock(&self.progress);
        progress.end.clone().filter(|_| progress.is_over)
    }

    /// Takes note that it has come to the front for a member, behind something that was not stored or behind nothing such. Returns
    /// what is to be done, if that was the last one: [`end`](Self::end) is to be called then.
    pub(crate) fn arrive(&self, refused: Option<&NotCommitted>) -> Option<(Then, End)> {
        let mut progress = lock(&self.progress);
        // (A commit that was stored has found its members as the decision has seen them.)
        if let (Some(End::Stored(_)), Some(why), false) = (&progress.end, refused, self.has_commit)
        {
            progress.end = Some(End::NotStored(why.clone()));
        }
        progress.missing = progress.missing.saturating_sub(1);
        if progress.missing > 0 {
            return None;
        }
        let end = progress.end.clone()?;
        Some((progress.then.take()?, end))
    }

    /// Takes note that what was to be done is, and has the members go on.
    pub(crate) fn end(&self) {
        lock(&self.progress).is_over = true;
        self.go_on();
    }

    /// Says what has come of its commit.
    pub(crate) fn told(&self, end: End) {
        lock(&self.progress).end.get_or_insert(end);
        self.go_on();
    }

    /// Has the members go on.
    pub(crate) fn go_on(&self) {
        self.members.iter().for_each(|member| Arc::clone(member).go_on());
    }

    /// Says that what was to be done is not, as the runtime has ended. Returns the members, whose parts of it may leave.
    pub(crate) fn abandon(&self) -> &[Arc<dyn InOrder>] {
        let then = {
            let mut progress = lock(&self.progress);
            progress.is_over = true;
            progress.end = Some(End::Lost);
            progress.then.take()
        };
        then.into_iter().for_each(|then| drop_quietly(|| then(&End::Lost)));
        &self.members
    }
}

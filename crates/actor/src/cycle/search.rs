//! The search backwards from actors that are held, which proves that a circle is closed.

#[cfg(all(test, not(loom)))]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::vec;

use coact_core::cown::CownId;
use coact_core::internals::{BlockedSet, QueuePosition};

use super::report::AskCycle;
use super::table;
use super::wait::{AskWait, QueueBlockage};

/// Why something could not be seen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum UnseenReason {
    /// More behaviours wait for an actor than the limit, or it will be visible soon whether any do.
    Cut,
    /// An actor was just being interrupted.
    Unsettled,
}

/// A depth-first search, backwards, from actors that are held to those that wait for them. Every
/// actor on the path stays parked until the search has backtracked. There is no recursion: the path
/// may be as long as there are actors.
pub(super) struct CycleSearch {
    /// How many behaviours that wait for one actor are examined.
    limit: usize,
    path: Vec<ParkedActor>,
    /// The queues that the search has visited.
    seen: HashMap<CownId, VisitState>,
    steps: usize,
    has_found: bool,
    /// What could not be seen from the start of the search.
    gap: Option<UnseenReason>,
}

enum VisitState {
    /// The index of its parked on the path.
    OnTheWay(usize),
    /// No circle goes through it, except through what could not be seen.
    Done(Option<UnseenReason>),
}

/// An actor (or the members of a group) that is parked and examined.
struct ParkedActor {
    queue: CownId,
    /// The wait of this actor that the search followed.
    wait: Arc<AskWait>,
    /// What waits for the actor; keeps it parked.
    blocked: HashSet<(CownId, QueuePosition)>,
    _parked: BlockedSet,
    /// Other waits that may be among these.
    next: vec::IntoIter<Arc<AskWait>>,
    gap: Option<UnseenReason>,
}

impl CycleSearch {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            path: Vec::new(),
            seen: HashMap::new(),
            steps: 0,
            has_found: false,
            gap: None,
        }
    }

    /// Returns how much was examined.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Returns whether there was a circle.
    pub(super) fn has_found(&self) -> bool {
        self.has_found
    }

    /// Breaks up every circle that goes through a wait, or that is found on the way. Returns why
    /// that may not be all, if something could not be seen.
    pub(super) fn explore(&mut self, goal: &Arc<AskWait>) -> Option<UnseenReason> {
        self.steps += 1;
        self.gap = None;
        if goal.goes_on() {
            self.enter(Arc::clone(goal));
        }
        while let Some(parked) = self.path.last_mut() {
            let Some(wait) = parked.next.next() else {
                self.go_back();
                continue;
            };
            // What the parked holds up does not move.
            match wait.is_blocked_by(parked.queue, &parked.blocked) {
                QueueBlockage::Yes => self.enter(wait),
                QueueBlockage::Unclear => self.note(Some(UnseenReason::Cut)),
                QueueBlockage::No => {}
            }
        }
        self.gap.filter(|_| goal.goes_on())
    }

    /// Visits the actor that has this wait, to examine in turn what it holds up.
    fn enter(&mut self, wait: Arc<AskWait>) {
        // An actor that is gone needs no visit.
        let Some(queue) = wait.by().queue_id() else { return };
        match self.seen.get(&queue) {
            // It is parked: the wait goes on, or has ended for good.
            Some(VisitState::OnTheWay(parked)) if wait.goes_on() => self.break_up(*parked, wait),
            Some(VisitState::OnTheWay(_)) => {}
            Some(VisitState::Done(gap)) => {
                let gap = *gap;
                self.note(gap);
            }
            None => self.look_at(queue, wait),
        }
    }

    fn look_at(&mut self, queue: CownId, wait: Arc<AskWait>) {
        self.steps += 1;
        let blocked_set = wait.by().blocked_set(self.limit);
        // If it has continued meanwhile, then before it was parked.
        if !wait.goes_on() {
            return;
        }
        let Some(mut blocked_set) = blocked_set else {
            return self.note(Some(UnseenReason::Unsettled));
        };
        let blocked: HashSet<_> = blocked_set.blocked.drain(..).collect();
        let next = table::candidates(queue, &blocked);
        self.steps += blocked.len() + next.len();
        let gap = (!blocked_set.is_complete).then_some(UnseenReason::Cut);
        let next = next.into_iter();
        self.seen.insert(queue, VisitState::OnTheWay(self.path.len()));
        self.path.push(ParkedActor { queue, wait, blocked, _parked: blocked_set, next, gap });
    }

    /// Notes that something cannot be seen from the current position.
    fn note(&mut self, gap: Option<UnseenReason>) {
        let here = self.path.last_mut().map_or(&mut self.gap, |parked| &mut parked.gap);
        *here = (*here).max(gap);
    }

    /// Leaves the last parked, whose waits have all been followed.
    fn go_back(&mut self) {
        if let Some(parked) = self.path.pop() {
            self.seen.insert(parked.queue, VisitState::Done(parked.gap));
            self.note(parked.gap);
        }
    }

    /// The circle is closed: a wait that the last parked holds up belongs to a parked on the
    /// path. The most recent of its asks fails.
    ///
    /// The search leaves the stations that are only reachable through that one; it may return to
    /// them.
    fn break_up(&mut self, parked: usize, wait: Arc<AskWait>) {
        let before = self.path[parked + 1..].iter().rev().map(|parked| &parked.wait);
        let mut circle: Vec<_> = std::iter::once(&wait).chain(before).collect();
        let last = (0..circle.len()).max_by_key(|index| circle[*index].number()).unwrap_or(0);
        circle.rotate_left(last);
        self.has_found = true;
        circle[0].fail(AskCycle { asks: circle.iter().map(|wait| wait.describe()).collect() });
        if last > 0 {
            for parked in self.path.drain(self.path.len() - last..).rev() {
                self.seen.remove(&parked.queue);
            }
        }
    }
}

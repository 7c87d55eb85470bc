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
use super::wait::{Blocked, Wait};

/// Why something could not be seen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Gap {
    /// More behaviours wait for an actor than were to be looked at, or it will show soon whether some do.
    Cut,
    /// An actor was just being interrupted.
    Unsettled,
}

/// A depth-first search, backwards, from actors that are held to those that wait for them. Whoever is on
/// the way is parked until the search has gone back. It has no recursion: the way may be as long as there
/// are actors.
pub(super) struct Search {
    /// How many behaviours that wait for one actor are looked at.
    limit: usize,
    way: Vec<Station>,
    /// The queues that the search has come to.
    seen: HashMap<CownId, Seen>,
    steps: usize,
    has_found: bool,
    /// What could not be seen from the one where the search began.
    gap: Option<Gap>,
}

enum Seen {
    /// This station of the way.
    OnTheWay(usize),
    /// No circle goes through it, but for what could not be seen.
    Done(Option<Gap>),
}

/// An actor (or the members of a group) that is parked and looked at.
struct Station {
    queue: CownId,
    /// Its wait, by which the search came here.
    wait: Arc<Wait>,
    /// What waits for it; keeps it parked.
    blocked: HashSet<(CownId, QueuePosition)>,
    _parked: BlockedSet,
    /// Other waits that may be among that.
    next: vec::IntoIter<Arc<Wait>>,
    gap: Option<Gap>,
}

impl Search {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, way: Vec::new(), seen: HashMap::new(), steps: 0, has_found: false, gap: None }
    }

    /// How much was looked at.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Whether there was a circle.
    pub(super) fn has_found(&self) -> bool {
        self.has_found
    }

    /// Breaks up every circle that goes through a wait, or that is found on the way. Tells why that may not
    /// be all, if something could not be seen.
    pub(super) fn explore(&mut self, goal: &Arc<Wait>) -> Option<Gap> {
        self.steps += 1;
        self.gap = None;
        if goal.goes_on() {
            self.enter(Arc::clone(goal));
        }
        while let Some(station) = self.way.last_mut() {
            let Some(wait) = station.next.next() else {
                self.go_back();
                continue;
            };
            // What the station holds up stays where it is.
            match wait.is_blocked_by(station.queue, &station.blocked) {
                Blocked::Yes => self.enter(wait),
                Blocked::Unclear => self.note(Some(Gap::Cut)),
                Blocked::No => {}
            }
        }
        self.gap.filter(|_| goal.goes_on())
    }

    /// Goes to the one who waits so, to look at whom it holds up in turn.
    fn enter(&mut self, wait: Arc<Wait>) {
        // One who has gone already needs no look.
        let Some(queue) = wait.by().queue_id() else { return };
        match self.seen.get(&queue) {
            // It is parked: the wait goes on, or has ended for good.
            Some(Seen::OnTheWay(station)) if wait.goes_on() => self.break_up(*station, wait),
            Some(Seen::OnTheWay(_)) => {}
            Some(Seen::Done(gap)) => {
                let gap = *gap;
                self.note(gap);
            }
            None => self.look_at(queue, wait),
        }
    }

    fn look_at(&mut self, queue: CownId, wait: Arc<Wait>) {
        self.steps += 1;
        let blocked_set = wait.by().blocked_set(self.limit);
        // If it has gone on meanwhile, then before it was parked.
        if !wait.goes_on() {
            return;
        }
        let Some(mut blocked_set) = blocked_set else { return self.note(Some(Gap::Unsettled)) };
        let blocked: HashSet<_> = blocked_set.blocked.drain(..).collect();
        let next = table::candidates(queue, &blocked);
        self.steps += blocked.len() + next.len();
        let gap = (!blocked_set.is_complete).then_some(Gap::Cut);
        let next = next.into_iter();
        self.seen.insert(queue, Seen::OnTheWay(self.way.len()));
        self.way.push(Station { queue, wait, blocked, _parked: blocked_set, next, gap });
    }

    /// Something cannot be seen from where the search is.
    fn note(&mut self, gap: Option<Gap>) {
        let here = self.way.last_mut().map_or(&mut self.gap, |station| &mut station.gap);
        *here = (*here).max(gap);
    }

    /// Leaves the last station, whose waits have all been followed.
    fn go_back(&mut self) {
        if let Some(station) = self.way.pop() {
            self.seen.insert(station.queue, Seen::Done(station.gap));
            self.note(station.gap);
        }
    }

    /// The circle is closed: a wait that the last station holds up is that of a station of the way. The
    /// one of its asks fails that was made last.
    ///
    /// The stations whose only way was that one are left; they may be come to again.
    fn break_up(&mut self, station: usize, wait: Arc<Wait>) {
        let before = self.way[station + 1..].iter().rev().map(|station| &station.wait);
        let mut circle: Vec<_> = std::iter::once(&wait).chain(before).collect();
        let last = (0..circle.len()).max_by_key(|index| circle[*index].number()).unwrap_or(0);
        circle.rotate_left(last);
        self.has_found = true;
        circle[0].fail(AskCycle { asks: circle.iter().map(|wait| wait.describe()).collect() });
        if last > 0 {
            for station in self.way.drain(self.way.len() - last..).rev() {
                self.seen.remove(&station.queue);
            }
        }
    }
}

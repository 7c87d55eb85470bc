//! The search backwards from an actor that is held, which proves that a circle is closed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use coact_core::{after, when};

use super::{AskCycle, Wait, table};
use crate::ActorId;

/// How many behaviours that wait are looked at right away. If there are more, a full search is made
/// a little later, unless the answer has come by then.
const AT_ONCE: usize = 100;

/// When the search is made again for an actor that was just being attended to.
const AGAIN: Duration = Duration::from_millis(1);

/// When a search without limit is made.
const IN_FULL: Duration = Duration::from_millis(10);

/// Has the search made once the caller has come to an end, so that its actor is parked.
pub(super) fn search_soon(wait: &Arc<Wait>) {
    let wait = Arc::clone(wait);
    when((), move |()| search(&wait, AT_ONCE));
}

fn search_later(wait: &Arc<Wait>, delay: Duration, limit: usize) {
    let wait = Arc::clone(wait);
    after(delay, (), move |()| search(&wait, limit));
}

/// Looks for a circle that an ask is part of; if there is one, the ask fails that has closed it.
fn search(wait: &Arc<Wait>, limit: usize) {
    let mut search =
        Search { goal: wait, limit, seen: HashSet::new(), circle: Vec::new(), gap: None };
    if search.explore(wait, &table::all()) {
        let failed = break_up(search.circle);
        if !Arc::ptr_eq(&failed, wait) {
            // Another circle may go through this one.
            search_soon(wait);
        }
    } else if let Some((delay, limit)) = search.gap {
        search_later(wait, delay, limit);
    }
}

/// Fails the ask that has closed a circle: the one that has begun last. Returns it.
fn break_up(mut circle: Vec<Arc<Wait>>) -> Arc<Wait> {
    let last = (0..circle.len()).max_by_key(|index| circle[*index].number()).unwrap_or(0);
    circle.rotate_left(last);
    let asks = circle.iter().map(|wait| wait.describe()).collect();
    circle[0].fail(AskCycle { asks });
    circle.swap_remove(0)
}

/// A search from one actor to those that cannot go on before it, and so forth.
struct Search<'a> {
    goal: &'a Arc<Wait>,
    limit: usize,
    seen: HashSet<ActorId>,
    /// The waits on the circle, once it is found.
    circle: Vec<Arc<Wait>>,
    /// Something could not be looked at: when to do so, and to which limit.
    gap: Option<(Duration, usize)>,
}

impl Search<'_> {
    /// Whether the goal is among the waits that can end only after `via` has ended.
    fn explore(&mut self, via: &Wait, waits: &[Arc<Wait>]) -> bool {
        let actor = via.by();
        if self.seen.contains(&actor.id()) || !via.is_awaited() {
            return false;
        }
        let mut found = false;
        // The actors before this one on the way stay parked meanwhile.
        let parked = actor.survey(self.limit, &mut |survey| {
            if !via.is_awaited() {
                // It had gone on before it was parked.
                return;
            }
            self.seen.insert(actor.id());
            if !survey.is_complete {
                self.gap.get_or_insert((IN_FULL, usize::MAX));
            }
            let blocked = survey.blocked.into_iter().collect();
            let queue = actor.queue_id();
            found = waits.iter().any(|wait| {
                let is_next = wait.is_blocked_by(queue, &blocked)
                    && (Arc::ptr_eq(wait, self.goal) || self.explore(wait, waits));
                if is_next {
                    self.circle.push(Arc::clone(wait));
                }
                is_next
            });
        });
        if !parked {
            self.gap = Some((AGAIN, self.limit));
        }
        found
    }
}

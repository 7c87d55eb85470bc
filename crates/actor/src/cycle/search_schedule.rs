//! Passes: they batch searches, and bound the share of time that these take.
//!
//! A search may have to visit all actors that wait for one another, and each ask adds one of them.
//! So asks are not examined one by one: a *pass* examines all that have arrived since the one
//! before, and visits each actor once. It starts at once if the last one was short, or found a
//! circle; a long one that found nothing is followed by a pause that is a multiple of its duration.
//! So however many asks wait without a circle, searches take a small share of one worker; and a
//! circle is found within a bounded time, which grows with what has to be visited.

use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use coact_core::runtime::RuntimeHandle;
use coact_core::time::after;
use coact_core::when;
use coact_sync::shim::process::Mutex;

use super::search::{CycleSearch, UnseenReason};
use super::wait::AskWait;

/// How many behaviours that wait for one actor are examined immediately. If there are more, all of
/// them are examined a little later, unless the answer has arrived by then.
const AT_ONCE: usize = 100;

/// The delay before a wait is examined again because an actor was just being interrupted.
const AGAIN: Duration = Duration::from_millis(1);

/// The delay before a wait is examined without a limit.
const IN_FULL: Duration = Duration::from_millis(10);

/// A pass of up to this many steps is followed by no pause.
const SHORT: usize = 100;

/// The pause per step of a longer pass: about five times the duration of the step.
const PAUSE: Duration = Duration::from_nanos(500);

/// The passes of the runtimes of a family; each runtime has its own.
#[derive(Default)]
struct SearchPasses(Mutex<Vec<(RuntimeHandle, DueSearches)>>);

/// The work of the next pass of a runtime.
#[derive(Default)]
struct DueSearches {
    /// Waits to examine: with a limit, and without.
    soon: Vec<Arc<AskWait>>,
    in_full: Vec<Arc<AskWait>>,
    /// Whether a pass is spawned or in progress.
    is_under_way: bool,
    /// No pass starts before this time of the runtime's clock.
    rests_until: Duration,
}

/// Schedules a search for circles through a wait, after the caller has finished, so that its actor
/// is parked.
pub(super) fn search_soon(wait: &Arc<AskWait>) {
    SearchPass::ask_for(|due| due.soon.push(Arc::clone(wait)));
}

/// The pass in progress in a runtime. If dropped before it has run, because the runtime has given
/// up, there is none.
struct SearchPass {
    passes: &'static SearchPasses,
    home: RuntimeHandle,
    is_over: bool,
}

impl SearchPass {
    /// Notes what to examine, and starts a pass if none is in progress.
    fn ask_for(note: impl FnOnce(&mut DueSearches)) {
        let home = RuntimeHandle::current();
        let passes: &SearchPasses = home.extension();
        let begins = passes.with(home, |due| {
            note(due);
            !std::mem::replace(&mut due.is_under_way, true)
        });
        if begins {
            SearchPass { passes, home, is_over: false }.begin();
        }
    }

    /// Spawns the pass.
    fn begin(self) {
        let until = self.passes.with(self.home, |due| due.rests_until);
        match until.saturating_sub(self.home.elapsed()) {
            Duration::ZERO => when((), move |()| self.make()),
            pause => _ = after(pause, (), move |()| self.make()),
        }
    }

    fn make(mut self) {
        let (soon, in_full) =
            self.passes.with(self.home, |due| (take(&mut due.soon), take(&mut due.in_full)));
        let mut pause = Duration::ZERO;
        for (goals, limit) in [(soon, AT_ONCE), (in_full, usize::MAX)] {
            if !goals.is_empty() {
                pause += look_for(goals, limit);
            }
        }
        let now = self.home.elapsed();
        self.is_over = self.passes.with(self.home, |due| {
            due.rests_until = now + pause;
            due.is_under_way = !due.soon.is_empty() || !due.in_full.is_empty();
            !due.is_under_way
        });
        if !self.is_over {
            self.begin();
        }
    }
}

impl Drop for SearchPass {
    fn drop(&mut self) {
        if !self.is_over {
            self.passes.with(self.home, |due| due.is_under_way = false);
        }
    }
}

impl SearchPasses {
    fn with<R>(&self, home: RuntimeHandle, look: impl FnOnce(&mut DueSearches) -> R) -> R {
        let mut all = self.0.lock();
        let index = all.iter().position(|(of, _)| *of == home).unwrap_or_else(|| {
            all.push((home, DueSearches::default()));
            all.len() - 1
        });
        look(&mut all[index].1)
    }
}

/// Looks for circles through these waits. Returns how long to pause before the next pass.
fn look_for(goals: Vec<Arc<AskWait>>, limit: usize) -> Duration {
    let mut search = CycleSearch::new(limit);
    let (mut again, mut in_full) = (Vec::new(), Vec::new());
    for goal in goals {
        match search.explore(&goal) {
            None => {}
            Some(UnseenReason::Unsettled) => again.push(goal),
            Some(UnseenReason::Cut) => in_full.push(goal),
        }
    }
    if !again.is_empty() {
        let note = move |due: &mut DueSearches| due.of(limit).append(&mut again);
        after(AGAIN, (), move |()| SearchPass::ask_for(note));
    }
    if !in_full.is_empty() {
        after(IN_FULL, (), move |()| SearchPass::ask_for(|due| due.in_full.append(&mut in_full)));
    }
    if search.steps() <= SHORT || search.has_found() {
        return Duration::ZERO;
    }
    PAUSE * u32::try_from(search.steps()).unwrap_or(u32::MAX)
}

impl DueSearches {
    fn of(&mut self, limit: usize) -> &mut Vec<Arc<AskWait>> {
        if limit == AT_ONCE { &mut self.soon } else { &mut self.in_full }
    }
}

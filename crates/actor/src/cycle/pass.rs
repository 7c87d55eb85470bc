//! When searches are made: many at once, and no more than a small part of the time.
//!
//! A search may have to look at all actors that wait for one another, and each ask adds one of them. So
//! asks are not searched for one by one: a *pass* looks for all that have come since the one before, and
//! goes to each actor once. It is made at once if the last one was short, or has found a circle; after a long
//! one that has found nothing there is a pause that is a multiple of what it took. So however many asks there
//! are that wait for no circle, searches take a small share of one worker; and a circle is found within a
//! bounded time, which grows with what has to be looked at.

use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use coact_core::runtime::RuntimeHandle;
use coact_core::time::after;
use coact_core::when;
use coact_sync::shim::process::Mutex;

use super::search::{Gap, Search};
use super::wait::Wait;

/// How many behaviours that wait for one actor are looked at right away. If there are more, all of
/// them are a little later, unless the answer has come by then.
const AT_ONCE: usize = 100;

/// When one is looked for again since an actor was just being interrupted.
const AGAIN: Duration = Duration::from_millis(1);

/// When one is looked for without limit.
const IN_FULL: Duration = Duration::from_millis(10);

/// A pass of so many steps is followed by no pause.
const SHORT: usize = 100;

/// The pause for each step of a longer pass: some five times what the step takes.
const PAUSE: Duration = Duration::from_nanos(500);

/// The passes of the runtimes of a family: each makes its own.
#[derive(Default)]
struct Passes(Mutex<Vec<(RuntimeHandle, Due)>>);

/// What the next pass of a runtime has to do.
#[derive(Default)]
struct Due {
    /// Those to be looked for: with a limit, and without.
    soon: Vec<Arc<Wait>>,
    in_full: Vec<Arc<Wait>>,
    /// Whether a pass is spawned, or goes on.
    is_under_way: bool,
    /// No pass is made before this time of the runtime's.
    rests_until: Duration,
}

/// Has circles through a wait looked for, once the caller has come to an end, so that its actor is parked.
pub(super) fn search_soon(wait: &Arc<Wait>) {
    Pass::ask_for(|due| due.soon.push(Arc::clone(wait)));
}

/// The pass that is under way in a runtime. If it is dropped before it was made, since the runtime has
/// given up, none is.
struct Pass {
    passes: &'static Passes,
    home: RuntimeHandle,
    is_over: bool,
}

impl Pass {
    /// Notes what is to be looked for, and has a pass made if none is under way.
    fn ask_for(note: impl FnOnce(&mut Due)) {
        let home = RuntimeHandle::current();
        let passes: &Passes = home.extension();
        let begins = passes.with(home, |due| {
            note(due);
            !std::mem::replace(&mut due.is_under_way, true)
        });
        if begins {
            Pass { passes, home, is_over: false }.begin();
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

impl Drop for Pass {
    fn drop(&mut self) {
        if !self.is_over {
            self.passes.with(self.home, |due| due.is_under_way = false);
        }
    }
}

impl Passes {
    fn with<R>(&self, home: RuntimeHandle, look: impl FnOnce(&mut Due) -> R) -> R {
        let mut all = self.0.lock();
        let index = all.iter().position(|(of, _)| *of == home).unwrap_or_else(|| {
            all.push((home, Due::default()));
            all.len() - 1
        });
        look(&mut all[index].1)
    }
}

/// Looks for circles through these. Returns for how long there is to be no other pass.
fn look_for(goals: Vec<Arc<Wait>>, limit: usize) -> Duration {
    let mut search = Search::new(limit);
    let (mut again, mut in_full) = (Vec::new(), Vec::new());
    for goal in goals {
        match search.explore(&goal) {
            None => {}
            Some(Gap::Unsettled) => again.push(goal),
            Some(Gap::Cut) => in_full.push(goal),
        }
    }
    if !again.is_empty() {
        let note = move |due: &mut Due| due.of(limit).append(&mut again);
        after(AGAIN, (), move |()| Pass::ask_for(note));
    }
    if !in_full.is_empty() {
        after(IN_FULL, (), move |()| Pass::ask_for(|due| due.in_full.append(&mut in_full)));
    }
    if search.steps() <= SHORT || search.has_found() {
        return Duration::ZERO;
    }
    PAUSE * u32::try_from(search.steps()).unwrap_or(u32::MAX)
}

impl Due {
    fn of(&mut self, limit: usize) -> &mut Vec<Arc<Wait>> {
        if limit == AT_ONCE { &mut self.soon } else { &mut self.in_full }
    }
}

//! Depth-first search: every schedule within bounds, exactly once.
//!
//! The search keeps the path of the current run: one [`PathChoice`] per choice, with what was on
//! offer and which option was taken. The next run repeats that path up to its deepest branch with
//! an option left, takes that option, and goes on with first options:
//!
//! ```text
//!   run 1    a ─ b ─ c ─ d      first options all the way
//!   run 2    a ─ b ─ c ─ e      the deepest branch, next option
//!   run 3    a ─ f ─ ...        nothing left below b: forget c, take b's next option
//! ```
//!
//! So two runs differ in at least one choice, and no path is skipped. Both hold only if the program
//! offers the same after the same choices, which is checked at every repeated branch.

use super::SchedulingStrategy;
use super::fifo::FifoQueue;
use crate::{RunDivergence, SchedulingOffer, TaskId};

/// What a depth-first search leaves out.
///
/// By default it leaves out no preemptions, and explores the first 10,000 choices of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "bounds do nothing until a search is created with them"]
pub struct Bounds {
    preemptions: Option<u32>,
    depth: u64,
}

impl Bounds {
    /// Creates the default bounds.
    pub const fn new() -> Self {
        Bounds { preemptions: None, depth: 10_000 }
    }

    /// Allows at most `limit` preemptions per run.
    ///
    /// The number of schedules is exponential in the length of a run, but polynomial with a
    /// preemption bound, and most bugs need no more than two preemptions (Musuvathi and Qadeer,
    /// PLDI 2007).
    pub const fn preemptions(mut self, limit: u32) -> Self {
        self.preemptions = Some(limit);
        self
    }

    /// Explores only the first `limit` choices of a run; the rest follow
    /// [`FifoOrder`](super::FifoOrder).
    pub const fn depth(mut self, limit: u64) -> Self {
        self.depth = limit;
        self
    }

    /// The bound on preemptions, if there is one.
    pub const fn preemption_limit(&self) -> Option<u32> {
        self.preemptions
    }

    /// The bound on depth.
    pub const fn depth_limit(&self) -> u64 {
        self.depth
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds::new()
    }
}

/// Enumerates the schedules of a program depth first, each exactly once.
///
/// The first run has no preemption. Preemptions, and greater values of
/// [`choose_value`](SchedulingStrategy::choose_value), come later, the last choices of a run first.
/// All values below a bound are explored, so programs should ask for small ones.
///
/// A run that does not offer the same after the same choices is reported by
/// [`end_run`](SchedulingStrategy::end_run) and ends the search.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{Bounds, DepthFirstSearch, SchedulingStrategy};
///
/// let mut dfs = DepthFirstSearch::new(Bounds::new());
/// let mut rolls = Vec::new();
/// while dfs.begin_run() {
///     rolls.push((dfs.choose_value(2), dfs.choose_value(3)));
///     dfs.end_run().expect("the program is deterministic");
/// }
/// assert_eq!(rolls, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
/// assert!(dfs.is_exhaustive());
/// ```
#[derive(Clone, Debug)]
pub struct DepthFirstSearch {
    bounds: Bounds,
    path: Vec<PathChoice>,
    /// The choices made in this run; up to the end of `path` they repeat it.
    at: usize,
    preemptions: u32,
    phase: DfsPhase,
    divergence: Option<RunDivergence>,
    /// Chooses past the depth bound, and in the rest of a run that diverged.
    beyond: FifoQueue,
    /// Whether there was ever more than one option past the depth bound.
    truncated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DfsPhase {
    /// The path leads to a schedule that has not been run.
    Between,
    /// A run is in progress.
    Running,
    /// No schedule is left.
    Exhausted,
    /// The program is not deterministic, so the path is meaningless.
    Diverged,
}

/// One choice of the path: option `taken` out of `width`.
#[derive(Clone, Debug)]
struct PathChoice {
    offer: SchedulingOffer,
    taken: u64,
    width: u64,
}

impl DepthFirstSearch {
    /// Creates a search within `bounds`.
    pub const fn new(bounds: Bounds) -> Self {
        DepthFirstSearch {
            bounds,
            path: Vec::new(),
            at: 0,
            preemptions: 0,
            phase: DfsPhase::Between,
            divergence: None,
            beyond: FifoQueue::new(),
            truncated: false,
        }
    }

    /// The number of options at a choice of tasks: leaving `current` is an option only while the
    /// bound on preemptions allows it.
    fn width(&self, runnable: &[TaskId], current: Option<TaskId>) -> u64 {
        let exhausted = self.bounds.preemptions == Some(self.preemptions);
        match current {
            Some(_) if exhausted => 1,
            _ => runnable.len() as u64,
        }
    }

    /// Returns the option taken at the next choice of the path, or `None` if the path decides
    /// nothing there.
    ///
    /// `repeats` tells whether an earlier run's offer equals this run's, which otherwise is built
    /// by `offer` and has `width` options.
    fn follow(
        &mut self,
        width: u64,
        repeats: impl FnOnce(&SchedulingOffer) -> bool,
        offer: impl FnOnce() -> SchedulingOffer,
    ) -> Option<u64> {
        let at = self.at;
        self.at += 1;
        if self.divergence.is_some() {
            return None;
        }
        if at as u64 >= self.bounds.depth {
            self.truncated |= width > 1;
            return None;
        }
        match self.path.get(at) {
            Some(branch) if repeats(&branch.offer) => Some(branch.taken),
            Some(branch) => {
                self.divergence = Some(RunDivergence::Offer {
                    at: at as u64,
                    expected: branch.offer.clone(),
                    found: offer(),
                });
                None
            }
            None => {
                let (offer, taken) = (offer(), 0);
                self.path.push(PathChoice { offer, taken, width });
                Some(taken)
            }
        }
    }

    /// Moves the path to the next schedule. Returns `false` if there is none.
    fn backtrack(&mut self) -> bool {
        while let Some(branch) = self.path.last_mut() {
            branch.taken += 1;
            if branch.taken < branch.width {
                return true;
            }
            self.path.pop();
        }
        false
    }

    fn ended_early(&self) -> Option<RunDivergence> {
        (self.at < self.path.len()).then_some(RunDivergence::EndedEarly {
            at: self.at as u64,
            expected: self.path.len() as u64,
        })
    }
}

impl SchedulingStrategy for DepthFirstSearch {
    fn begin_run(&mut self) -> bool {
        self.end_run().unwrap_or_else(|divergence| panic!("{divergence}"));
        if self.phase != DfsPhase::Between {
            return false;
        }
        self.phase = DfsPhase::Running;
        self.at = 0;
        self.preemptions = 0;
        self.beyond = FifoQueue::new();
        true
    }

    fn choose_task(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId {
        let taken = self.follow(
            self.width(runnable, current),
            |offer| offer.is_tasks(runnable, current),
            || SchedulingOffer::tasks(runnable, current),
        );
        let Some(option) = taken else {
            return self.beyond.next(runnable, current);
        };
        let task = nth_option(option as usize, runnable, current);
        self.preemptions += u32::from(current.is_some_and(|current| current != task));
        task
    }

    fn choose_value(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no value below 0");
        let offer = SchedulingOffer::Value { bound };
        let taken = self.follow(bound, |earlier| *earlier == offer, || offer.clone());
        taken.unwrap_or(0)
    }

    fn end_run(&mut self) -> Result<(), RunDivergence> {
        if self.phase != DfsPhase::Running {
            return Ok(());
        }
        if let Some(divergence) = self.divergence.take().or_else(|| self.ended_early()) {
            self.phase = DfsPhase::Diverged;
            return Err(divergence);
        }
        self.phase = match self.backtrack() {
            true => DfsPhase::Between,
            false => DfsPhase::Exhausted,
        };
        Ok(())
    }

    fn is_exhaustive(&self) -> bool {
        self.phase == DfsPhase::Exhausted && !self.truncated
    }
}

/// The options at a choice of tasks: `current` first, then the others in ascending order.
fn nth_option(n: usize, runnable: &[TaskId], current: Option<TaskId>) -> TaskId {
    let others = runnable.iter().copied().filter(|&task| Some(task) != current);
    current
        .into_iter()
        .chain(others)
        .nth(n)
        .expect("at least one task is runnable, and an option is below the width")
}

//! Probabilistic concurrency testing: random priorities that change at random points.
//!
//! The algorithm of Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with
//! The algorithm of Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with
//! Probabilistic Guarantees of Finding Bugs", ASPLOS 2010. As in the paper, priorities are numbers:
//!
//! ```text
//!   2^62 and up     every task, at random, when it is first seen
//!   1 .. d-1        the task that was to go on when the run reached change point 1 .. d-1
//!   below 0         a task that gave up its turn, lower each time
//! ```
//!
//! The last line is an addition. The paper runs a task of high priority until it blocks, so one
//! that spins until another task acts would spin forever.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::SchedulingStrategy;
use crate::prng::Prng;
use crate::{Seed, TaskId};

/// Runs the task with the highest priority, and lowers a priority at `depth - 1` random points.
///
/// A bug's *depth* is the number of ordering constraints it needs: "the handle is used before it is
/// set" is one, "the lock is taken between those two steps" is two, and most bugs found in
/// practice need no more than three. In a program of `n` tasks and `k` choices each run shows a bug
/// of depth `d` with probability 1/(n·kᵈ⁻¹) or better, however long the run and however rare
/// the schedule under a uniform pick.
///
/// The length `k` is learnt: it is that of the longest run so far, so the first run has no change
/// points. There is no last run.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{Pct, Seed, SchedulingStrategy, TaskId};
///
/// let mut pct = Pct::new(Seed::new(7), 1);
/// pct.begin_run();
/// // With depth 1 there is no change point: the favourite stays the favourite.
/// let favourite = pct.choose_task(&[TaskId(0), TaskId(1)], None);
/// for _ in 0..100 {
///     assert_eq!(pct.choose_task(&[TaskId(0), TaskId(1)], Some(favourite)), favourite);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Pct {
    seed: Seed,
    runs: u64,
    prng: Prng,
    priorities: BTreeMap<TaskId, i64>,
    /// Element `i` is the step before which the task that would go on gets priority `i + 1`.
    change_points: Vec<u64>,
    /// The number of task choices in this run, and in the longest run before it.
    step: u64,
    longest: u64,
    /// The task chosen last, and how often tasks have yielded.
    last: Option<TaskId>,
    yields: i64,
}

const INITIAL: i64 = 1 << 62;

impl Pct {
    /// Creates a strategy that looks for bugs of this depth, with the schedules of `seed`.
    ///
    /// # Panics
    ///
    /// Panics if `depth` is zero: every bug has at least depth 1.
    pub fn new(seed: Seed, depth: u32) -> Self {
        assert!(depth > 0, "the depth of a bug is at least 1");
        Pct {
            seed,
            runs: 0,
            prng: Prng::new(seed),
            priorities: BTreeMap::new(),
            change_points: vec![0; depth as usize - 1],
            step: 0,
            longest: 0,
            last: None,
            yields: 0,
        }
    }

    fn draw_change_points(&mut self) {
        for point in &mut self.change_points {
            // Step 0 never occurs: steps are counted from 1.
            *point = match self.longest {
                0 => 0,
                longest => 1 + self.prng.below(longest),
            };
        }
    }

    /// Gives each new task a random priority above those of all change points.
    fn admit(&mut self, runnable: &[TaskId]) {
        for &task in runnable {
            let prng = &mut self.prng;
            self.priorities.entry(task).or_insert_with(|| INITIAL | (prng.next_u64() >> 2) as i64);
        }
    }

    /// Puts the task chosen last behind all others if it yielded rather than blocked or ended.
    fn demote_yielder(&mut self, runnable: &[TaskId]) {
        if let Some(last) = self.last.filter(|last| runnable.contains(last)) {
            self.yields += 1;
            self.priorities.insert(last, -self.yields);
        }
    }

    fn favourite(&self, runnable: &[TaskId]) -> TaskId {
        let rank = |task: &&TaskId| Reverse(self.priorities[*task]);
        *runnable.iter().min_by_key(rank).expect("at least one task is runnable")
    }
}

impl SchedulingStrategy for Pct {
    fn begin_run(&mut self) -> bool {
        self.longest = self.longest.max(self.step);
        self.runs += 1;
        self.prng = Prng::new(self.seed.for_run(self.runs));
        self.draw_change_points();
        self.priorities.clear();
        self.step = 0;
        self.last = None;
        self.yields = 0;
        true
    }

    fn choose_task(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId {
        self.step += 1;
        self.admit(runnable);
        if current.is_none() {
            self.demote_yielder(runnable);
        }
        for (i, &point) in (1..).zip(&self.change_points) {
            if point == self.step {
                let favourite = self.favourite(runnable);
                self.priorities.insert(favourite, i);
            }
        }
        let next = self.favourite(runnable);
        self.last = Some(next);
        next
    }

    fn choose_value(&mut self, bound: u64) -> u64 {
        self.prng.below(bound)
    }
}

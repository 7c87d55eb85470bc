//! A uniform pick at every point.

use super::SchedulingStrategy;
use crate::prng::Prng;
use crate::{Seed, TaskId};

/// Picks each runnable task with equal probability, anew at every scheduling point.
///
/// Every schedule has some probability, so none is out of reach; but a schedule that holds a given
/// task back for long is rare, and [`Pct`](super::Pct) is better at those. There is no last run.
///
/// A run's choices depend only on the seed, the number of the run and the program.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{RandomWalk, Seed, SchedulingStrategy, TaskId};
///
/// let tasks = [TaskId(0), TaskId(1), TaskId(2)];
/// let first_run = |seed| {
///     let mut random = RandomWalk::new(seed);
///     random.begin_run();
///     [(); 9].map(|()| random.choose_task(&tasks, None))
/// };
/// assert_eq!(first_run(Seed::new(1)), first_run(Seed::new(1)));
/// assert_ne!(first_run(Seed::new(1)), first_run(Seed::new(2)));
/// ```
#[derive(Clone, Debug)]
pub struct RandomWalk {
    seed: Seed,
    runs: u64,
    prng: Prng,
}

impl RandomWalk {
    /// Creates the strategy with the random schedules of `seed`.
    pub fn new(seed: Seed) -> Self {
        RandomWalk { seed, runs: 0, prng: Prng::new(seed) }
    }
}

impl SchedulingStrategy for RandomWalk {
    fn begin_run(&mut self) -> bool {
        self.runs += 1;
        self.prng = Prng::new(self.seed.for_run(self.runs));
        true
    }

    fn choose_task(&mut self, runnable: &[TaskId], _current: Option<TaskId>) -> TaskId {
        self.prng.pick(runnable)
    }

    fn choose_value(&mut self, bound: u64) -> u64 {
        self.prng.below(bound)
    }
}

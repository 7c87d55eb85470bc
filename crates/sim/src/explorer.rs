//! The exploration of one program: counts its runs and reports the one that fails.

use std::fmt;

use crate::{
    Config, Failure, RunDivergence, Schedule, ScheduleRecorder, SchedulingStrategy, TaskId,
};

/// The runs of one program under one [`Config`].
///
/// A driver uses it as a [`SchedulingStrategy`], and asks it for a [`failure`](Self::failure) when
/// a run goes wrong. For a program that is a function of its choices, use
/// [`explore`](Self::explore).
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{Config, SchedulingStrategy, TaskId};
///
/// let mut explorer = Config::new().runs(2).explorer();
/// while explorer.begin_run() {
///     let task = explorer.choose_task(&[TaskId(0), TaskId(1)], None);
///     assert!(task <= TaskId(1));
///     explorer.end_run().expect("the program is deterministic");
/// }
/// assert_eq!(explorer.runs(), 2);
/// ```
#[must_use = "an explorer does nothing until it begins a run"]
pub struct Explorer {
    config: Config,
    recorder: ScheduleRecorder<Box<dyn SchedulingStrategy + Send>>,
    runs: u64,
}

impl Config {
    /// Starts an exploration with these settings.
    ///
    /// # Panics
    ///
    /// Panics if the method is [`Method::Pct`](crate::Method::Pct) with depth zero.
    pub fn explorer(&self) -> Explorer {
        Explorer::new(self.clone(), self.method.strategy(self.seed))
    }
}

impl Explorer {
    pub(crate) fn new(config: Config, strategy: Box<dyn SchedulingStrategy + Send>) -> Self {
        Explorer { config, recorder: ScheduleRecorder::new(strategy), runs: 0 }
    }

    /// Returns the number of runs begun, the current one included.
    pub const fn runs(&self) -> u64 {
        self.runs
    }

    /// Returns the choices of the current run so far.
    pub const fn schedule(&self) -> &Schedule {
        self.recorder.schedule()
    }

    /// Returns the settings.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Ends the current run and reports that it failed.
    pub fn failure(&mut self, cause: impl fmt::Display) -> Failure {
        let divergence = self.end_run().err();
        self.report(cause.to_string(), divergence)
    }

    fn report(&self, cause: String, divergence: Option<RunDivergence>) -> Failure {
        let (config, schedule) = (self.config.clone(), self.schedule().clone());
        Failure::new(cause, divergence, config, self.runs, schedule)
    }

    /// Runs `program` until a run fails or none is left, and returns the number of runs.
    ///
    /// A run that diverges has failed as well.
    ///
    /// # Errors
    ///
    /// Returns the report of the first run that fails.
    pub fn explore<E: fmt::Display>(
        &mut self,
        mut program: impl FnMut(&mut Explorer) -> Result<(), E>,
    ) -> Result<u64, Failure> {
        while self.begin_run() {
            if let Err(cause) = program(self) {
                return Err(self.failure(cause));
            }
            if let Err(divergence) = self.end_run() {
                return Err(self.report("the run took another path".into(), Some(divergence)));
            }
        }
        Ok(self.runs)
    }
}

impl SchedulingStrategy for Explorer {
    fn begin_run(&mut self) -> bool {
        // Asks the strategy only if the run can be made, so that a depth-first search stays where
        // it is; but a divergence must be reported at the limit as well.
        if self.runs >= self.config.run_limit() {
            self.end_run().unwrap_or_else(|divergence| panic!("{divergence}"));
            return false;
        }
        let begun = self.recorder.begin_run();
        self.runs += u64::from(begun);
        begun
    }

    fn choose_task(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId {
        self.recorder.choose_task(runnable, current)
    }

    fn choose_value(&mut self, bound: u64) -> u64 {
        self.recorder.choose_value(bound)
    }

    fn end_run(&mut self) -> Result<(), RunDivergence> {
        self.recorder.end_run()
    }

    fn is_exhaustive(&self) -> bool {
        self.recorder.is_exhaustive()
    }
}

impl fmt::Debug for Explorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explorer")
            .field("config", &self.config)
            .field("runs", &self.runs)
            .field("schedule", self.schedule())
            .finish_non_exhaustive()
    }
}

//! The report of a failed run, with everything needed to repeat it.

use std::error::Error;
use std::fmt;

use crate::variables::{RUNS, SCHEDULE, SEED, STRATEGY};
use crate::{Config, Method, RunDivergence, Schedule, Seed};

/// A failed run.
///
/// `Display` prints the cause, the seed, the run, the strategy and the schedule, and the
/// environment variables that replay it; `Debug` prints the same, so that `unwrap` in a test shows
/// it as well.
///
/// Of a schedule that takes more than 4,096 characters, it prints only the length and the last
/// choices; repeating the exploration reproduces the run as its last one. `{:#}` prints the
/// schedule whole, and [`schedule`](Self::schedule) returns it for [`Method::Replay`].
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{Config, Method, SchedulingStrategy};
///
/// let mut explorer = Config::new().method(Method::Pct { depth: 2 }).explorer();
/// explorer.begin_run();
/// let failure = explorer.failure("the account is overdrawn");
/// assert_eq!(
///     failure.to_string(),
///     "run 1 failed: the account is overdrawn
///   seed      0x0
///   strategy  pct:2
///   schedule  coact1-0000000 (0 choices)
/// to replay this run:
///   COACT_SIM_SCHEDULE=coact1-0000000
/// to repeat the exploration up to it:
///   COACT_SIM_STRATEGY=pct:2 COACT_SIM_SEED=0x0 COACT_SIM_RUNS=1"
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Failure(Box<FailureReport>);

/// Boxed, so that a `Result` with a failure is cheap to return.
#[derive(Clone, PartialEq, Eq)]
struct FailureReport {
    cause: String,
    divergence: Option<RunDivergence>,
    config: Config,
    run: u64,
    schedule: Schedule,
}

impl Failure {
    pub(crate) fn new(
        cause: String,
        divergence: Option<RunDivergence>,
        config: Config,
        run: u64,
        schedule: Schedule,
    ) -> Self {
        Failure(Box::new(FailureReport { cause, divergence, config, run, schedule }))
    }

    /// Creates the report of a run that cannot end, from outside of it: for a driver that watches
    /// its runs.
    pub fn unfinished(cause: String, config: Config, run: u64, schedule: Schedule) -> Self {
        Failure::new(cause, None, config, run, schedule)
    }

    /// What went wrong.
    pub fn cause(&self) -> &str {
        &self.0.cause
    }

    /// How the run differed from the one it should have repeated, if it did.
    pub fn divergence(&self) -> Option<&RunDivergence> {
        self.0.divergence.as_ref()
    }

    /// The seed of the exploration.
    pub fn seed(&self) -> Seed {
        self.0.config.seed
    }

    /// The number of the failed run, counted from 1.
    pub fn run(&self) -> u64 {
        self.0.run
    }

    /// The strategy that made the run's choices.
    pub fn method(&self) -> &Method {
        &self.0.config.method
    }

    /// The choices of the run, up to its failure.
    pub fn schedule(&self) -> &Schedule {
        &self.0.schedule
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seed, run, method, schedule) =
            (self.seed(), self.run(), self.method(), self.schedule());
        writeln!(f, "run {run} failed: {}", self.cause())?;
        if let Some(divergence) = self.divergence() {
            writeln!(f, "  note      {divergence}")?;
        }
        writeln!(f, "  seed      {seed}")?;
        writeln!(f, "  strategy  {method}")?;
        let whole =
            Some(schedule.to_string()).filter(|text| f.alternate() || text.len() <= LONGEST);
        match &whole {
            Some(text) => {
                writeln!(f, "  schedule  {text} ({} choices)", schedule.len())?;
                writeln!(f, "to replay this run:")?;
                write!(f, "  {SCHEDULE}={text}")?;
            }
            None => fmt_end(schedule, f)?,
        }
        if matches!(method, Method::Replay(_)) {
            return Ok(());
        }
        writeln!(f, "\nto repeat the exploration up to it:")?;
        write!(f, "  {STRATEGY}={method} {SEED}={seed} {RUNS}={run}")
    }
}

/// The most characters of a schedule that is printed whole.
const LONGEST: usize = 4_096;
/// The number of last stretches printed of a longer schedule.
const LAST: usize = 20;

fn fmt_end(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "  schedule  {} choices (`{{:#}}` prints them all), the last:", schedule.len())?;
    for (n, (choice, count)) in schedule.last(LAST).enumerate() {
        let separator = if n == 0 { "" } else { "," };
        match count {
            1 => write!(f, "{separator} {choice}")?,
            count => write!(f, "{separator} {count} times {choice}")?,
        }
    }
    Ok(())
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The source is how the run diverged, if it did.
impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.divergence().map(|divergence| divergence as _)
    }
}

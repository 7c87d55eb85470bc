//! The settings of an exploration: what to explore, and how far.

use std::fmt;
use std::str::FromStr;

use crate::strategy::{
    Bounds, DepthFirstSearch, FifoOrder, Pct, RandomWalk, ScheduleReplay, SchedulingStrategy,
};
use crate::{Schedule, Seed};

/// How runs are chosen: a [strategy](crate::strategy) and its settings.
///
/// Prints as, and parses from, the value of the environment variable `COACT_SIM_STRATEGY`. Only
/// [`Method::Replay`], which has a variable of its own, does not parse.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{Bounds, Method};
///
/// assert_eq!("random".parse(), Ok(Method::Random));
/// assert_eq!("pct:2".parse(), Ok(Method::Pct { depth: 2 }));
/// assert_eq!("pct".parse(), Ok(Method::Pct { depth: 3 }));
/// assert_eq!("dfs".parse(), Ok(Method::Dfs(Bounds::new())));
/// assert_eq!("dfs:2@500".parse(), Ok(Method::Dfs(Bounds::new().preemptions(2).depth(500))));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// [`RandomWalk`]: `random`.
    #[default]
    Random,
    /// [`Pct`]: `pct`, or `pct:` and the depth.
    Pct {
        /// The depth of the bugs looked for, at least 1.
        depth: u32,
    },
    /// [`DepthFirstSearch`]: `dfs`, then `:` and the bound on preemptions, then `@` and that on
    /// depth.
    Dfs(Bounds),
    /// [`FifoOrder`]: `fifo`.
    Fifo,
    /// [`ScheduleReplay`]: prints as `replay`.
    Replay(Schedule),
}

/// The paper's authors found most bugs at this depth or below.
const USUAL_PCT_DEPTH: u32 = 3;

impl Method {
    pub(crate) fn strategy(&self, seed: Seed) -> Box<dyn SchedulingStrategy + Send> {
        match self {
            Method::Random => Box::new(RandomWalk::new(seed)),
            Method::Pct { depth } => Box::new(Pct::new(seed, *depth)),
            Method::Dfs(bounds) => Box::new(DepthFirstSearch::new(*bounds)),
            Method::Fifo => Box::new(FifoOrder::new()),
            Method::Replay(schedule) => Box::new(ScheduleReplay::new(schedule.clone())),
        }
    }

    /// The default number of runs. Only a depth-first search ends by itself.
    const fn usual_runs(&self) -> u64 {
        match self {
            Method::Random | Method::Pct { .. } => 1000,
            Method::Dfs(_) => u64::MAX,
            Method::Fifo | Method::Replay(_) => 1,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Random => f.write_str("random"),
            Method::Pct { depth } => write!(f, "pct:{depth}"),
            Method::Dfs(bounds) => {
                f.write_str("dfs")?;
                if let Some(limit) = bounds.preemption_limit() {
                    write!(f, ":{limit}")?;
                }
                if bounds.depth_limit() != Bounds::new().depth_limit() {
                    write!(f, "@{}", bounds.depth_limit())?;
                }
                Ok(())
            }
            Method::Fifo => f.write_str("fifo"),
            Method::Replay(_) => f.write_str("replay"),
        }
    }
}

impl FromStr for Method {
    type Err = MethodParseError;

    fn from_str(text: &str) -> Result<Self, MethodParseError> {
        parse_method(text).ok_or_else(|| MethodParseError { text: text.into() })
    }
}

fn parse_method(text: &str) -> Option<Method> {
    let (text, depth) = split_number(text, '@')?;
    let (name, argument) = split_number(text, ':')?;
    match (name, argument, depth) {
        ("random", None, None) => Some(Method::Random),
        ("fifo", None, None) => Some(Method::Fifo),
        ("pct", Some(0), None) => None,
        ("pct", depth, None) => Some(Method::Pct { depth: depth.unwrap_or(USUAL_PCT_DEPTH) }),
        ("dfs", preemptions, depth) => {
            let mut bounds = Bounds::new();
            if let Some(limit) = preemptions {
                bounds = bounds.preemptions(limit);
            }
            if let Some(limit) = depth {
                bounds = bounds.depth(limit);
            }
            Some(Method::Dfs(bounds))
        }
        _ => None,
    }
}

/// Splits off a separator and the number behind it; `None` if that is not a number.
fn split_number<T: FromStr>(text: &str, separator: char) -> Option<(&str, Option<T>)> {
    match text.split_once(separator) {
        None => Some((text, None)),
        Some((head, number)) => Some((head, Some(number.parse().ok()?))),
    }
}

/// The text does not name a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodParseError {
    text: String,
}

impl fmt::Display for MethodParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a strategy; expected random, pct[:depth], dfs[:preemptions][@depth] or fifo",
            self.text
        )
    }
}

impl std::error::Error for MethodParseError {}

/// Which schedules of a program are tried, and how many.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{Config, Method, SchedulingStrategy};
///
/// let config = Config::new().method(Method::Pct { depth: 2 }).runs(200).with_env()?;
/// let mut explorer = config.explorer();
/// assert!(explorer.begin_run());
/// # Ok::<(), coact_sim::EnvError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "settings do nothing until an explorer is created from them"]
pub struct Config {
    pub(crate) method: Method,
    pub(crate) seed: Seed,
    pub(crate) runs: Option<u64>,
}

impl Config {
    /// Creates settings for 1000 random schedules with seed 0.
    ///
    /// The seed is fixed, so that a test suite does the same every time; to vary it, pass
    /// [`Seed::fresh`] to [`seed`](Self::seed).
    pub fn new() -> Self {
        Config::default()
    }

    /// Sets the strategy.
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Sets the seed of all randomness.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Makes at most this many runs. The default is 1000, or all there are with
    /// [`DepthFirstSearch`]; [`FifoOrder`] and [`ScheduleReplay`] have one run anyway.
    ///
    /// # Panics
    ///
    /// Panics if `limit` is zero: a test without a run passes, whatever it tests.
    pub fn runs(mut self, limit: u64) -> Self {
        assert!(limit > 0, "an exploration has at least one run");
        self.runs = Some(limit);
        self
    }

    pub(crate) fn run_limit(&self) -> u64 {
        self.runs.unwrap_or(self.method.usual_runs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_names_no_strategy_is_refused() {
        for text in [
            "", "Random", "random:1", "pct:0", "pct:", "pct:-1", "pct@5", "dfs:", "dfs@",
            "dfs:1:2", "dfs@5:1", "replay", "fifo:1",
        ] {
            let error = text.parse::<Method>().expect_err(text);
            assert!(error.to_string().starts_with(&format!("{text:?} is not a strategy")));
        }
    }

    #[test]
    fn each_method_has_its_usual_number_of_runs() {
        let limit = |method| Config::new().method(method).run_limit();
        assert_eq!(limit(Method::Random), 1000);
        assert_eq!(limit(Method::Pct { depth: 3 }), 1000);
        assert_eq!(limit(Method::Dfs(Bounds::new())), u64::MAX);
        assert_eq!(limit(Method::Replay(Schedule::new())), 1);
        assert_eq!(Config::new().runs(7).run_limit(), 7);
    }

    #[test]
    #[should_panic(expected = "at least one run")]
    fn no_runs_are_refused() {
        let _ = Config::new().runs(0);
    }

    proptest! {
        #[test]
        fn printing_and_parsing_agree(depth in 1_u32.., preemptions: Option<u32>, limit: u64) {
            let mut bounds = Bounds::new().depth(limit);
            if let Some(preemptions) = preemptions {
                bounds = bounds.preemptions(preemptions);
            }
            for method in [Method::Random, Method::Fifo, Method::Pct { depth }, Method::Dfs(bounds)] {
                prop_assert_eq!(method.to_string().parse(), Ok(method));
            }
        }
    }
}

//! The environment variables that override a test's settings.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use crate::variables::{RUNS, SCHEDULE, SEED, STRATEGY};
use crate::{Config, Method};

impl Config {
    /// Overrides these settings with those of the environment.
    ///
    /// `COACT_SIM_SCHEDULE` takes precedence over everything: that run is replayed and the other
    /// variables are only checked. `COACT_SIM_STRATEGY`, `COACT_SIM_RUNS` and `COACT_SIM_SEED`
    /// replace one setting each. An empty variable counts as absent, and white space around a value
    /// is ignored.
    ///
    /// # Errors
    ///
    /// Returns an error if a variable has a value that cannot be parsed. Falling back to the
    /// settings in code would let a replay with a mistyped schedule pass.
    pub fn with_env(self) -> Result<Self, EnvError> {
        self.with_variables(|name| std::env::var_os(name))
    }

    fn with_variables(
        mut self,
        lookup: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, EnvError> {
        if let Some(seed) = read(SEED, &lookup)? {
            self.seed = seed;
        }
        if let Some(runs) = read::<NonZeroU64>(RUNS, &lookup)? {
            self.runs = Some(runs.get());
        }
        if let Some(method) = read(STRATEGY, &lookup)? {
            self.method = method;
        }
        if let Some(schedule) = read(SCHEDULE, &lookup)? {
            self.method = Method::Replay(schedule);
        }
        Ok(self)
    }
}

fn read<T>(
    variable: &'static str,
    lookup: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<T>, EnvError>
where
    T: FromStr<Err: fmt::Display>,
{
    let Some(value) = lookup(variable) else {
        return Ok(None);
    };
    // A value that parses has no characters that are lost here.
    let value = value.to_string_lossy();
    match value.trim() {
        "" => Ok(None),
        value => value.parse().map(Some).map_err(|reason: T::Err| EnvError {
            variable,
            value: value.to_owned(),
            reason: reason.to_string(),
        }),
    }
}

/// An environment variable has a value that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvError {
    variable: &'static str,
    value: String,
    reason: String,
}

impl EnvError {
    /// The name of the variable.
    pub const fn variable(&self) -> &'static str {
        self.variable
    }
}

impl fmt::Display for EnvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EnvError { variable, value, reason } = self;
        write!(f, "{variable}={value}: {reason}")
    }
}

impl Error for EnvError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bounds, Schedule, Seed};

    fn with(variables: &[(&str, &str)]) -> Result<Config, EnvError> {
        let in_code = Config::new().method(Method::Pct { depth: 5 }).seed(Seed::new(1)).runs(10);
        in_code.with_variables(|name| {
            let variable = variables.iter().find(|(n, _)| *n == name);
            variable.map(|(_, value)| value.into())
        })
    }

    #[test]
    fn nothing_set_changes_nothing() {
        let config = with(&[]).unwrap();
        assert_eq!(config.method, Method::Pct { depth: 5 });
        assert_eq!(config.seed, Seed::new(1));
        assert_eq!(config.runs, Some(10));
        let blank = with(&[(SEED, ""), (RUNS, " "), (STRATEGY, ""), (SCHEDULE, "\n")]);
        assert_eq!(blank, Ok(config));
    }

    #[test]
    fn each_variable_overrides_its_setting() {
        let config = with(&[(SEED, "0xff"), (RUNS, "3"), (STRATEGY, " dfs:2\n")]).unwrap();
        assert_eq!(config.method, Method::Dfs(Bounds::new().preemptions(2)));
        assert_eq!(config.seed, Seed::new(255));
        assert_eq!(config.run_limit(), 3);
    }

    #[test]
    fn a_schedule_wins_over_a_strategy() {
        let config = with(&[(STRATEGY, "random"), (SCHEDULE, "coact1-0000000")]).unwrap();
        assert_eq!(config.method, Method::Replay(Schedule::new()));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (variable, value) in [
            (SEED, "tuesday"),
            (RUNS, "0"),
            (RUNS, "many"),
            (STRATEGY, "luck"),
            (SCHEDULE, "coact1-0000001"),
        ] {
            let error = with(&[(variable, value)]).unwrap_err();
            assert_eq!(error.variable(), variable);
            let expected = format!("{variable}={value}: ");
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
    }
}

//! The names of the environment variables.

pub(crate) const SEED: &str = "COACT_SIM_SEED";
pub(crate) const RUNS: &str = "COACT_SIM_RUNS";
pub(crate) const STRATEGY: &str = "COACT_SIM_STRATEGY";
pub(crate) const SCHEDULE: &str = "COACT_SIM_SCHEDULE";

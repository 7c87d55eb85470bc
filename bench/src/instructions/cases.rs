//! What is counted: workloads of the tool, each with two sizes.

use std::fmt;

use anyhow::{Context, bail};
use coact_bench_workloads::Workload;
use coact_bench_workloads::table;

/// One way to do one workload, and the two scales of which the difference is counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Case {
    /// The workload's name.
    pub workload: &'static str,
    /// The implementation's.
    pub implementation: &'static str,
    /// The small size and the large one, in millionths of the full size.
    millionths: (u32, u32),
}

/// The difference of the sizes is some 20,000 to 300,000 operations. Start-up and end are the same
/// in both up to some ten thousand instructions: how long the worker looks for its first task, and
/// what it finds done when the runtime ends. The rings, whose hops are short and whose hundred
/// actors are there at the end, are counted the longest, so that this is less than a thousandth of
/// each count.
#[rustfmt::skip]
pub const ALL: &[Case] = &[
    case("cown-ring", "coact", (2_000, 32_000)),
    case("cown-ring", "coact-grouped", (2_000, 32_000)),
    case("cown-pairs", "coact", (1_000, 8_000)),
    case("cown-pairs-bulk", "coact", (2_000, 8_000)),
    case("one-cown", "coact", (10_000, 60_000)),
    case("transfers", "coact", (10_000, 40_000)),
    case("transfers", "coact-singles", (10_000, 40_000)),
    case("cown-dining", "coact", (20_000, 180_000)),
    case("cown-dining", "coact-borrowed", (20_000, 180_000)),
    case("cown-skynet", "coact", (1_000, 10_000)),
    case("fork-join", "coact", (20_000, 100_000)),
    case("cown-ask", "coact", (5_000, 25_000)),
    case("cown-ask", "coact-promise", (5_000, 25_000)),
    case("here-free", "coact", (5_000, 20_000)),
    case("here-free", "coact-behaviour", (5_000, 20_000)),
    case("here-one", "coact", (10_000, 60_000)),
    case("here-one", "coact-behaviour", (10_000, 60_000)),
    case("idle-cowns", "coact", (10_000, 60_000)),
    case("idle-cowns", "coact-packed", (10_000, 60_000)),
    case("actor-ends", "coact-cowns", (10_000, 60_000)),
    case("actor-lives", "coact-cowns", (10_000, 60_000)),
    case("actor-ring", "coact", (2_000, 32_000)),
    case("actor-ring", "coact-grouped", (2_000, 32_000)),
    case("actor-ring", "coact-dynamic", (2_000, 32_000)),
    case("actor-ring", "coact-fiber", (2_000, 32_000)),
    case("actor-ping-pong", "coact", (2_000, 10_000)),
    case("actor-ping-pong", "coact-dynamic", (2_000, 10_000)),
    case("actor-ping-pong", "coact-fiber", (2_000, 10_000)),
    case("actor-pairs", "coact", (1_000, 8_000)),
    case("actor-count", "coact", (10_000, 60_000)),
    case("actor-count", "coact-dynamic", (10_000, 60_000)),
    case("skipped", "coact", (5_000, 25_000)),
    case("none-skipped", "coact", (5_000, 25_000)),
    case("cases-2", "coact", (10_000, 60_000)),
    case("cases-30", "coact", (10_000, 60_000)),
    case("actor-caller", "coact", (10_000, 60_000)),
    case("actor-caller", "coact-behaviour", (10_000, 60_000)),
    case("ask-latency", "coact", (5_000, 25_000)),
    case("ask-latency", "coact-dynamic", (5_000, 25_000)),
    case("ask-latency", "coact-dynamic-messages", (5_000, 25_000)),
    case("ask-latency", "coact-grouped", (5_000, 25_000)),
    case("ask-latency", "coact-messages", (5_000, 25_000)),
    case("actor-ends", "coact", (5_000, 25_000)),
    case("actor-lives", "coact", (5_000, 25_000)),
    case("actor-lives", "coact-stopped", (5_000, 25_000)),
];

/// A case, with its small and its large size in millionths of the full one.
pub const fn case(
    workload: &'static str,
    implementation: &'static str,
    millionths: (u32, u32),
) -> Case {
    Case { workload, implementation, millionths }
}

impl Case {
    /// The scale of the small run and that of the large one.
    pub fn scales(&self) -> [f64; 2] {
        [self.millionths.0, self.millionths.1].map(|scale| f64::from(scale) / 1e6)
    }

    /// What it is a way to do.
    ///
    /// # Errors
    /// There is no such workload.
    pub fn workload(&self) -> anyhow::Result<&'static Workload> {
        table::named(self.workload).context("there is no such workload")
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.workload, self.implementation)
    }
}

/// Those of all that are named, as workloads or as cases; all if none is.
///
/// ```
/// use coact_bench::instructions::cases;
///
/// let named = |names: &[&str]| {
///     let names: Vec<String> = names.iter().copied().map(str::to_owned).collect();
///     cases::named(cases::ALL, &names).map(|cases| cases.iter().map(ToString::to_string).collect::<Vec<_>>())
/// };
/// assert_eq!(named(&["here-one"]).unwrap(), ["here-one/coact", "here-one/coact-behaviour"]);
/// assert_eq!(named(&["here-one/coact"]).unwrap(), ["here-one/coact"]);
/// assert!(named(&["nowhere"]).is_err());
/// ```
///
/// # Errors
/// A name that none has.
pub fn named(all: &[Case], names: &[String]) -> anyhow::Result<Vec<Case>> {
    let is_named = |case: &Case, name: &String| *name == case.workload || *name == case.to_string();
    for name in names {
        if !all.iter().any(|case| is_named(case, name)) {
            bail!("nothing that is counted is called {name:?}; `--list` names all");
        }
    }
    let is_wanted =
        |case: &&Case| names.is_empty() || names.iter().any(|name| is_named(case, name));
    Ok(all.iter().filter(is_wanted).copied().collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{ALL, Case};
    use crate::{coherence, ours};

    #[test]
    fn every_case_is_an_implementation_of_a_workload_and_grows() {
        for all in [ALL, coherence::cases::ALL] {
            all_are_known(all);
        }
    }

    fn all_are_known(cases: &[Case]) {
        let mut names = HashSet::new();
        for case in cases {
            case.workload().expect("there is such a workload");
            assert!(ours::way(case.workload, case.implementation).is_some(), "there is no {case}");
            assert!(names.insert(case.to_string()), "{case} is there twice");
            let [small, large] = case.scales();
            assert!(0.0 < small && small < large, "{case}");
        }
    }
}

//! How a program in Rust answers the tool: `about`, `list` and
//! `run WORKLOAD IMPLEMENTATION name=value …`; the last line of a run is its [`Answer`] as JSON.
//!
//! `bench/PROGRAMS.md` describes it for who writes one.

use std::collections::HashMap;
use std::error::Error;
use std::io::Write;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::memory::peak_resident;
use crate::workload::{Measured, Setup, Sizes};

/// What a run prints.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Answer {
    /// Time of the timed part, in nanoseconds.
    pub elapsed_ns: u64,
    /// What the workload counts.
    pub operations: u64,
    /// What the work computed.
    pub result: u64,
    /// Memory taken by each thing made, where the workload is about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_each: Option<f64>,
    /// What 99 of 100 operations took at the most, in nanoseconds, where the workload is about
    /// that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<f64>,
    /// The most memory that was resident, in bytes, where the program knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_resident: Option<u64>,
}

impl Answer {
    /// Reads what a run has printed last.
    ///
    /// # Errors
    /// It is no answer, or one that says that nothing was done or took no time: no ratio could be
    /// formed of that.
    pub fn read(line: &str) -> anyhow::Result<Answer> {
        let answer: Answer = serde_json::from_str(line)
            .with_context(|| format!("the child's answer cannot be read: {line:?}"))?;
        if answer.operations == 0 || answer.elapsed_ns == 0 {
            bail!("the child says that it did nothing, or took no time: {line:?}");
        }
        Ok(answer)
    }

    /// As the workload sees it.
    pub fn measured(&self) -> Measured {
        Measured {
            elapsed: Duration::from_nanos(self.elapsed_ns),
            operations: self.operations,
            result: self.result,
            bytes_each: self.bytes_each,
            p99_ns: self.p99_ns,
        }
    }
}

/// One way to do workloads that differ in their sizes alone.
pub struct Way {
    /// What is done.
    pub workloads: &'static [&'static str],
    /// `coact`, or the peer's name, with a suffix after a dash where there are several ways.
    pub name: &'static str,
    /// How this program does it, in one line.
    pub about: &'static str,
    /// Part of the work that it does: one n-th of the sizes.
    pub share: u32,
    /// Does it once.
    pub run: Run,
}

/// How a program does a workload once.
pub type Run = fn(&Given) -> anyhow::Result<Measured>;

impl Way {
    /// A way that does the whole.
    pub const fn new(
        workloads: &'static [&'static str],
        name: &'static str,
        about: &'static str,
        run: Run,
    ) -> Way {
        Way { workloads, name, about, share: 1, run }
    }

    /// The same, for a part of the work: one n-th of the sizes.
    pub const fn share(self, share: u32) -> Way {
        Way { share, ..self }
    }
}

/// The values that a run is given, by name.
#[derive(Clone, Debug, Default)]
pub struct Given(HashMap<String, String>);

impl Given {
    /// What a program is given that does this much.
    pub fn of(sizes: &Sizes) -> Given {
        let Setup { workers, scale } = sizes.setup;
        let setup = [("workers", workers.to_string()), ("scale", scale.to_string())];
        let sizes = sizes.named().iter().map(|(name, size)| (*name, size.to_string()));
        let all = setup.into_iter().chain(sizes);
        Given(all.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Reads `name=value` words.
    ///
    /// ```
    /// use coact_bench_workloads::program::Given;
    ///
    /// let given = Given::parse(&["workers=2", "hops=500"]).unwrap();
    /// assert_eq!(given.number("hops").unwrap(), 500);
    /// assert!(given.number("rings").is_err());
    /// ```
    pub fn parse(words: &[&str]) -> anyhow::Result<Given> {
        let pair = |word: &&str| match word.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => bail!("{word:?} is not of the form name=value"),
        };
        words.iter().map(pair).collect::<anyhow::Result<_>>().map(Given)
    }

    /// A whole number.
    pub fn number(&self, name: &str) -> anyhow::Result<u64> {
        self.value(name)
    }

    /// A whole number of things in memory.
    pub fn size(&self, name: &str) -> anyhow::Result<usize> {
        self.value(name)
    }

    /// Threads of the runtime.
    pub fn workers(&self) -> anyhow::Result<usize> {
        self.value("workers")
    }

    fn value<T: FromStr<Err: Error + Send + Sync + 'static>>(
        &self,
        name: &str,
    ) -> anyhow::Result<T> {
        let value = self.0.get(name).with_context(|| format!("{name}=… is missing"))?;
        value.parse().with_context(|| format!("{name}={value} is not such a number"))
    }
}

/// Does what a program is told: its arguments are `about`, `list` or `run` and what belongs to it.
pub fn answer(
    about: &str,
    ways: &[&[Way]],
    arguments: &[String],
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["about"] => writeln!(out, "{about}")?,
        ["list"] => {
            for Way { workloads, name, share, about, .. } in ways.iter().copied().flatten() {
                for workload in *workloads {
                    writeln!(out, "{workload}\t{name}\t{share}\t{about}")?;
                }
            }
        }
        ["run", workload, name, values @ ..] => {
            let answer = run(ways, workload, name, &Given::parse(values)?)?;
            writeln!(out, "{}", serde_json::to_string(&answer)?)?;
        }
        _ => bail!("commands: about, list, run WORKLOAD IMPLEMENTATION name=value …"),
    }
    Ok(())
}

fn run(ways: &[&[Way]], workload: &str, name: &str, given: &Given) -> anyhow::Result<Answer> {
    let does = |way: &&Way| way.workloads.contains(&workload) && way.name == name;
    let way = ways.iter().copied().flatten().find(does);
    let way = way.with_context(|| format!("there is no {name:?} of {workload:?} here"))?;
    let Measured { elapsed, operations, result, bytes_each, p99_ns } = (way.run)(given)?;
    let (elapsed_ns, peak_resident) = (elapsed.as_nanos() as u64, peak_resident());
    Ok(Answer { elapsed_ns, operations, result, bytes_each, p99_ns, peak_resident })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Measured, Way, answer};

    #[test]
    fn an_answer_without_time_or_operations_is_refused() {
        let read = |elapsed: u64, operations: u64| {
            let line =
                format!(r#"{{"elapsed_ns":{elapsed},"operations":{operations},"result":7}}"#);
            super::Answer::read(&line)
        };
        assert_eq!(read(5, 3).expect("it is one").result, 7);
        for (elapsed, operations) in [(0, 3), (5, 0)] {
            let error = read(elapsed, operations).expect_err("it is none").to_string();
            assert!(error.contains("elapsed_ns"), "{error}");
        }
        assert!(super::Answer::read("done").is_err());
    }

    const WAYS: &[Way] = &[Way::new(&["ring", "pair"], "thread", "round and round", |given| {
        Ok(Measured::new(Duration::from_nanos(7), given.number("hops")?, 5))
    })
    .share(10)];

    fn printed(words: &[&str]) -> anyhow::Result<String> {
        let words: Vec<String> = words.iter().copied().map(str::to_owned).collect();
        let mut out = Vec::new();
        answer("a thread", &[WAYS], &words, &mut out)?;
        Ok(String::from_utf8(out)?)
    }

    #[test]
    fn a_way_is_listed_for_each_workload_with_its_share() {
        assert_eq!(printed(&["about"]).expect("it answers"), "a thread\n");
        let listed = printed(&["list"]).expect("it answers");
        assert_eq!(
            listed,
            "ring\tthread\t10\tround and round\npair\tthread\t10\tround and round\n"
        );
    }

    #[test]
    fn a_way_runs_with_the_values_it_needs() {
        let answered = printed(&["run", "ring", "thread", "workers=1", "hops=300"]);
        let answered: super::Answer =
            serde_json::from_str(&answered.expect("it answers")).expect("it is an answer");
        assert_eq!((answered.elapsed_ns, answered.operations, answered.result), (7, 300, 5));
        for words in [
            &["run", "ring", "thread"][..],
            &["run", "ring", "thread", "hops=many"],
            &["run", "ring", "thread", "hops"],
            &["run", "ring", "other", "hops=300"],
            &["walk"],
        ] {
            assert!(printed(words).is_err(), "{words:?}");
        }
    }
}

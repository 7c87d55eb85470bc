//! How a program in Rust answers the tool: `about`, `list` and `run WORKLOAD IMPLEMENTATION name=value …`; the last line
//! of a run is its [`Answer`] as JSON.
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
use crate::workload::{Implementation, Measured, Setup, Workload};

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
    /// What 99 of 100 operations took at the most, in nanoseconds, where the workload is about that.
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
    /// It is no answer, or one that says that nothing was done or took no time: no ratio could be formed of that.
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

/// One way to do one workload.
pub struct Offer {
    /// What is done.
    pub workload: &'static str,
    /// The implementation's name.
    pub name: &'static str,
    /// How this program does it, in one line.
    pub about: &'static str,
    /// Part of the work that it does: one n-th of the sizes.
    pub share: u32,
    /// Does it once.
    pub run: Box<Run>,
}

/// How a program does a workload once.
pub type Run = dyn Fn(&Given) -> anyhow::Result<Measured>;

impl Offer {
    /// All that the implementations of these workloads do. They share the tool's own sizes, so of the values they need
    /// `workers` and `scale` alone.
    pub fn of(workloads: &[&'static dyn Workload]) -> Vec<Offer> {
        let offer = |workload: &'static dyn Workload, implementation: &'static Implementation| {
            let &Implementation { name, about, run } = implementation;
            let run = Box::new(move |given: &Given| {
                Ok(run(&Setup { scale: given.scale()?, workers: given.workers()? }))
            });
            Offer { workload: workload.name(), name, about, share: 1, run }
        };
        let all = workloads.iter().flat_map(|&w| w.implementations().iter().map(move |i| (w, i)));
        all.map(|(workload, implementation)| offer(workload, implementation)).collect()
    }
}

/// The values that a run is given, by name.
#[derive(Clone, Debug, Default)]
pub struct Given(HashMap<String, String>);

impl Given {
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

    fn scale(&self) -> anyhow::Result<f64> {
        self.value("scale")
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
    offers: &[Offer],
    arguments: &[String],
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["about"] => writeln!(out, "{about}")?,
        ["list"] => {
            for Offer { workload, name, share, about, .. } in offers {
                writeln!(out, "{workload}\t{name}\t{share}\t{about}")?;
            }
        }
        ["run", workload, implementation, values @ ..] => {
            let answer = run(offers, workload, implementation, &Given::parse(values)?)?;
            writeln!(out, "{}", serde_json::to_string(&answer)?)?;
        }
        _ => bail!("commands: about, list, run WORKLOAD IMPLEMENTATION name=value …"),
    }
    Ok(())
}

fn run(
    offers: &[Offer],
    workload: &str,
    implementation: &str,
    given: &Given,
) -> anyhow::Result<Answer> {
    let offer = offers
        .iter()
        .find(|offer| offer.workload == workload && offer.name == implementation)
        .with_context(|| format!("there is no {implementation:?} of {workload:?} here"))?;
    let Measured { elapsed, operations, result, bytes_each, p99_ns } = (offer.run)(given)?;
    let (elapsed_ns, peak_resident) = (elapsed.as_nanos() as u64, peak_resident());
    Ok(Answer { elapsed_ns, operations, result, bytes_each, p99_ns, peak_resident })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Measured, Offer, answer};

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

    fn printed(words: &[&str]) -> anyhow::Result<String> {
        let offer = Offer {
            workload: "ring",
            name: "thread",
            about: "round and round",
            share: 10,
            run: Box::new(|given| {
                Ok(Measured::new(Duration::from_nanos(7), given.number("hops")?, 5))
            }),
        };
        let words: Vec<String> = words.iter().copied().map(str::to_owned).collect();
        let mut out = Vec::new();
        answer("a thread", &[offer], &words, &mut out)?;
        Ok(String::from_utf8(out)?)
    }

    #[test]
    fn an_offer_is_listed_with_its_share() {
        assert_eq!(printed(&["about"]).expect("it answers"), "a thread\n");
        let listed = printed(&["list"]).expect("it answers");
        assert_eq!(listed, "ring\tthread\t10\tround and round\n");
    }

    #[test]
    fn an_offer_runs_with_the_values_it_needs() {
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

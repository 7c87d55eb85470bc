//! One figure of two runs.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, bail};
use coact_bench_workloads::Setup;
use coact_bench_workloads::program::Answer;

use super::costs::NANOSECOND;
use super::lines::Kind;
use super::names::{Names, Source};
use super::tally::Tally;
use super::traced::Machine;
use crate::instructions::Case;

/// What an operation of a case takes on a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Reads of a line that another core has.
    pub reads: f64,
    /// Writes to a line that others have.
    pub writes: f64,
    /// Barriers that interrupt all cores.
    pub barriers: f64,
    /// Threads woken by others.
    pub wakes: f64,
    /// Instructions of all threads.
    pub instructions: f64,
    /// Time of the machine that is modelled.
    pub nanoseconds: f64,
}

impl Count {
    /// Reads and writes.
    pub fn transfers(&self) -> f64 {
        self.reads + self.writes
    }
}

/// What has been found of a case.
pub struct Found {
    /// The figures.
    pub count: Count,
    /// Where the transfers come from, an operation.
    pub sources: Sources,
}

/// Transfers an operation by what they are.
pub type Sources = HashMap<Source, f64>;

/// A machine to count on.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// How many cores it has: each case runs with as many workers.
    pub cores: usize,
    /// What a transfer takes, in nanoseconds.
    pub transfer: u64,
}

/// One run, by names.
struct Taken {
    operations: u64,
    elapsed: u64,
    tally: Tally,
    sources: HashMap<Source, u64>,
}

/// Counts a case on a machine, with a build of this tool and with its sizes times a factor.
///
/// # Errors
/// A run failed, had a wrong result, or the large one did not do more.
pub fn count(program: &Path, case: &Case, model: Model, factor: f64) -> anyhow::Result<Found> {
    let [small, large] = case.scales().map(|scale| scale * factor);
    let both = run(program, case, model, small)
        .and_then(|small| Ok((small, run(program, case, model, large)?)));
    let (small, large) = both.with_context(|| case.to_string())?;
    difference(&small, &large).with_context(|| case.to_string())
}

fn run(program: &Path, case: &Case, model: Model, scale: f64) -> anyhow::Result<Taken> {
    let setup = Setup { scale, workers: model.cores };
    let sizes = case.workload()?.sizes(&setup).words();
    let mut words = vec!["run", case.workload, case.implementation];
    words.extend(sizes.iter().map(String::as_str));
    let machine = Machine::start(program, &words, model.cores, model.transfer * NANOSECOND)?;
    let run = machine.run()?;
    let answer = Answer::read(run.printed.lines().last().context("the program printed nothing")?)?;
    case.workload()?.check(&setup, &answer.measured())?;
    let sources = Names(&run.files).sources(&run.tally);
    let (operations, elapsed) = (answer.operations, answer.elapsed_ns);
    Ok(Taken { operations, elapsed, tally: run.tally, sources })
}

fn difference(small: &Taken, large: &Taken) -> anyhow::Result<Found> {
    if large.operations <= small.operations {
        bail!("the sizes are too near: {} operations and {}", small.operations, large.operations);
    }
    let operations = (large.operations - small.operations) as f64;
    let more = |small: u64, large: u64| (large as f64 - small as f64) / operations;
    let of = |figure: fn(&Taken) -> u64| more(figure(small), figure(large));
    let count = Count {
        reads: of(|taken| taken.tally.transfers(Kind::Read)),
        writes: of(|taken| taken.tally.transfers(Kind::Write)),
        barriers: of(|taken| taken.tally.barriers),
        wakes: of(|taken| taken.tally.wakes),
        instructions: of(|taken| taken.tally.instructions),
        nanoseconds: of(|taken| taken.elapsed),
    };
    let before = |source| small.sources.get(source).copied().unwrap_or(0);
    let sources = large.sources.iter();
    let sources = sources.map(|(source, now)| (source.clone(), more(before(source), *now)));
    Ok(Found { count, sources: sources.collect() })
}

//! `coherence`: counts cache-line transfers on machines with more cores than this one.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;

use super::jobs::in_order;
use super::run::positive;
use crate::coherence::count::{Count, Model, count};
use crate::coherence::detail::detail;
use crate::coherence::lines::MOST_CORES;
use crate::coherence::{cases, traced};
use crate::instructions::cases::named;

pub const EXAMPLES: &str = "\
Examples:
  coact-bench coherence                             six workloads on 1, 2, 16 and 64 cores
  coact-bench coherence fork-join --cores 2         one of them on two
  coact-bench coherence --scale 0.1                 a first look
  coact-bench coherence transfers --detail 20       which lines move: what lies there, who wants it, who wrote it
  coact-bench coherence --program old/coact-bench   those of another build";

/// What to count, and on which machines.
#[derive(Args)]
pub struct Coherence {
    /// Workloads to count, or cases of the form workload/implementation; all if none is named.
    names: Vec<String>,
    /// Names what is counted, and counts nothing.
    #[arg(long)]
    list: bool,
    /// Cores of the machines; each workload has as many workers.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,2,16,64", value_parser = cores)]
    cores: Vec<usize>,
    /// Factor on the sizes of the workloads.
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    scale: f64,
    /// What it takes to get a line from another core, in nanoseconds.
    #[arg(long, value_name = "NS", default_value_t = 50)]
    transfer: u64,
    /// Prints which places in memory move most, this many for each machine.
    #[arg(long, value_name = "PLACES", default_value_t = 0)]
    detail: usize,
    /// The build that is counted, if not this one.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Runs at once; as many as there are processors, if not given.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

/// A number of cores, as an argument.
fn cores(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(cores) if (1..=MOST_CORES).contains(&cores) => Ok(cores),
        _ => Err(format!("must be a number from 1 to {}", MOST_CORES)),
    }
}

impl Coherence {
    /// Counts what is asked for, and prints a table as it goes.
    pub fn count(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let cases = named(cases::ALL, &self.names)?;
        if self.list {
            cases.iter().try_for_each(|case| writeln!(out, "{case}"))?;
            return Ok(());
        }
        if cfg!(debug_assertions) && self.program.is_none() {
            bail!(
                "counts of a debug build say nothing: use `cargo run --release -p coact-bench -- coherence`"
            );
        }
        let own = std::env::current_exe().context("cannot find this program")?;
        let program = self.program.as_ref().unwrap_or(&own);
        writeln!(
            out,
            "{:<28} {:>5} {:>7} {:>7} {:>7} {:>8} {:>7} {:>9} {:>8}",
            "case", "cores", "moved", "read", "written", "barriers", "woken", "instr", "ns"
        )?;
        let machines: Vec<_> = cases
            .iter()
            .flat_map(|case| self.cores.iter().map(move |cores| (case, *cores)))
            .collect();
        in_order(
            &machines,
            self.jobs,
            |job, (case, cores)| {
                traced::stay_on_a_core(job)?;
                let model = Model { cores: *cores, transfer: self.transfer };
                count(program, case, model, self.scale)
            },
            |(case, cores), found| {
                let found = found?;
                writeln!(out, "{}", line(&case.to_string(), *cores, found.count))?;
                write!(out, "{}", detail(&found.sources, self.detail))?;
                out.flush()?;
                Ok(())
            },
        )
    }
}

fn line(case: &str, cores: usize, count: Count) -> String {
    format!(
        "{case:<28} {cores:>5} {:>7.2} {:>7.2} {:>7.2} {:>8.3} {:>7.3} {:>9.1} {:>8.1}",
        count.transfers(),
        count.reads,
        count.writes,
        count.barriers,
        count.wakes,
        count.instructions,
        count.nanoseconds
    )
}

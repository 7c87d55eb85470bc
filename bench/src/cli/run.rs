//! `run`: measures.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use coact_bench_workloads::Workload;

use super::choice::{self, Wanted};
use crate::measure::machine::Machine;
use crate::measure::program::Candidate;
use crate::measure::progress::Progress;
use crate::measure::record::{self, Record};
use crate::measure::session::Session;
use crate::measure::table;
use crate::peers;

/// What to measure, and how.
#[derive(Args)]
pub struct Run {
    /// Workloads to run, or groups of them (headline, savina, micro); all if none is named.
    names: Vec<String>,
    /// Factor on the sizes of the workloads.
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    scale: f64,
    /// Worker threads: one number, or several to measure each; if not given, as many as there are
    /// processors, and 1, 2, 4 … up to them for what is drawn over workers.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    workers: Vec<NonZeroUsize>,
    /// Rounds; in each round every implementation runs once.
    #[arg(long, value_name = "R", default_value = "5")]
    runs: NonZeroUsize,
    /// Writes the records to this file, after each workload.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Which peers run beside coact: all that are built here, none, or names such as tokio,mutex or
    /// caf.
    #[arg(long, value_name = "all|none|NAMES", value_delimiter = ',', default_value = "all")]
    peers: Vec<String>,
    /// Where the peers' folders are, if not beside the tool's sources.
    #[arg(long, value_name = "FOLDER")]
    peers_folder: Option<PathBuf>,
    /// Seconds after which a repetition counts as stuck.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    limit: u64,
}

/// A number above zero, as an argument.
pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("must be a number above zero".to_owned()),
    }
}

/// A workload, and who does it.
type Plan = (&'static Workload, Vec<Candidate>);

impl Run {
    /// Measures what is asked for, and prints a table as it goes.
    pub fn measure(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let workloads = choice::workloads(&self.names)?;
        let plans = self.plans(&workloads, out)?;
        // A path that cannot be written is better known before the measuring than after it.
        self.write(&[])?;
        let session = self.session();
        writeln!(out, "{}", session.machine)?;
        writeln!(out, "scale {}, {} rounds", self.scale, self.runs)?;
        writeln!(out, "{}", table::heading())?;
        let failures = self.measure_each(&session, &plans, out)?;
        if failures > 0 {
            bail!("{failures} failed");
        }
        Ok(())
    }

    fn session(&self) -> Session {
        let workers: Vec<usize> = self.workers.iter().copied().map(usize::from).collect();
        Session {
            scale: self.scale,
            workers: Some(workers).filter(|workers| !workers.is_empty()),
            runs: self.runs.get(),
            limit: Duration::from_secs(self.limit),
            machine: Machine::here(),
        }
    }

    /// Who does what; says what is left out because it is not built here.
    fn plans(
        &self,
        workloads: &[&'static Workload],
        out: &mut impl Write,
    ) -> anyhow::Result<Vec<Plan>> {
        let wanted = Wanted(&self.peers);
        let (candidates, hints) = if wanted.any() {
            choice::candidates(&self.peers_folder.clone().unwrap_or_else(peers::folder))?
        } else {
            (choice::ours()?, Vec::new())
        };
        wanted.check(&candidates, &hints)?;
        for hint in hints {
            writeln!(out, "skipped: {hint}")?;
        }
        let of = |workload: &Workload| {
            candidates
                .iter()
                .filter(|c| c.workload == workload.name && wanted.includes(c))
                .cloned()
                .collect()
        };
        Ok(workloads.iter().map(|&workload| (workload, of(workload))).collect())
    }

    /// Measures the workloads one by one, printing as it goes; returns the number of failures.
    fn measure_each(
        &self,
        session: &Session,
        plans: &[Plan],
        out: &mut impl Write,
    ) -> anyhow::Result<usize> {
        let repetitions = plans.iter().map(|(workload, who)| session.repetitions(workload, who));
        let mut progress = Progress::over(repetitions.sum());
        let mut records = Vec::new();
        let mut failures = 0;
        for (workload, candidates) in plans {
            let (calibration, results) = session.measure(workload, candidates, &mut progress);
            let mut lines = vec![format!("# {calibration}")];
            for result in results {
                match result {
                    Ok(record) => {
                        lines.push(table::line(&record));
                        records.push(record);
                    }
                    Err(error) => {
                        lines.push(format!("FAILED {error:#}"));
                        failures += 1;
                    }
                }
            }
            progress.print(|| writeln!(out, "{}", lines.join("\n")))?;
            self.write(&records)?;
        }
        Ok(failures)
    }

    fn write(&self, records: &[Record]) -> anyhow::Result<()> {
        self.json.as_ref().map_or(Ok(()), |path| record::write(path, records))
    }
}

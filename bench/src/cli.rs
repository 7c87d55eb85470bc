//! Commands and options, and what each command does.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand};

use crate::harness::machine::Machine;
use crate::harness::session::Session;
use crate::harness::{Implementation, Setup, Workload, child, record, table};

const EXAMPLES: &str = "\
Examples:
  coact-bench list                                  what there is
  coact-bench run                                   everything, full size, five rounds
  coact-bench run ring ask --runs 9                 two workloads, nine rounds
  coact-bench run transfers --peers mutex           ours and the mutexes only
  coact-bench run --scale 0.001 --runs 1            smoke test: does all of it still run and check out?
  coact-bench run --json figures.json --workers 2   records for a report";

/// Measures the coact runtime beside its peers. Each repetition runs in a fresh process and checks its result.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the workloads and who does them.
    List,
    /// Measures, and prints a table: median, extremes, ratio to our own figure in the same round, peak memory.
    #[command(after_help = EXAMPLES)]
    Run(Run),
    /// Runs one repetition and prints its report as JSON; the tool starts itself with this.
    #[command(hide = true)]
    Child(Child),
}

#[derive(Args)]
struct Run {
    /// Workloads to run; all if none is named.
    names: Vec<String>,
    /// Factor on the sizes of the workloads.
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    scale: f64,
    /// Worker threads; as many as there are processors if not given.
    #[arg(long, value_name = "N")]
    workers: Option<std::num::NonZeroUsize>,
    /// Rounds; in each round every implementation runs once.
    #[arg(long, value_name = "R", default_value = "5")]
    runs: std::num::NonZeroUsize,
    /// Writes the records to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Which peers run beside coact: all, none, or names such as tokio,mutex or tokio-bounded.
    #[arg(long, value_name = "all|none|NAMES", value_delimiter = ',', default_value = "all")]
    peers: Vec<String>,
    /// Seconds after which a repetition counts as stuck.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    limit: u64,
}

#[derive(Args)]
struct Child {
    workload: String,
    implementation: String,
    #[arg(long)]
    scale: f64,
    #[arg(long)]
    workers: usize,
}

/// What a tool can measure.
pub type Workloads = [&'static dyn Workload];

/// Does what the command line says, with these workloads; returns how the program ends.
pub fn run(all: &Workloads) -> ExitCode {
    let done = match Cli::parse().command {
        Command::List => list(all, &mut io::stdout().lock()),
        Command::Run(run) => run.measure(all, &mut io::stdout()),
        Command::Child(child) => child.answer(all),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output may stop early, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("must be a number above zero".to_owned()),
    }
}

fn list(all: &Workloads, out: &mut impl Write) -> anyhow::Result<()> {
    for workload in all {
        writeln!(out, "{:<21} {}", workload.name(), workload.about())?;
        for implementation in workload.implementations() {
            writeln!(out, "    {:<20} {}", implementation.name, implementation.about)?;
        }
    }
    Ok(())
}

impl Run {
    fn measure(&self, all: &Workloads, out: &mut impl Write) -> anyhow::Result<()> {
        let workloads = self.workloads(all)?;
        self.check_peers(all)?;
        if let Some(path) = &self.json {
            // A path that cannot be written is better known before the measuring than after it.
            record::write(path, &[])?;
        }
        let machine = Machine::here();
        let workers = self.workers.map_or(machine.processors, usize::from);
        writeln!(out, "{machine}")?;
        writeln!(out, "scale {}, {workers} workers, {} rounds", self.scale, self.runs)?;
        writeln!(out, "{}", table::heading())?;
        let session = Session {
            setup: Setup { scale: self.scale, workers },
            runs: self.runs.get(),
            limit: Duration::from_secs(self.limit),
            machine,
        };
        let (records, failures) = self.measure_each(&session, &workloads, out)?;
        if let Some(path) = &self.json {
            record::write(path, &records)?;
        }
        if failures > 0 {
            bail!("{failures} failed");
        }
        Ok(())
    }

    /// Measures the workloads one by one, printing as it goes; returns the records and the number of failures.
    fn measure_each(
        &self,
        session: &Session,
        workloads: &[&'static dyn Workload],
        out: &mut impl Write,
    ) -> anyhow::Result<(Vec<record::Record>, usize)> {
        let mut records = Vec::new();
        let mut failures = 0;
        for workload in workloads {
            let chosen: Vec<&Implementation> = workload
                .implementations()
                .iter()
                .filter(|implementation| self.wants(implementation))
                .collect();
            let (calibration, results) = session.measure(*workload, &chosen);
            writeln!(out, "# {calibration}")?;
            for result in results {
                match result {
                    Ok(record) => {
                        writeln!(out, "{}", table::line(&record))?;
                        records.push(record);
                    }
                    Err(error) => {
                        writeln!(out, "FAILED {error:#}")?;
                        failures += 1;
                    }
                }
            }
        }
        Ok((records, failures))
    }

    fn workloads(&self, all: &Workloads) -> anyhow::Result<Vec<&'static dyn Workload>> {
        if self.names.is_empty() {
            return Ok(all.to_vec());
        }
        self.names.iter().map(|name| find(all, name)).collect()
    }

    /// Refuses a peer that no workload knows, which would otherwise be skipped in silence.
    fn check_peers(&self, all: &Workloads) -> anyhow::Result<()> {
        let known = |peer: &String| {
            peer == "all"
                || peer == "none"
                || all
                    .iter()
                    .flat_map(|w| w.implementations())
                    .any(|i| i.name == peer || i.family() == peer)
        };
        match self.peers.iter().find(|peer| !known(peer)) {
            Some(peer) => {
                bail!("no workload has a peer called {peer:?}; `coact-bench list` names them")
            }
            None => Ok(()),
        }
    }

    fn wants(&self, implementation: &Implementation) -> bool {
        let names = |word: &str| self.peers.iter().any(|peer| peer == word);
        implementation.family() == "coact"
            || names("all")
            || names(implementation.name)
            || names(implementation.family())
    }
}

impl Child {
    fn answer(&self, all: &Workloads) -> anyhow::Result<()> {
        let workload = find(all, &self.workload)?;
        let implementation = workload
            .implementations()
            .iter()
            .find(|implementation| implementation.name == self.implementation)
            .with_context(|| {
                format!("{} has no implementation {:?}", self.workload, self.implementation)
            })?;
        child::answer(workload, implementation, &Setup { scale: self.scale, workers: self.workers })
    }
}

fn find(all: &Workloads, name: &str) -> anyhow::Result<&'static dyn Workload> {
    all.iter()
        .copied()
        .find(|workload| workload.name() == name)
        .with_context(|| format!("no workload is called {name:?}; `coact-bench list` names them"))
}

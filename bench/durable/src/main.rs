//! The tool on the command line.

#![forbid(unsafe_code)]

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Parser, Subcommand};

use coact_bench_durable::cases::{self, CASES, Way};
use coact_bench_durable::machine;
use coact_bench_durable::peers::{self, Peer};
use coact_bench_durable::session;
use coact_bench_durable::setup::Setup;

#[cfg(feature = "snmalloc")]
#[global_allocator]
static ALLOCATOR: snmalloc_rs::SnMalloc = snmalloc_rs::SnMalloc;

const EXAMPLES: &str = "\
Examples:
  coact-bench-durable list
  coact-bench-durable run --folder ~/tmp                            all of it, five rounds
  coact-bench-durable run events-100 --folder ~/tmp --runs 9        100 actors, beside the bare library and memory
  coact-bench-durable run --folder ~/tmp --scale 0.01 --runs 1      a first look
  coact-bench-durable run events-10000 transfers --folder ~/tmp --postgres postgres://postgres@localhost/postgres
  coact-bench-durable once events-1 --folder ~/tmp                  one run, for a profiler";

/// Measures durable actors, beside the bare library and plain programs. Each run has a fresh
/// process, and checks its result.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the cases.
    List,
    /// Measures, and prints a table: how many a second (median, least, most), the ratio to the case
    /// that it stands beside, processor time of each, its ratio, how many are in a transaction, and
    /// memory of each.
    #[command(after_help = EXAMPLES)]
    Run(Run),
    /// Runs a case once, in this process, and prints what it has shown as a line of JSON.
    Once {
        /// Which.
        case: String,
        #[command(flatten)]
        setup: Setup,
    },
}

#[derive(clap::Args)]
struct Run {
    /// Names of cases, or how they begin; all, without.
    cases: Vec<String>,
    #[command(flatten)]
    setup: Setup,
    /// How many rounds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Where the peers' folders are, if not beside the tool's sources.
    #[arg(long)]
    peers_folder: Option<PathBuf>,
    /// Writes all runs to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::List => list(),
        Command::Run(run) => measure(run)?,
        Command::Once { case, setup } => once(&case, &setup)?,
    }
    Ok(())
}

fn list() {
    for case in CASES.iter().filter(|case| !matches!(case.way, Way::Aside(_))) {
        println!("{:<26} {}", case.name, case.about);
    }
    let folder = peers::folder();
    for peer in Peer::ALL.iter().filter(|peer| peer.program(&folder).is_none()) {
        println!("{}", peer.hint(&folder));
    }
}

fn measure(run: Run) -> anyhow::Result<()> {
    let Run { cases, setup, runs, peers_folder, json } = run;
    let peers = peers_folder.unwrap_or_else(peers::folder);
    let mut cases = session::choose(&cases)?;
    for needed in session::retain_possible(&mut cases, &setup, &peers) {
        eprintln!("{needed}");
    }
    let machine = machine::machine(&setup.folder);
    println!("{machine}");
    let records = session::run(&cases, runs.into(), &setup, &peers, &machine)?;
    session::print(&records);
    if let Some(path) = json {
        let text = serde_json::to_string_pretty(&records)?;
        std::fs::write(&path, text + "\n")
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn once(name: &str, setup: &Setup) -> anyhow::Result<()> {
    let case = cases::find(name).with_context(|| format!("there is no case `{name}`"))?;
    let (Way::Here(run) | Way::Served(run) | Way::Aside(run)) = case.way else {
        bail!("`{name}` is done by a program of its own")
    };
    println!("{}", serde_json::to_string(&run(setup)?)?);
    Ok(())
}

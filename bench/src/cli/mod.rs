//! Commands and options, and what each command does.

mod choice;
mod coherence;
mod compare;
mod instructions;
mod jobs;
mod list;
mod report;
mod run;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use coact_bench_workloads::program;

use crate::coherence::traced;
use crate::ours::WAYS;

const EXAMPLES: &str = "\
Examples:
  coact-bench list                                  what there is, and which peers are built here
  coact-bench run                                   everything, full size, five rounds
  coact-bench run savina --peers caf,pekko          the actor benchmark suite beside two peers
  coact-bench run counter-1 ask-latency --runs 9    two workloads, nine rounds
  coact-bench run mixed --workers 1,2 --scale 0.1   on one and on two workers, a tenth of the size
  coact-bench run --scale 0.001 --runs 1            smoke test: does all of it still run and check out?
  coact-bench run --json figures.json               records for `report` and `compare`
  coact-bench report figures.json --out page        page/index.html, with drawings and tables
  coact-bench compare old.json new.json             what became faster, what slower
  coact-bench instructions                          instructions an operation, beside the committed table
  coact-bench coherence                             cache-line transfers an operation, on up to 64 cores
  coact-bench lines                                 how long our Savina programs are, beside the paper's";

/// Measures the coact runtime beside its peers. Each repetition runs in a fresh process and checks
/// its result.
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
    /// Measures, and prints a table: median, extremes, ratio to our own figure in the same round,
    /// peak memory.
    #[command(after_help = EXAMPLES)]
    Run(run::Run),
    /// Writes the records as a page, with drawings and tables.
    Report(report::Report),
    /// Compares two files of records.
    Compare(compare::Compare),
    /// Counts instructions and atomic read-modify-writes an operation, and compares them with a
    /// table.
    #[command(after_help = instructions::EXAMPLES)]
    Instructions(instructions::Instructions),
    /// Counts cache-line transfers an operation on machines with more cores than this one.
    #[command(after_help = coherence::EXAMPLES)]
    Coherence(coherence::Coherence),
    /// Counts the lines of our Savina programs as the paper counts its own.
    Lines,
    /// Speaks as a peer's program does; the tool starts itself with this.
    #[command(hide = true)]
    Program(Program),
    /// The same, traced from its beginning.
    #[command(hide = true)]
    Traced(Program),
}

#[derive(Args)]
struct Program {
    words: Vec<String>,
    /// Stops itself first, to be traced.
    #[arg(long)]
    stopped: bool,
}

/// Does what the command line says; returns how the program ends.
pub fn main() -> ExitCode {
    let out = &mut io::stdout();
    let done = match Cli::parse().command {
        Command::List => list::list(out),
        Command::Run(run) => run.measure(out),
        Command::Report(report) => report.write(out),
        Command::Compare(compare) => compare.print(out),
        Command::Instructions(instructions) => instructions.count(out),
        Command::Coherence(coherence) => coherence.count(out),
        Command::Lines => list::lines(out),
        Command::Program(program) => program.answer(out),
        Command::Traced(Program { words, .. }) => traced::begin(&words),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output may stop early, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

impl Program {
    fn answer(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if self.stopped {
            traced::stop()?;
        }
        program::answer("coact", WAYS, &self.words, out)
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

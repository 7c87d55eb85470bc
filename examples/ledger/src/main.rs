//! `ledger`: replays bank operations in parallel, with the result of a sequential replay.
//!
//! Read in this order: [`account`] has the rules of the bank and [`operation`] what can be asked of
//! it; neither knows Coact. [`parallel`] runs each operation as one behaviour over exactly the
//! accounts that it names, [`sequential`] is the reference, and [`mod@replay`] compares the two.
//! [`ledger`] reads operations from CSV, [`generate`] makes them from a seed, and [`report`] prints
//! the outcomes.

#![forbid(unsafe_code)]

mod account;
mod args;
mod critical_path;
mod generate;
mod ledger;
mod operation;
mod parallel;
mod progress;
mod random;
mod replay;
mod report;
mod sequential;
mod work;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;

use args::Args;
use ledger::Ledger;
use parallel::Lost;
use report::Report;
use work::Work;

/// The exit codes that `--help` documents.
#[derive(Clone, Copy, Debug)]
enum Exit {
    Success = 0,
    /// The runtime broke a promise.
    Failed = 1,
    /// An input or output cannot be used. Also clap's code for wrong usage.
    Unusable = 2,
    /// Replayed, except for malformed lines.
    Malformed = 3,
}

fn main() -> ExitCode {
    let exit = run(&Args::parse()).unwrap_or_else(|error| report_error(&error));
    ExitCode::from(exit as u8)
}

fn run(args: &Args) -> Result<Exit> {
    if let Some(path) = &args.write {
        let ledger = generate::generate(args.plan);
        write_to(path, |out| ledger.write(out))?;
        return Ok(Exit::Success);
    }
    let ledger = match &args.file {
        Some(path) => Ledger::open(path)?,
        None => generate::generate(args.plan),
    };
    replay(&ledger, args)
}

fn replay(ledger: &Ledger, args: &Args) -> Result<Exit> {
    let work = Work::lasting(Duration::from_micros(args.work_us));
    let workers = match args.workers {
        Some(workers) => workers.into(),
        None => available_parallelism().map_or(1, Into::into),
    };
    let parallel = parallel::replay(ledger, workers, work)?;
    let sequential = args.verify.then(|| sequential::replay(ledger, work));
    let report = Report::new(ledger, &parallel, sequential.as_ref(), workers, args.work_us);
    if let Some(path) = &args.rejected {
        write_to(path, |out| report.write_rejected(out))?;
    }
    write_to(Path::new("-"), |out| report.write(out))?;
    Ok(match report.differences() {
        Some(differences) if !differences.is_empty() => Exit::Failed,
        _ if !ledger.malformed.is_empty() => Exit::Malformed,
        _ => Exit::Success,
    })
}

/// Writes to a file, or to standard output under the name `-`.
fn write_to(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let is_stdout = path == Path::new("-");
    let written = || {
        let out: Box<dyn Write> =
            if is_stdout { Box::new(io::stdout().lock()) } else { Box::new(File::create(path)?) };
        let mut out = BufWriter::new(out);
        write(&mut out)?;
        out.flush()
    };
    match written() {
        // The reader of a pipe, such as `head`, has seen enough. The exit code still tells the
        // rest.
        Err(error) if is_stdout && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.with_context(|| match is_stdout {
            true => "cannot write to standard output".into(),
            false => format!("cannot write {}", path.display()),
        }),
    }
}

fn report_error(error: &anyhow::Error) -> Exit {
    eprintln!("error: {error:#}");
    if error.is::<Lost>() { Exit::Failed } else { Exit::Unusable }
}

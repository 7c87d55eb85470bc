//! The commands themselves: replay, with or without verification, and generate.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, Result};
use coact::prelude::*;

use super::decisions::{Decisions, Listing};
use super::generate::{self, Plan};
use super::parallel::Parallel;
use super::progress::Progress;
use super::reader::InputError;
use super::replay::{Books, Replay, replay as run};
use super::report::{Report, Timing};
use super::sequential::Sequential;
use super::source::Source;
use super::summary;
use super::trail::Trail;
use super::verification::Verification;
use super::work::Work;
use crate::cli::{GenerateArgs, ReplayArgs};
use crate::exit::Exit;

/// `coact ledger FILE`
pub fn replay(args: &ReplayArgs) -> Result<Exit> {
    let mut source = Source::new(&args.file)?;
    let work = Work::lasting(Duration::from_micros(args.work_us));
    let report = if args.verify {
        source = source.rereadable()?;
        verified(args, &mut source, work)?
    } else {
        let (replay, _) = parallel(args, &mut source, work, Trail::Off)?;
        report(args, &replay)
    };
    print(&report, args.json)?;
    Ok(exit(&report))
}

/// `coact ledger generate`
pub fn generate(args: &GenerateArgs) -> Result<Exit> {
    let plan =
        Plan { lines: args.lines, accounts: args.accounts, seed: args.seed, skew: args.skew };
    if args.out == Path::new("-") {
        let out = BufWriter::new(io::stdout().lock());
        generate::generate(plan, out).context("cannot write to standard output")?;
    } else {
        let failed = || format!("cannot write {}", args.out.display());
        let file = File::create(&args.out).with_context(failed)?;
        generate::generate(plan, BufWriter::new(file)).with_context(failed)?;
    }
    Ok(Exit::Success)
}

fn verified(args: &ReplayArgs, source: &mut Source, work: Work) -> Result<Report> {
    let (expected, trail) = sequential(source, work)?;
    let (found, trail) = parallel(args, source, work, trail.compare()?)?;
    let verification = trail
        .into_comparison()
        .and_then(|decisions| Verification::new(&expected, &found, &decisions))
        .ok_or_else(|| InputError::Changed { name: name(args) })?;
    let mut report = report(args, &found);
    report.add_verification(&verification, &found.books);
    Ok(report)
}

/// The replay that others are compared with.
fn sequential(source: &mut Source, work: Work) -> Result<(Replay, Trail)> {
    let input = source.open()?;
    let books = Books::new(Decisions::new(0, None, Trail::written()), 0);
    let progress = Progress::new("sequential", input.size);
    let mut replay = run(input, Sequential::new(work), books, &progress)?;
    let trail = replay.books.decisions.finish()?;
    Ok((replay, trail))
}

fn parallel(
    args: &ReplayArgs,
    source: &mut Source,
    work: Work,
    trail: Trail,
) -> Result<(Replay, Trail)> {
    let listing = args.rejected.as_deref().map(Listing::create).transpose()?;
    let books = Books::new(Decisions::new(args.show, listing, trail), args.show);
    let input = source.open()?;
    let runtime = Runtime::builder()
        .workers(workers(args))
        .name("ledger")
        .build()
        .context("cannot start the workers")?;
    let progress = Progress::new("parallel", input.size);
    let mut replay = runtime.run(|| run(input, Parallel::new(work), books, &progress))?;
    let trail = replay.books.decisions.finish()?;
    Ok((replay, trail))
}

fn report(args: &ReplayArgs, replay: &Replay) -> Report {
    let lines = replay.books.decisions.lines();
    let timing = Timing::new(Some(workers(args)), args.work_us, lines, replay.elapsed);
    Report::new(name(args), replay, timing, args.show)
}

fn workers(args: &ReplayArgs) -> usize {
    match args.workers {
        Some(workers) => workers.into(),
        None => available_parallelism().map_or(1, Into::into),
    }
}

fn name(args: &ReplayArgs) -> String {
    if args.file == Path::new("-") {
        "standard input".into()
    } else {
        args.file.display().to_string()
    }
}

fn print(report: &Report, json: bool) -> Result<()> {
    let written = if json {
        let mut out = BufWriter::new(io::stdout().lock());
        serde_json::to_writer_pretty(&mut out, report)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out))
            .and_then(|()| out.flush())
    } else {
        summary::write(report, &mut anstream::stdout().lock())
    };
    match written {
        // Whoever read it has seen enough; the exit code still tells the rest.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

fn exit(report: &Report) -> Exit {
    match &report.verification {
        Some(verified) if !verified.same => Exit::Failed,
        _ if report.decisions.malformed > 0 => Exit::Malformed,
        _ => Exit::Success,
    }
}

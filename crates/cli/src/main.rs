//! `coact`: looks into what is stored of durable actors, and changes nothing there.
//!
//! Reading order: `args`, `source` (what is opened), `paged_reads` (how it is read), then a file
//! for each command: `list`, `show`, `verify` (with `history_check`, the check of one entity, and
//! `finding`), `export`, `backup`. `record` is the format of JSON Lines, `cbor` and `quoted_name`
//! how bytes and texts are shown.

#![forbid(unsafe_code)]

mod args;
mod backup;
mod cbor;
mod export;
mod finding;
mod history_check;
mod list;
mod message;
mod output;
mod paged_reads;
mod quoted_name;
mod record;
mod show;
mod source;
mod time;
mod verify;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use args::{CommandLine, JournalArgs, JournalCommand, ToolCommand};
use output::LineOutput;
use source::JournalSource;
use verify::Verdict;

/// `verify` has found damage.
const DAMAGED: u8 = 1;

/// Something could not be read.
const UNREADABLE: u8 = 2;

fn main() -> ExitCode {
    let ToolCommand::Journal(journal) = CommandLine::parse().tool;
    match run(&journal) {
        Ok(Verdict::Sound) => ExitCode::SUCCESS,
        Ok(Verdict::Damaged) => ExitCode::from(DAMAGED),
        Ok(Verdict::Unreadable) => ExitCode::from(UNREADABLE),
        // As with `| head`: what was wanted was had.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("coact: {error:#}");
            ExitCode::from(UNREADABLE)
        }
    }
}

fn run(journal: &JournalArgs) -> anyhow::Result<Verdict> {
    let source = || JournalSource::open(&journal.source, &journal.schema, journal.immutable);
    let mut output = LineOutput::standard(journal.width);
    let sound = |()| Verdict::Sound;
    let verdict = match &journal.query {
        JournalCommand::List(args) => list::list(source()?.reader(), args, &mut output).map(sound),
        JournalCommand::Show(args) => show::show(source()?.reader(), args, &mut output).map(sound),
        JournalCommand::Verify(args) => verify::verify(&source()?, args, &mut output),
        JournalCommand::Export(args) => return export::export(&source()?, args, output).map(sound),
        JournalCommand::Backup(args) => backup::backup(journal, args, &mut output).map(sound),
    }?;
    match output.flush() {
        // A verdict other than this is told by the exit status.
        Err(error) if verdict == Verdict::Sound => Err(error.into()),
        _ => Ok(verdict),
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

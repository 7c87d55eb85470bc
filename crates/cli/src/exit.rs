//! How the program ends.

use std::io;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

use crate::ledger::parallel::Undecided;

/// The exit codes that `--help` documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Success = 0,
    /// The runtime did not do what it promises.
    Failed = 1,
    /// The arguments, an input or an output cannot be used. Also clap's code for wrong usage.
    Unusable = 2,
    /// Done, but some lines were malformed.
    Malformed = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Tells the user what went wrong.
pub fn report(error: &anyhow::Error) -> Exit {
    if is_closed_pipe(error) {
        // Whoever read our output has seen enough.
        return Exit::Success;
    }
    const ERROR: Style = AnsiColor::Red.on_default().bold();
    anstream::eprintln!("{ERROR}error:{ERROR:#} {error:#}");
    if error.is::<Undecided>() { Exit::Failed } else { Exit::Unusable }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

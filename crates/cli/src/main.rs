//! The `coact` command.

#![forbid(unsafe_code)]

mod cli;
mod exit;
mod ledger;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command, LedgerCommand};

fn main() -> ExitCode {
    let Command::Ledger(ledger) = Cli::parse().command;
    let done = match (ledger.command, ledger.replay) {
        (Some(LedgerCommand::Generate(args)), _) => ledger::command::generate(&args),
        (None, Some(args)) => ledger::command::replay(&args),
        // clap demands one of them.
        (None, None) => Err(anyhow::anyhow!("a ledger file is needed")),
    };
    done.unwrap_or_else(|error| exit::report(&error)).into()
}

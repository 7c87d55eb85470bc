//! `exchange`: accounts, one order book per symbol, REST and WebSocket in front.
//!
//! Read in this order: [`rules`] has accounts, orders and matching, and knows neither Coact nor the
//! web. [`mod@exchange`] puts them on Coact: accounts are cowns, books are supervised actors, and a
//! trade is one step over all that it changes. [`server`] is the web server around it, and [`demo`]
//! a market of traders in this process.

#![forbid(unsafe_code)]

mod args;
mod demo;
mod exchange;
mod rules;
mod server;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use args::{Args, Command, Serve};

fn main() -> ExitCode {
    match run(Args::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Serve(Serve { listen, symbols }) => server::run(listen, symbols),
        Command::Demo(plan) => demo::run(&plan),
    }
}

//! The command line.

use std::net::SocketAddr;

use clap::{Args as Group, Parser, Subcommand};

use crate::rules::name::Symbol;

/// A matching exchange: accounts, one order book per symbol, REST and WebSocket
///
/// Every order is one atomic step over its book and exactly the accounts that it trades with. A
/// book that fails is restarted, and rebuilt from the open orders in the accounts.
#[derive(Debug, Parser)]
#[command(name = "exchange", version, after_long_help = HELP)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve over HTTP until Ctrl-C
    Serve(Serve),
    /// Run a market in this process, and report on it
    Demo(Demo),
}

#[derive(Debug, Group)]
pub struct Serve {
    /// The address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,

    /// What is traded, separated by commas
    #[arg(long, value_name = "SYMBOL,..", value_delimiter = ',', default_value = "ACME,BOLT,CORN")]
    pub symbols: Vec<Symbol>,
}

#[derive(Clone, Debug, Group)]
pub struct Demo {
    /// The same seed gives the same traders and the same wishes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Orders of all traders together
    #[arg(
        long,
        value_name = "N",
        default_value_t = 50_000,
        value_parser = clap::value_parser!(u64).range(1..=10_000_000)
    )]
    pub orders: u64,

    /// Traders, each of which waits for the answer to its last order
    #[arg(
        long,
        value_name = "N",
        default_value_t = 64,
        value_parser = clap::value_parser!(u64).range(1..=10_000)
    )]
    pub traders: u64,
}

const HELP: &str = "\
Examples:
  exchange demo
  exchange demo --seed 7 --orders 1000000 --traders 200
  exchange serve
  exchange serve --listen 0.0.0.0:80 --symbols ACME,BOLT

A first trade, beside `exchange serve`; prices are in cents:
  api=http://127.0.0.1:8080
  post() { curl -H 'content-type: application/json' $api/$1 -d \"$2\"; echo; }
  post accounts '{\"name\":\"ann\"}'
  post accounts '{\"name\":\"ben\"}'
  post accounts/ann/deposits '{\"symbol\":\"ACME\",\"amount\":10}'
  post accounts/ben/deposits '{\"amount\":100000}'
  post accounts/ann/orders '{\"symbol\":\"ACME\",\"side\":\"sell\",\"price\":9950,\"quantity\":4}'
  post accounts/ben/orders '{\"symbol\":\"ACME\",\"side\":\"buy\",\"quantity\":3}'
  curl $api/books/ACME
  curl $api/snapshot

Exit codes:
  0  served until it was told to stop, and finished everything; or the market's books balance
  1  something failed
  2  wrong usage";

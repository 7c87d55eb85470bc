//! Transfers between two accounts, by a plain program with tokio and a database.
//!
//! Each transfer is a task, and a transaction of its own: two balances are changed under locks, and
//! an event is stored of each. `sqlite` has the locks of SQLite (one writer), `postgres` those of
//! rows, taken in the order of keys.
//!
//! The last line that it prints is what `coact-bench-durable` reads.

mod measured;
mod pool;
mod postgres;
mod sqlite;
mod transfer;

use std::path::PathBuf;

use anyhow::ensure;
use clap::{Args, Parser, Subcommand};

/// Makes transfers between accounts in a database, and prints how long that took.
#[derive(Parser)]
#[command(
    after_help = "Examples:\n  sql sqlite --folder ~/tmp\n  sql postgres --server 'host=/tmp user=postgres dbname=postgres' --folder ~/tmp"
)]
struct Cli {
    #[command(subcommand)]
    database: Database,
}

#[derive(Subcommand)]
enum Database {
    /// SQLite: tokio's threads for blocking work, and a pool of connections.
    Sqlite(Setup),
    /// PostgreSQL: `tokio-postgres`, and a pool of connections. Its tables are made anew.
    Postgres {
        /// The server, as `tokio-postgres` takes it.
        #[arg(long)]
        server: String,
        #[command(flatten)]
        setup: Setup,
    },
}

/// What a run is given.
#[derive(Args, Clone)]
struct Setup {
    /// The folder for files.
    #[arg(long)]
    folder: PathBuf,
    /// How many accounts.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(2..))]
    accounts: u64,
    /// How many transfers.
    #[arg(long, default_value_t = 20_000)]
    transfers: u64,
    /// How many transfers may be under way at a time.
    #[arg(long, default_value_t = 1_000)]
    at_once: usize,
    /// How many connections.
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// A factor on the number of transfers.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
}

impl Setup {
    fn count(&self) -> u64 {
        ((self.transfers as f64 * self.scale) as u64).max(1)
    }
}

fn main() -> anyhow::Result<()> {
    // As many threads as there are processors.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match Cli::parse().database {
        Database::Sqlite(setup) => runtime.block_on(sqlite::run(setup)),
        Database::Postgres { server, setup } => runtime.block_on(postgres::run(server, setup)),
    }
}

/// Checks that no money has come or gone, and that each transfer has its events.
fn check(sum: i64, events: i64, count: u64) -> anyhow::Result<()> {
    ensure!(sum == 0, "there are {sum} cents, and not 0");
    let wanted = 2 * count.cast_signed();
    ensure!(events == wanted, "there are {events} events, and not {wanted}");
    Ok(())
}

//! What a run is given.

use std::path::PathBuf;

use clap::Args;

/// What a run is given.
#[derive(Args, Clone, Debug)]
pub struct Setup {
    /// The folder for files; one on the disk that is to be measured, not in memory.
    #[arg(long)]
    pub folder: PathBuf,
    /// A factor on all counts.
    #[arg(long, default_value_t = 1.0)]
    pub scale: f64,
    /// How many commands, transfers or messages may be under way at a time.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub in_flight: u64,
    /// A server of PostgreSQL, as postgres://USER:PASSWORD@HOST:PORT/DATABASE. It gets tables
    /// bench_*, and schemas bench_*.
    #[arg(long)]
    pub postgres: Option<String>,
    /// How many commits the bare library puts in a transaction.
    #[arg(long, hide = true)]
    pub batch: Option<u64>,
}

impl Setup {
    /// So many, scaled: one at least.
    pub fn scaled(&self, full: u64) -> u64 {
        ((full as f64 * self.scale) as u64).max(1)
    }

    /// So many entities: scaled, but not fewer than a hundred, if there are as many.
    pub fn entities(&self, full: u64) -> u64 {
        self.scaled(full).max(full.min(100))
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

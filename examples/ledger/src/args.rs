//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::generate::Plan;

/// Replay bank operations in parallel, with the result of a sequential replay
///
/// Every operation is one behaviour over exactly the accounts that it names. Operations that share
/// an account run in the order of their lines, all others in parallel: every decision and every
/// balance is that of a replay line by line.
///
/// Without FILE, the operations are generated from a seed.
#[derive(Debug, Parser)]
#[command(name = "ledger", version, after_long_help = HELP)]
pub struct Args {
    /// The ledger to replay, as CSV; `-` reads standard input
    pub file: Option<PathBuf>,

    /// Also replay sequentially, and compare every decision and every balance
    #[arg(long)]
    pub verify: bool,

    /// Threads that run behaviours [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub workers: Option<u16>,

    /// Simulated work of every operation, in microseconds of processor time
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(..=1_000_000)
    )]
    pub work_us: u64,

    /// Write every line that was rejected or malformed to this file, as CSV
    #[arg(long, value_name = "FILE")]
    pub rejected: Option<PathBuf>,

    #[command(flatten)]
    pub plan: Plan,

    /// Write the generated ledger to this file (`-`: standard output) instead of replaying it
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Generated ledger",
        conflicts_with_all = ["file", "verify", "rejected"]
    )]
    pub write: Option<PathBuf>,
}

const HELP: &str = "\
The file:
  CSV with the header \"operation,accounts,amount\". Semicolons separate accounts, amounts are whole
  cents, and every line ends with a line break, the last one too.

    open,alice,100000           opens the account with 1000.00
    deposit,alice,500           pays in
    withdraw,alice,250          pays out
    transfer,alice;bob,700      alice pays bob
    split,alice;bob;carol,901   alice pays the others in equal shares, odd cents to the first
    freeze,alice,               stops all movements of the account
    unfreeze,alice,             allows them again
    audit,alice;bob;carol,      adds up the balances; audits only read and run in parallel
    close,alice,                ends an empty account for good

  The bank rejects an operation that its accounts do not allow; a line that is no operation is
  malformed. Neither changes anything; the report names both with line number and reason.

Examples:
  ledger --verify
  ledger --verify --work-us 0
  ledger --verify --workers 4
  ledger --verify --operations 1000000 --accounts 50000 --seed 7
  ledger --write ledger.csv
  ledger ledger.csv --rejected rejected.csv
  zcat old.csv.gz | ledger -

Exit codes:
  0  replayed; a rejected operation is a decision and no failure
  1  --verify found a difference, or an operation was lost
  2  wrong usage, or an input or output that cannot be used
  3  replayed, except for malformed lines";

//! The command line: what can be asked, and the help that goes with it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Programs that show the Coact runtime at work on real input.
#[derive(Debug, Parser)]
#[command(name = "coact", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Ledger(LedgerArgs),
}

/// Replay a file of bank operations in parallel, with the result of a sequential replay
///
/// Every operation is one behaviour over exactly the accounts it names. Operations that share an
/// account run in the order of their lines, all others run side by side, so the balances and every
/// decision are those of a replay line by line.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_long_help = LEDGER_HELP
)]
pub struct LedgerArgs {
    #[command(subcommand)]
    pub command: Option<LedgerCommand>,

    #[command(flatten)]
    pub replay: Option<ReplayArgs>,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The ledger to replay; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub file: PathBuf,

    /// Also replay it sequentially, and compare every decision and every balance
    #[arg(long)]
    pub verify: bool,

    /// Threads that run behaviours [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub workers: Option<u16>,

    /// Simulated work of every operation, in microseconds of processor time
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0,
        value_parser = clap::value_parser!(u64).range(..=1_000_000)
    )]
    pub work_us: u64,

    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,

    /// Entries in each list of the report
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub show: usize,

    /// Write every line that was not carried out to this file, as CSV
    #[arg(long, value_name = "FILE")]
    pub rejected: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum LedgerCommand {
    Generate(GenerateArgs),
}

/// Make a ledger from a seed, with a few busy accounts and realistic rejections
///
/// Equal arguments give equal bytes, on every machine.
#[derive(Debug, Args)]
#[command(after_long_help = GENERATE_HELP)]
pub struct GenerateArgs {
    /// Operations to write
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub lines: u64,

    /// Distinct accounts
    #[arg(
        long,
        value_name = "M",
        default_value_t = 2_000,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub accounts: u32,

    /// Where chance starts
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// Exponent of Zipf's law for the choice of accounts: 0 is uniform, 1 is strongly skewed
    #[arg(long, value_name = "Z", default_value_t = 0.8, value_parser = skew)]
    pub skew: f64,

    /// The file to write; `-` writes to standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
}

fn skew(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(skew) if (0.0..=10.0).contains(&skew) => Ok(skew),
        _ => Err("a number from 0 to 10 is needed".into()),
    }
}

const LEDGER_HELP: &str = "\
The file:
  CSV with the header \"operation,accounts,amount\". Accounts are separated by semicolons, amounts
  are whole cents, and every line ends with a line break, the last one too.

    open,alice,100000           opens the account with 1000.00
    deposit,alice,500           pays in
    withdraw,alice,250          pays out
    transfer,alice;bob,700      alice pays bob
    split,alice;bob;carol,901   alice pays the others in equal shares, odd cents to the first
    freeze,alice,               stops all movements of the account
    unfreeze,alice,             allows them again
    audit,alice;bob;carol,      adds up the balances; audits only read and run side by side
    close,alice,                ends an empty account for good

  An operation that its accounts do not allow is rejected, and a line that is no operation is
  malformed. Both are reported with their line number and reason, and neither changes anything.

The cost of order:
  The longest chain of operations that must run one after another is a limit for any number of
  workers. \"held back\" counts the operations that waited for this account last.

Examples:
  coact ledger data/ledger.csv --verify
  coact ledger data/ledger.csv --verify --work-us 20 --workers 4
  coact ledger data/ledger.csv --json | jq .order
  zcat old.csv.gz | coact ledger - --rejected rejected.csv

Exit codes:
  0  replayed; rejected operations are decisions and no failure
  1  --verify found a difference, or an operation was lost
  2  wrong usage, or an input or output that cannot be used
  3  replayed, but some lines were malformed";

const GENERATE_HELP: &str = "\
Examples:
  coact ledger generate --out ledger.csv
  coact ledger generate --lines 10000000 --accounts 50000 --seed 7 --out big.csv
  coact ledger generate --lines 1000 --skew 0 | coact ledger - --verify";

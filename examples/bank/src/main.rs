//! `bank FILE`: makes transfers among accounts that are in a file, until there are as many as
//! wanted. It can be killed at any time, and goes on where it was. At the end no money has come or
//! gone, and the statement beside it (`FILE.statement`), a table that follows the accounts, has
//! each transfer once.

mod account;
mod statement;

use std::collections::VecDeque;
use std::sync::mpsc;
use std::time::{Duration, Instant};

#[cfg(not(feature = "postgres"))]
use anyhow::bail;
use anyhow::{anyhow, ensure};
use clap::Parser;
use coact::cown::read_all;
use coact::durable::{Durable, Journal, JournalBuilder};
use coact::prelude::*;
use coact::runtime::Runtime;
use coact_sqlite::SqliteStore;

use account::{Account, Deposit, Open, send, transfer};
use statement::Statement;

/// Makes transfers among accounts that are in a file. It can be killed at any time, and goes on
/// where it was.
#[derive(Parser)]
#[command(
    after_help = "Examples:\n  bank /tmp/bank.db\n  bank /tmp/bank.db --transfers 100000 & sleep 2; kill -9 $!; bank /tmp/bank.db --transfers 100000"
)]
struct Args {
    /// The file; it is made if it is not there. With the feature `postgres`, the URL of a database
    /// (postgres://..) as well.
    file: String,
    /// How many accounts there are.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(2..))]
    accounts: u64,
    /// How many transfers there are to be, those of earlier runs among them.
    #[arg(long, default_value_t = 20_000)]
    transfers: u64,
    /// Have transfers made by messages between accounts, instead of steps over two.
    #[arg(long)]
    messages: bool,
    /// The largest number of pending transfers.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    at_once: u64,
}

/// What each account begins with.
const OPENING: u64 = 100_000;

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let (journal, statement) = open(&args.file)?;
    let journal = journal.receives::<Account, Deposit>().build();
    let resumed = journal.resume().wait()??;
    let statement = Statement::open(statement.as_ref(), journal.clone())?;
    let (goes_on, over) = mpsc::channel();
    let statement = statement.follow(over);
    let accounts: Vec<_> =
        (0..args.accounts).map(|key| journal.entity::<Account>(key.to_string())).collect();

    let opened: Vec<_> =
        accounts.iter().map(|account| account.ask(Open { cents: OPENING })).collect();
    opened.into_iter().try_for_each(|opened| opened.wait().map(drop))?;
    let before = made(&accounts)?;
    println!("{before} transfers were made before, among {} accounts", args.accounts);
    if resumed.messages > 0 {
        println!("{} of them were still on their way", resumed.messages);
    }

    let took = make(&accounts, before..args.transfers, &args)?;
    let now = made(&accounts)?;
    let rate = (now - before) as f64 / took.as_secs_f64();
    println!("{now} transfers are made; {} of them now, {rate:.0} a second", now - before);

    // Undelivered messages arrive first.
    Runtime::global().wait_idle();
    let sum =
        call(read_all(&accounts), |all| all.iter().map(|one| one.cents).sum::<u64>()).wait()?;
    ensure!(
        sum == OPENING * args.accounts,
        "there are {sum} cents, and not {}",
        OPENING * args.accounts
    );
    println!("there are {sum} cents, as at the beginning");
    drop(goes_on);
    let totals = statement.join().map_err(|_| anyhow!("the statement has panicked"))??;
    ensure!(
        (totals.sent, totals.transfers) == (totals.received, now),
        "the statement has {} transfers, {} cents sent and {} received",
        totals.transfers,
        totals.sent,
        totals.received
    );
    println!("the statement has them too: {} cents were sent, and received", totals.sent);
    // End in order, so that no `-wal` is left: actors end when no one uses them any more.
    drop((accounts, journal));
    Runtime::global().wait_idle();
    Ok(())
}

/// Opens the store, and says where the statement is.
fn open(file: &str) -> anyhow::Result<(JournalBuilder, String)> {
    if ["postgres://", "postgresql://"].iter().any(|scheme| file.starts_with(scheme)) {
        #[cfg(feature = "postgres")]
        {
            let store = coact_postgres::PostgresStore::connect(file)?;
            return Ok((Journal::builder(store), "bank.statement".into()));
        }
        #[cfg(not(feature = "postgres"))]
        bail!("for a database, build this with `--features postgres`");
    }
    let store = SqliteStore::open(file)?;
    Ok((Journal::builder(store), format!("{file}.statement")))
}

/// How many transfers were made so far.
fn made(accounts: &[Addr<Durable<Account>>]) -> anyhow::Result<u64> {
    Ok(call(read_all(accounts), |all| all.iter().map(|one| one.transfers).sum()).wait()?)
}

/// Makes transfers until there are as many as wanted.
fn make(
    accounts: &[Addr<Durable<Account>>],
    numbers: std::ops::Range<u64>,
    args: &Args,
) -> anyhow::Result<Duration> {
    let (began, mut told) = (Instant::now(), Instant::now());
    let (mut under_way, mut number, mut left) =
        (VecDeque::new(), numbers.start, numbers.clone().count());
    while left > 0 || !under_way.is_empty() {
        while left > 0 && under_way.len() < args.at_once as usize {
            number += 1;
            let (from, to, cents) = choose(number, accounts.len() as u64);
            let from = &accounts[from as usize];
            under_way.push_back(if args.messages {
                send(from, to, cents)
            } else {
                transfer(from, (&accounts[to as usize], to), cents)
            });
            left -= 1;
        }
        let Some(first) = under_way.pop_front() else { break };
        // One that was refused, as there was too little, is tried with others.
        left += usize::from(!first.wait()?);
        if told.elapsed() > Duration::from_secs(1) {
            told = Instant::now();
            eprintln!("  {} are to come", left + under_way.len());
        }
    }
    Ok(began.elapsed())
}

/// Two accounts, and an amount, which look random.
fn choose(number: u64, accounts: u64) -> (u64, u64, u64) {
    let mixed = (number ^ 0x5DEE_CE66).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let from = (mixed >> 40) % accounts;
    let to = (from + 1 + (mixed >> 20) % (accounts - 1)) % accounts;
    (from, to, 1 + (mixed >> 5) % 500)
}

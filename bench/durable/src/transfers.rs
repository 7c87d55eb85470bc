//! Transfers between two accounts, an atomic step each; and the same rows by the bare library.

use std::sync::Arc;

use anyhow::{Context, ensure};
use coact::cown::read_all;
use coact::durable::store::write;
use coact::durable::{Durable, EntityId, EventSourced, Journal, pipelined};
use coact::prelude::*;
use coact_sqlite::SqliteStore;

use crate::account::{Account, AccountEvent, choose};
use crate::bare::Bare;
use crate::measured::{Begun, Measured};
use crate::setup::Setup;
use crate::stores::Shared;
use crate::window;

/// How many transfers there are.
const FAST: u64 = 50_000;

/// How many there are, if each waits for the one before.
const SLOW: u64 = 2_000;

/// Among this many accounts, many at a time.
pub fn many(setup: &Setup, accounts: u64) -> anyhow::Result<Measured> {
    transfers(setup, accounts, (setup.scaled(FAST), setup.in_flight), transfer)
}

/// The same, and none waits for the commit of another.
pub fn many_pipelined(setup: &Setup, accounts: u64) -> anyhow::Result<Measured> {
    transfers(setup, accounts, (setup.scaled(FAST), setup.in_flight), transfer_pipelined)
}

/// Each when the one before is stored.
pub fn one_at_a_time(setup: &Setup) -> anyhow::Result<Measured> {
    transfers(setup, 1_000, (setup.scaled(SLOW), 1), transfer)
}

/// All between the same two accounts, many at a time.
pub fn hot_pair(setup: &Setup) -> anyhow::Result<Measured> {
    transfers(setup, 2, (setup.scaled(SLOW), setup.in_flight), transfer)
}

/// From one account to another, this many cents.
type Transfer = fn(&[Addr<Durable<Account>>], (u64, u64, i64)) -> Promise<()>;

fn transfers(
    setup: &Setup,
    accounts: u64,
    (count, at_once): (u64, u64),
    transfer: Transfer,
) -> anyhow::Result<Measured> {
    let store = Shared(Arc::new(SqliteStore::open(setup.file("accounts.db"))?));
    let journal = Journal::new(store.clone());
    let all: Vec<_> = (0..accounts).map(|key| journal.entity::<Account>(key.to_string())).collect();
    call(read_all(&all), |_| ()).wait()?;
    let before = store.0.transactions();
    let begun = Begun::now()?;
    window::run(
        count,
        at_once,
        |number| transfer(&all, choose(number, accounts)),
        |done| Ok(done.wait()?),
    )?;
    let measured = begun.end(count)?;
    let written = store.0.transactions() - before;
    let sum = call(read_all(&all), |all| all.iter().map(|one| one.cents).sum::<i64>()).wait()?;
    ensure!(sum == 0, "there are {sum} cents, and not 0");
    let events =
        call(read_all(&all), |all| all.iter().map(|one| one.last().get()).sum::<u64>()).wait()?;
    ensure!(events == 2 * count, "there are {events} events, and not {}", 2 * count);
    Ok(Measured { transactions: Some(written), ..measured })
}

fn transfer(
    accounts: &[Addr<Durable<Account>>],
    (from, to, cents): (u64, u64, i64),
) -> Promise<()> {
    let both = (&accounts[from as usize], &accounts[to as usize]);
    call(both, move |both| decide(both, (to, cents)))
}

fn transfer_pipelined(
    accounts: &[Addr<Durable<Account>>],
    (from, to, cents): (u64, u64, i64),
) -> Promise<()> {
    let both = (&accounts[from as usize], &accounts[to as usize]);
    call(pipelined(both), move |both| decide(both, (to, cents)))
}

fn decide((from, other): (&mut Durable<Account>, &mut Durable<Account>), (to, cents): (u64, i64)) {
    from.persist(AccountEvent::Sent { cents, to });
    other.persist(AccountEvent::Received { cents });
}

/// As many rows by the bare library.
pub fn bare(setup: &Setup, accounts: u64) -> anyhow::Result<Measured> {
    let batch =
        setup.batch.context("the bare library is told how many commits to write at once")?;
    let count = setup.scaled(FAST);
    let ids: Vec<_> =
        (0..accounts).map(|key| EntityId::new(Account::KIND, key.to_string())).collect();
    let mut file = Bare::create(&setup.file("accounts.db"), &ids)?;
    let begun = Begun::now()?;
    let (mut number, mut transactions) = (0, 0);
    while number < count {
        let next = (number + batch).min(count);
        let commits = (number..next).map(|number| {
            let (from, to, cents) = choose(number, accounts);
            let sent = write(&AccountEvent::Sent { cents, to })?;
            let received = write(&AccountEvent::Received { cents })?;
            Ok(vec![(from as usize, sent), (to as usize, received)])
        });
        file.write(&commits.collect::<anyhow::Result<Vec<_>>>()?)?;
        (number, transactions) = (next, transactions + 1);
    }
    Ok(Measured { transactions: Some(transactions), ..begun.end(count)? })
}

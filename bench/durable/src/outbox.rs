//! Messages from entities to others, each stored until it has arrived.

use std::sync::Arc;

use anyhow::ensure;
use coact::cown::read_all;
use coact::durable::Journal;
use coact::prelude::*;
use coact_sqlite::SqliteStore;

use crate::account::{ARRIVALS, Account, Deposit, Send};
use crate::measured::{Begun, Measured};
use crate::setup::Setup;
use crate::stores::Shared;
use crate::window;

/// How many messages there are.
const MESSAGES: u64 = 20_000;

/// How many pairs of a sender and a receiver.
const PAIRS: u64 = 100;

/// Sends messages, and waits until all have arrived.
pub fn messages(setup: &Setup) -> anyhow::Result<Measured> {
    let store = Shared(Arc::new(SqliteStore::open(setup.file("outbox.db"))?));
    let journal = Journal::builder(store.clone()).receives::<Account, Deposit>().build();
    let all: Vec<_> =
        (0..2 * PAIRS).map(|key| journal.entity::<Account>(key.to_string())).collect();
    call(read_all(&all), |_| ()).wait()?;
    let (senders, receivers) = all.split_at(PAIRS as usize);
    let count = setup.scaled(MESSAGES);
    let before = store.0.transactions();
    let begun = Begun::now()?;
    window::run(
        count,
        setup.in_flight,
        |number| {
            senders[(number % PAIRS) as usize].ask(Send { to: number % PAIRS + PAIRS, cents: 1 })
        },
        |sent| Ok(sent.wait()?),
    )?;
    let sent = begun.end(count)?;
    ARRIVALS.wait_for(count);
    let mut measured = begun.end(count)?;
    measured.transactions = Some(store.0.transactions() - before);
    measured.besides.insert("sent a second".into(), sent.rate());
    let sum =
        call(read_all(receivers), |all| all.iter().map(|one| one.cents).sum::<i64>()).wait()?;
    ensure!(sum.unsigned_abs() == count, "{sum} have arrived, and not {count}");
    Ok(measured)
}

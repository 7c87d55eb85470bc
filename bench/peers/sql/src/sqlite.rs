//! SQLite: one writer at a time, whatever the number of connections.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};
use tokio::task::spawn_blocking;

use crate::pool::{Pool, transfer_all};
use crate::{Setup, check};

const TABLES: &str = "
CREATE TABLE account (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL, last INTEGER NOT NULL) STRICT;
CREATE TABLE event (
    account INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    cents INTEGER NOT NULL,
    other INTEGER NOT NULL,
    PRIMARY KEY (account, seq)
) STRICT, WITHOUT ROWID;
";

/// Makes the transfers.
pub async fn run(setup: Setup) -> anyhow::Result<()> {
    let path = setup.folder.join("sql.db");
    let mut first = open(&path)?;
    create(&mut first, setup.accounts)?;
    let connections = (0..setup.connections).map(|_| open(&path)).collect::<anyhow::Result<_>>()?;
    let pool = Pool::new(connections);
    let measured = transfer_all(&setup, |chosen| transfer(Arc::clone(&pool), chosen)).await?;
    let sum = first.query_row("SELECT sum(cents) FROM account", [], |row| row.get(0))?;
    let events = first.query_row("SELECT count(*) FROM event", [], |row| row.get(0))?;
    check(sum, events, setup.count())?;
    println!("{measured}");
    Ok(())
}

/// As durable as the store of `coact-sqlite`: a flush each commit.
fn open(path: &Path) -> anyhow::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(60))?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn create(connection: &mut Connection, accounts: u64) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    for id in 0..accounts.cast_signed() {
        transaction.execute("INSERT INTO account VALUES (?1, 0, 0)", [id])?;
    }
    transaction.commit()
}

async fn transfer(pool: Arc<Pool<Connection>>, chosen: (i64, i64, i64)) -> anyhow::Result<()> {
    let (mut connection, permit) = pool.take().await?;
    let (connection, done) = spawn_blocking(move || {
        let done = in_transaction(&mut connection, chosen);
        (connection, done)
    })
    .await?;
    pool.put(connection, permit);
    Ok(done?)
}

fn in_transaction(
    connection: &mut Connection,
    (from, to, cents): (i64, i64, i64),
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (account, other, cents) in [(from, to, -cents), (to, from, cents)] {
        let seq: i64 = transaction
            .prepare_cached(
                "UPDATE account SET cents = cents + ?2, last = last + 1 WHERE id = ?1 RETURNING last",
            )?
            .query_row([account, cents], |row| row.get(0))?;
        transaction
            .prepare_cached("INSERT INTO event VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![account, seq, cents, other])?;
    }
    transaction.commit()
}

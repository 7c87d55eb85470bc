//! PostgreSQL: locks of rows, taken in the order of keys, so that no two transactions wait for each
//! other.

use std::sync::Arc;

use anyhow::Context;
use tokio_postgres::{Client, NoTls, Statement};

use crate::pool::{Pool, transfer_all};
use crate::{Setup, check};

const TABLES: &str = "
DROP TABLE IF EXISTS bench_account, bench_event;
CREATE TABLE bench_account (id BIGINT PRIMARY KEY, cents BIGINT NOT NULL, last BIGINT NOT NULL);
CREATE TABLE bench_event (
    account BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    cents BIGINT NOT NULL,
    other BIGINT NOT NULL,
    PRIMARY KEY (account, seq)
);
";

/// Locks both rows, and tells what is in them.
const LOCK: &str =
    "SELECT id, cents, last FROM bench_account WHERE id = $1 OR id = $2 ORDER BY id FOR UPDATE";
const UPDATE: &str = "UPDATE bench_account SET cents = $2, last = $3 WHERE id = $1";
const INSERT: &str = "INSERT INTO bench_event VALUES ($1, $2, $3, $4)";

struct Connection {
    client: Client,
    lock: Statement,
    update: Statement,
    insert: Statement,
}

/// Makes the transfers.
pub async fn run(server: String, setup: Setup) -> anyhow::Result<()> {
    let first = connect(&server).await?;
    first.batch_execute(TABLES).await?;
    let accounts = setup.accounts.cast_signed();
    first
        .execute(
            "INSERT INTO bench_account SELECT id, 0, 0 FROM generate_series(0, $1::BIGINT - 1) AS id",
            &[&accounts],
        )
        .await?;
    let mut connections = Vec::new();
    for _ in 0..setup.connections {
        let client = connect(&server).await?;
        let lock = client.prepare(LOCK).await?;
        let (update, insert) = (client.prepare(UPDATE).await?, client.prepare(INSERT).await?);
        connections.push(Connection { client, lock, update, insert });
    }
    let pool = Pool::new(connections);
    let measured = transfer_all(&setup, |chosen| transfer(Arc::clone(&pool), chosen)).await?;
    let sum = first.query_one("SELECT sum(cents)::BIGINT FROM bench_account", &[]).await?.get(0);
    let events = first.query_one("SELECT count(*) FROM bench_event", &[]).await?.get(0);
    check(sum, events, setup.count())?;
    println!("{measured}");
    Ok(())
}

async fn connect(server: &str) -> anyhow::Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(server, NoTls).await.context("no connection to the server")?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            eprintln!("a connection has failed: {error}");
        }
    });
    Ok(client)
}

async fn transfer(pool: Arc<Pool<Connection>>, chosen: (i64, i64, i64)) -> anyhow::Result<()> {
    let (mut connection, permit) = pool.take().await?;
    let done = in_transaction(&mut connection, chosen).await;
    pool.put(connection, permit);
    Ok(done?)
}

/// Five messages to the server and back: the beginning, the locks, the two rows of each account
/// together, and the commit.
async fn in_transaction(
    Connection { client, lock, update, insert }: &mut Connection,
    (from, to, cents): (i64, i64, i64),
) -> Result<(), tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    let rows = transaction.query(&*lock, &[&from, &to]).await?;
    for row in &rows {
        let (id, has, last): (i64, i64, i64) = (row.get(0), row.get(1), row.get(2));
        let (by, other) = if id == from { (-cents, to) } else { (cents, from) };
        let (now, next) = (has + by, last + 1);
        let written: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&id, &now, &next];
        let event: [&(dyn tokio_postgres::types::ToSql + Sync); 4] = [&id, &next, &by, &other];
        let (updated, inserted) = tokio::join!(
            transaction.execute(&*update, &written),
            transaction.execute(&*insert, &event),
        );
        updated?;
        inserted?;
    }
    transaction.commit().await
}

//! A server of PostgreSQL, beside what is measured: makes room for a run, and counts transactions.

use anyhow::Context;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

/// The schema that a run has for itself.
pub const SCHEMA: &str = "bench_coact";

/// A connection of its own. It does nothing while nothing is asked of it.
pub struct Server {
    runtime: Runtime,
    client: Client,
}

impl Server {
    /// Connects.
    pub fn connect(url: &str) -> anyhow::Result<Server> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (client, connection) = runtime
            .block_on(tokio_postgres::connect(url, NoTls))
            .context("no connection to the server of PostgreSQL")?;
        runtime.spawn(connection);
        Ok(Server { runtime, client })
    }

    /// Removes what an earlier run has left.
    pub fn clear(&self) -> anyhow::Result<()> {
        let drop = format!("DROP SCHEMA IF EXISTS {SCHEMA} CASCADE");
        Ok(self.runtime.block_on(self.client.batch_execute(&drop))?)
    }

    /// How many transactions have written so far, in all of the server. To ask is none.
    pub fn transactions(&self) -> anyhow::Result<u64> {
        let next = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
        let row = self.runtime.block_on(self.client.query_one(next, &[]))?;
        Ok(row.get::<_, i64>(0).cast_unsigned())
    }
}

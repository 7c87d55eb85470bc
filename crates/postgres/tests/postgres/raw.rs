//! A connection of the test's own, beside those of stores: another process, or one of a store that
//! was lost.

use std::future::Future;
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row};

/// A connection that is asked and waited for.
pub struct Raw {
    runtime: Runtime,
    pub client: Client,
}

impl Raw {
    pub fn connect(url: &str) -> Self {
        // (A thread of its own, so that the connection goes on while the test does something else.)
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut config: Config = url.parse().unwrap();
        config.ssl_mode(tokio_postgres::config::SslMode::Disable);
        let (client, connection) = runtime.block_on(config.connect(NoTls)).unwrap();
        runtime.spawn(connection);
        Self { runtime, client }
    }

    pub fn wait<T>(&self, asked: impl Future<Output = T>) -> T {
        self.runtime.block_on(asked)
    }

    /// Statements without results.
    pub fn run(&self, text: &str) {
        self.wait(self.client.batch_execute(text))
            .unwrap_or_else(|error| panic!("{text}: {error:?}"));
    }

    pub fn rows(&self, text: &str, parameters: &[&(dyn ToSql + Sync)]) -> Vec<Row> {
        self.wait(self.client.query(text, parameters))
            .unwrap_or_else(|error| panic!("{text}: {error:?}"))
    }

    pub fn number(&self, text: &str) -> i64 {
        self.rows(text, &[])[0].get(0)
    }

    /// Waits until this says something else than zero. Fails if that does not come to pass.
    pub fn until(&self, text: &str) {
        let begun = Instant::now();
        while self.number(text) == 0 {
            assert!(begun.elapsed().as_secs() < 60, "{text}");
            std::thread::yield_now();
        }
    }

    /// Waits until another connection waits for a lock that this one has.
    pub fn until_it_is_waited_for(&self) {
        // (Within a transaction, `pg_stat_activity` stays as it is read first.)
        self.until(
            "SELECT count(*) FROM pg_locks l WHERE NOT l.granted AND pg_backend_pid() = ANY(pg_blocking_pids(l.pid))",
        );
    }
}

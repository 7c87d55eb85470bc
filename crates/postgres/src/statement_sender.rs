//! Statements of one transaction, sent without waiting for the answers to those before them.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use crate::session::StatementPipeline;
use crate::statement_failure::StatementFailure;

/// Sends statements on one connection. Their parameters are columns: a row for each that is
/// written.
pub(crate) struct StatementSender<'a> {
    client: &'a Client,
    pipeline: StatementPipeline<'a, Vec<Row>>,
}

impl<'a> StatementSender<'a> {
    pub(crate) fn new(client: &'a Client) -> Self {
        Self { client, pipeline: StatementPipeline::new() }
    }

    /// Begins a transaction. Its answer has no rows.
    pub(crate) fn begin(&mut self) -> Result<(), StatementFailure> {
        self.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
    }

    /// Commits the transaction. Its answer has no rows.
    pub(crate) fn commit(&mut self) -> Result<(), StatementFailure> {
        self.execute("COMMIT")
    }

    fn execute(&mut self, text: &'static str) -> Result<(), StatementFailure> {
        let client = self.client;
        self.pipeline.send(async move {
            client.batch_execute(text).await?;
            Ok(Vec::new())
        })
    }

    /// Sends a prepared statement.
    pub(crate) fn query<const N: usize>(
        &mut self,
        statement: &'a Statement,
        parameters: [&'a (dyn ToSql + Sync); N],
    ) -> Result<(), StatementFailure> {
        let client = self.client;
        self.pipeline.send(async move { client.query(statement, &parameters).await })
    }

    /// Waits for the rows of each, up to the first that fails.
    pub(crate) async fn answers(self) -> Result<Vec<Vec<Row>>, StatementFailure> {
        self.pipeline.answers().await
    }
}

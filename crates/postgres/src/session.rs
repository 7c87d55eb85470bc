//! A connection, and a pipeline of statements.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, SimpleQueryMessage, Socket, Statement};

use crate::connect_error::ConnectError;
use crate::connect_stage::{ClientRefusal, RustlsStream, StagedConnector};
use crate::connection_settings::{
    AccessMode, ConnectionSettings, KEEPALIVE_IDLE, KEEPALIVE_INTERVAL, KEEPALIVE_RETRIES,
};
use crate::statement_failure::{FailureKind, StatementFailure, chain};

/// A connection. Dropping it cuts the connection.
pub(crate) struct Session {
    pub(crate) client: Client,
    connection: ConnectionTask,
    backend: BackendId,
}

/// The server's process of a connection. Process numbers are reused, so its start time belongs to
/// it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BackendId {
    process: String,
    since: String,
}

struct ConnectionTask(JoinHandle<()>);

impl Session {
    /// Connects and logs in. Looks at nothing in the database.
    pub(crate) async fn open(
        settings: &ConnectionSettings,
        access: AccessMode,
    ) -> Result<Self, ConnectError> {
        let (client, connection) = connect(settings, access).await?;
        // Waiting requests get the reason.
        let connection = tokio::spawn(async move { drop(connection.await) });
        let connection = ConnectionTask(connection);
        let text = set_up(settings, access);
        let told = within(settings, client.simple_query(&text)).await?;
        let row = told.iter().rev().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let column = |at| row.and_then(|row| row.get(at)).unwrap_or_default().to_owned();
        let backend = BackendId { process: column(0), since: column(1) };
        Ok(Self { client, connection, backend })
    }

    pub(crate) fn backend(&self) -> &BackendId {
        &self.backend
    }

    /// Ends the server's processes of lost connections: they may wait for the rest of a message
    /// while they hold locks. Their transactions were already reported as undone or unknown.
    pub(crate) async fn end(
        &self,
        lost: &[BackendId],
        patience: Duration,
    ) -> Result<(), StatementFailure> {
        let (processes, since): (Vec<&str>, Vec<&str>) =
            lost.iter().map(|backend| (&*backend.process, &*backend.since)).unzip();
        let ending = async {
            self.client
                .query(
                    "SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
                     JOIN unnest($1::text[], $2::text[]) n (process, since)
                     ON a.pid::text = n.process AND a.backend_start::text = n.since",
                    &[&processes, &since],
                )
                .await
        };
        let ended =
            timeout(patience, ending).await.map_err(|_| StatementFailure::late(patience))?;
        ended.map(drop).map_err(|error| StatementFailure::from(&error))
    }

    /// Waits until the connection has ended.
    pub(crate) async fn ended(&mut self) {
        let _ = (&mut self.connection.0).await;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed() || self.connection.0.is_finished()
    }

    /// Closes the connection in order.
    pub(crate) async fn close(self) {
        let Self { client, mut connection, .. } = self;
        // The connection ends when its last client is gone.
        drop(client);
        let _ = timeout(GOODBYE, &mut connection.0).await;
    }

    /// Prepares statements in one round trip.
    pub(crate) async fn prepare<const N: usize>(
        &self,
        texts: &[impl AsRef<str>; N],
    ) -> Result<[Statement; N], StatementFailure> {
        let mut pipeline = StatementPipeline::new();
        for text in texts {
            pipeline.send(self.client.prepare(text.as_ref()))?;
        }
        let all = pipeline.answers().await?;
        Ok(all.try_into().unwrap_or_else(|_| unreachable!("there is one answer to each")))
    }
}

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        // Otherwise the task would wait for answers that never come.
        self.0.abort();
    }
}

type ClientConnection = (Client, tokio_postgres::Connection<Socket, RustlsStream>);

/// Connects to the first server that accepts. Each has the whole timeout.
async fn connect(
    settings: &ConnectionSettings,
    access: AccessMode,
) -> Result<ClientConnection, ConnectError> {
    let (server, time) = (&settings.address.server, settings.connect_timeout);
    let mut failed = ConnectError::Unreachable { server: server.clone(), why: "none".into() };
    for config in settings.configs(access) {
        let (connector, stage) = StagedConnector::new(settings.tls.clone());
        failed = match timeout(time, config.connect(connector)).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => match stage.refusal(&config, &error) {
                Some(refusal) => of_refusal(settings, refusal, chain(&error)),
                None => of_postgres(settings, &error),
            },
            Err(_) => {
                let why = format!("no answer within {time:?}");
                ConnectError::Unreachable { server: server.clone(), why }
            }
        };
    }
    Err(failed)
}

fn of_refusal(settings: &ConnectionSettings, refusal: ClientRefusal, why: String) -> ConnectError {
    let (server, user) = (settings.address.server.clone(), settings.address.user());
    match refusal {
        ClientRefusal::Tls => ConnectError::Tls { server, why },
        ClientRefusal::NoPassword => {
            let why = "it wants a password, and the address has none".into();
            ConnectError::Denied { server, user, why }
        }
        ClientRefusal::Authentication => ConnectError::Denied { server, user, why },
    }
}

/// How long to wait for an orderly close.
const GOODBYE: Duration = Duration::from_secs(1);

/// The settings of a session.
fn set_up(settings: &ConnectionSettings, access: AccessMode) -> String {
    let identifier = settings.schema.replace('"', "\"\"");
    let milliseconds = settings.operation_timeout.as_millis().clamp(1, i32::MAX as u128);
    let mut all = vec![
        "SET standard_conforming_strings = on".to_owned(),
        format!("SET search_path = \"{identifier}\""),
        "SET client_min_messages = error".into(),
        // No statement, lock or transaction outlives the client's patience by much, even if the
        // client is gone.
        format!("SET statement_timeout = {milliseconds}"),
        format!("SET lock_timeout = {milliseconds}"),
        format!("SET idle_in_transaction_session_timeout = {milliseconds}"),
        format!("SET tcp_user_timeout = {milliseconds}"),
        format!(
            "SELECT set_config(name, '{}', false) FROM pg_settings WHERE name = 'transaction_timeout'",
            milliseconds.saturating_mul(4).min(i32::MAX as u128)
        ),
        // An idle connection stays open.
        "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'".into(),
        format!(
            "SET tcp_keepalives_idle = {}; SET tcp_keepalives_interval = {}; SET tcp_keepalives_count = {KEEPALIVE_RETRIES}",
            KEEPALIVE_IDLE.as_secs(),
            KEEPALIVE_INTERVAL.as_secs()
        ),
        // Forces index lookups, whatever the statistics of a freshly filled table say.
        "SET jit = off; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off".into(),
    ];
    all.push(match access {
        // A reported commit is on the disk, whatever the role's settings are.
        AccessMode::Write => "SET default_transaction_isolation = 'read committed'; \
             SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
            .into(),
        // (A generic plan would assume far larger limits.)
        AccessMode::Read => "SET default_transaction_read_only = on; SET plan_cache_mode = force_custom_plan; \
             SET enable_bitmapscan = off".into(),
    });
    all.push("SET datestyle = 'ISO'; SET timezone = 'UTC'".into());
    // Last, because its row is the result.
    all.push("SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()".into());
    all.join("; ")
}

/// Waits for a step of connecting.
pub(crate) async fn within<T>(
    settings: &ConnectionSettings,
    part: impl Future<Output = Result<T, Error>>,
) -> Result<T, ConnectError> {
    match timeout(settings.operation_timeout, part).await {
        Ok(done) => done.map_err(|error| of_postgres(settings, &error)),
        Err(_) => {
            let why = StatementFailure::late(settings.operation_timeout).to_string();
            Err(ConnectError::Unreachable { server: settings.address.server.clone(), why })
        }
    }
}

/// Classifies an error of connecting.
pub(crate) fn of_postgres(settings: &ConnectionSettings, error: &Error) -> ConnectError {
    let (server, user) = (settings.address.server.clone(), settings.address.user());
    let (database, schema) = (settings.address.database(), settings.schema.clone());
    let why = chain(error);
    let Some(code) = error.code() else {
        return ConnectError::Unreachable { server, why };
    };
    if *code == SqlState::INVALID_CATALOG_NAME {
        ConnectError::NoDatabase { server, database }
    } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        ConnectError::Forbidden { user, database, schema, why }
    } else {
        match &code.code()[..2] {
            "28" => ConnectError::Denied { server, user, why },
            // Too many connections, starting up, shutting down.
            "53" | "57" | "08" => ConnectError::Unreachable { server, why },
            _ => ConnectError::Server { server, why },
        }
    }
}

/// Classifies an error of preparing statements.
pub(crate) fn of_failure(
    settings: &ConnectionSettings,
    failure: &StatementFailure,
) -> ConnectError {
    let (server, why) = (settings.address.server.clone(), failure.to_string());
    match failure.kind {
        FailureKind::Lost => ConnectError::Unreachable { server, why },
        FailureKind::Collision
        | FailureKind::Stale
        | FailureKind::Statement
        | FailureKind::Unavailable => ConnectError::Server { server, why },
    }
}

/// A pipeline of statements. Answers arrive in the same order.
pub(crate) struct StatementPipeline<'a, T> {
    answers: VecDeque<PipelineSlot<'a, T>>,
}

enum PipelineSlot<'a, T> {
    Given(T),
    Awaited(Pin<Box<dyn Future<Output = Result<T, Error>> + 'a>>),
}

impl<'a, T> StatementPipeline<'a, T> {
    pub(crate) fn new() -> Self {
        Self { answers: VecDeque::new() }
    }

    /// Sends a statement. On error, nothing of it was sent, and nothing may be sent behind it.
    pub(crate) fn send(
        &mut self,
        asked: impl Future<Output = Result<T, Error>> + 'a,
    ) -> Result<(), StatementFailure> {
        let mut asked: Pin<Box<dyn Future<Output = _> + 'a>> = Box::pin(asked);
        // The first poll encodes a prepared statement and queues it on the connection.
        self.answers.push_back(
            match asked.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(given)) => PipelineSlot::Given(given),
                Poll::Ready(Err(error)) => return Err(StatementFailure::unsent(&error)),
                Poll::Pending => PipelineSlot::Awaited(asked),
            },
        );
        Ok(())
    }

    /// Waits for the next answer. `None` when all have arrived.
    pub(crate) async fn next(&mut self) -> Option<Result<T, StatementFailure>> {
        Some(match self.answers.pop_front()? {
            PipelineSlot::Given(given) => Ok(given),
            PipelineSlot::Awaited(asked) => {
                asked.await.map_err(|error| StatementFailure::from(&error))
            }
        })
    }

    /// Waits for all answers, or the first error: those behind it failed because of it.
    pub(crate) async fn answers(mut self) -> Result<Vec<T>, StatementFailure> {
        let mut all = Vec::with_capacity(self.answers.len());
        while let Some(answer) = self.next().await {
            all.push(answer?);
        }
        Ok(all)
    }
}

//! Connection settings.

use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::DatabaseAddress;
use crate::connect_error::ConnectError;
use crate::statement_failure::StatementFailure;
use crate::tls;

/// The settings that all connections of a store share.
#[derive(Clone)]
pub(crate) struct ConnectionSettings {
    pub(crate) address: DatabaseAddress,
    pub(crate) tls: MakeRustlsConnect,
    pub(crate) schema: String,
    /// The time limit for connecting.
    pub(crate) connect_timeout: Duration,
    /// The time limit for an answer of the server.
    pub(crate) operation_timeout: Duration,
}

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AccessMode {
    Write,
    Read,
}

impl ConnectionSettings {
    pub(crate) fn new(
        url: &str,
        schema: &str,
        connect_timeout: Duration,
        operation_timeout: Duration,
    ) -> Result<Self, ConnectError> {
        let is_name = (1..=63).contains(&schema.len()) && !schema.contains('\0');
        if !is_name || schema.starts_with("pg_") {
            return Err(ConnectError::SchemaName { schema: schema.into() });
        }
        let mut address = DatabaseAddress::parse(url)?;
        let tls = tls::connector(&address.verify)
            .map_err(|why| ConnectError::Tls { server: address.server.clone(), why })?;
        // The address takes precedence.
        let connect_timeout =
            address.config.get_connect_timeout().copied().unwrap_or(connect_timeout);
        let config = &mut address.config;
        config.connect_timeout(connect_timeout);
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(operation_timeout);
        }
        if config.get_application_name().is_none() {
            config.application_name("coact");
        }
        config.keepalives_idle(KEEPALIVE_IDLE);
        config.keepalives_interval(KEEPALIVE_INTERVAL).keepalives_retries(KEEPALIVE_RETRIES);
        Ok(Self { address, tls, schema: schema.into(), connect_timeout, operation_timeout })
    }

    /// How long to wait for answers: longer than the server itself takes to give up, since a commit
    /// without an answer may have happened.
    pub(crate) fn answer_timeout(&self) -> Duration {
        self.operation_timeout + (self.operation_timeout / 4).max(LEAST_MARGIN)
    }

    /// Waits for answers, up to the patience.
    pub(crate) async fn in_time<T>(
        &self,
        answers: impl Future<Output = Result<T, StatementFailure>>,
    ) -> Result<T, StatementFailure> {
        let patience = self.answer_timeout();
        timeout(patience, answers).await.unwrap_or_else(|_| Err(StatementFailure::late(patience)))
    }

    /// The time limit for an attempt to connect, which tries the servers one after the other.
    pub(crate) fn attempt_timeout(&self) -> Duration {
        let servers = u32::try_from(self.address.servers()).unwrap_or(u32::MAX);
        self.connect_timeout.saturating_mul(servers) + self.operation_timeout
    }

    /// The configurations of a connection, one for each server. To write, a server must accept
    /// writes.
    pub(crate) fn configs(&self, access: AccessMode) -> impl Iterator<Item = Config> {
        (0..self.address.servers()).map(move |server| {
            let mut config = self.address.config_of(server);
            if access == AccessMode::Write {
                config.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            config
        })
    }
}

/// The least that the client waits longer than the server, which may be busy.
const LEAST_MARGIN: Duration = Duration::from_secs(1);

/// When each side probes a silent peer: after this time, at this interval, this often.
pub(crate) const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
pub(crate) const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
pub(crate) const KEEPALIVE_RETRIES: u32 = 3;

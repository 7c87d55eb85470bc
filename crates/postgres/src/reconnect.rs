//! A session that reconnects when its connection is lost.

use std::pin::Pin;
use std::time::Duration;

use coact_persist::StoreError;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{info, warn};

use crate::connect_error::ConnectError;
use crate::connection_settings::ConnectionSettings;
use crate::schema::TableSetup;
use crate::session::{BackendId, Session};

/// The first and the longest delay before another attempt.
const DELAYS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// A session with its prepared statements.
pub(crate) trait PreparedSession: Sized + 'static {
    /// Opens a session. Makes tables only for the first session of a store: if they are gone later,
    /// someone moved or removed them.
    async fn open(settings: &ConnectionSettings, tables: TableSetup) -> Result<Self, ConnectError>;

    fn session(&mut self) -> &mut Session;

    fn into_session(self) -> Session;
}

/// An attempt to open a session.
type ReconnectAttempt<S> = Pin<Box<dyn Future<Output = Result<S, String>>>>;

/// A session that reconnects.
pub(crate) struct ReconnectingSession<S> {
    settings: ConnectionSettings,
    session: Option<S>,
    /// The attempt in progress, which proceeds while something waits for it.
    attempt: Option<ReconnectAttempt<S>>,
    /// Why the last attempt failed, and when to try again.
    failed: Option<FailedAttempt>,
    /// Lost connections that the server may still have.
    lost: Vec<BackendId>,
}

struct FailedAttempt {
    why: String,
    delay: Duration,
    until: Instant,
}

impl<S: PreparedSession> ReconnectingSession<S> {
    pub(crate) async fn open(settings: ConnectionSettings) -> Result<Self, ConnectError> {
        let session = Some(S::open(&settings, TableSetup::AreMade).await?);
        Ok(Self { settings, session, attempt: None, failed: None, lost: Vec::new() })
    }

    /// Returns the session. Waits for the first attempt to reconnect; once that has failed, returns
    /// its error until [`keep_connected`](Self::keep_connected) has reconnected.
    pub(crate) async fn get(&mut self) -> Result<&mut S, StoreError> {
        if self.session.as_mut().is_some_and(|session| session.session().is_closed()) {
            self.drop_connection("it was closed");
        }
        if self.session.is_none() {
            if let Some(failed) = &self.failed {
                return Err(StoreError::Unavailable { why: failed.why.clone() });
            }
            self.connect().await;
        }
        let why = || self.failed.as_ref().map(|failed| failed.why.clone()).unwrap_or_default();
        self.session.as_mut().ok_or_else(|| StoreError::Unavailable { why: why() })
    }

    /// Drops a connection whose state is unknown.
    pub(crate) fn drop_connection(&mut self, why: &str) {
        if let Some(mut session) = self.session.take() {
            self.lost.push(session.session().backend().clone());
            warn!(server = %self.settings.address.server, why, "the store has lost a connection");
        }
    }

    /// Reconnects whenever the connection is lost. Cancel safe.
    pub(crate) async fn keep_connected(&mut self) {
        loop {
            if let Some(session) = &mut self.session {
                session.session().ended().await;
                self.drop_connection("it was closed");
            }
            if let Some(failed) = self.failed.as_ref().filter(|_| self.attempt.is_none()) {
                sleep_until(failed.until).await;
            }
            self.connect().await;
        }
    }

    /// Starts an attempt, or waits for the one in progress. Cancel safe.
    async fn connect(&mut self) {
        let attempt = self
            .attempt
            .get_or_insert_with(|| Box::pin(attempt(self.settings.clone(), self.lost.clone())));
        let opened = attempt.await;
        self.attempt = None;
        let server = &self.settings.address.server;
        let why = match opened {
            Ok(session) => {
                self.lost.clear();
                info!(%server, "the store is connected again");
                (self.session, self.failed) = (Some(session), None);
                return;
            }
            Err(why) => why,
        };
        let (first, most) = DELAYS;
        let delay = self.failed.as_ref().map_or(first, |before| most.min(before.delay * 2));
        if self.failed.is_none() {
            warn!(%server, %why, "the store cannot connect, and tries again");
        }
        self.failed = Some(FailedAttempt { why, delay, until: Instant::now() + delay });
    }

    /// Closes the connection in order.
    pub(crate) async fn close(self) {
        if let Some(session) = self.session {
            session.into_session().close().await;
        }
    }
}

/// Opens a session, and ends the lost ones.
async fn attempt<S: PreparedSession>(
    settings: ConnectionSettings,
    lost: Vec<BackendId>,
) -> Result<S, String> {
    let server = &settings.address.server;
    let opening = S::open(&settings, TableSetup::AreThere);
    let opened = timeout(settings.attempt_timeout(), opening).await;
    let opened = opened.map_err(|_| format!("PostgreSQL at {server} does not answer"))?;
    let mut session = opened.map_err(|error| error.to_string())?;
    if let Err(failure) = session.session().end(&lost, settings.answer_timeout()).await {
        warn!(%server, %failure, "a lost connection may still be open");
    }
    Ok(session)
}

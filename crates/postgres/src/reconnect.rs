//! What keeps a session, and connects again when it has ended.

use std::pin::Pin;
use std::time::Duration;

use coact_persist::StoreError;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{info, warn};

use crate::connect_error::ConnectError;
use crate::schema::TableSetup;
use crate::session::{BackendId, Session};
use crate::settings::StoreSettings;

/// How long after a failure, and at most, it is tried again.
const DELAYS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// What a session becomes when its statements are prepared.
pub(crate) trait PreparedSession: Sized + 'static {
    /// Opens one. Tables are made only if it is the first one of a store: if they are gone later, they were moved or removed, and what is in
    /// their place then is for others to say.
    async fn open(settings: &StoreSettings, tables: TableSetup) -> Result<Self, ConnectError>;

    fn session(&mut self) -> &mut Session;

    fn into_session(self) -> Session;
}

/// An attempt to open a session.
type ReconnectAttempt<S> = Pin<Box<dyn Future<Output = Result<S, String>>>>;

/// A session that is there most of the time.
pub(crate) struct ReconnectingSession<S> {
    settings: StoreSettings,
    session: Option<S>,
    /// Goes on whenever it is waited for.
    attempt: Option<ReconnectAttempt<S>>,
    /// Why there is none, and until when no other attempt is made.
    failed: Option<FailedAttempt>,
    /// Those that the server may still have.
    lost: Vec<BackendId>,
}

struct FailedAttempt {
    why: String,
    delay: Duration,
    until: Instant,
}

impl<S: PreparedSession> ReconnectingSession<S> {
    pub(crate) async fn open(settings: StoreSettings) -> Result<Self, ConnectError> {
        let session = Some(S::open(&settings, TableSetup::AreMade).await?);
        Ok(Self { settings, session, attempt: None, failed: None, lost: Vec::new() })
    }

    /// The session, which may have to be opened again. It waits for the first attempt at that; if that has failed, it says why, until another one, which
    /// [`tend`](Self::tend) makes, has succeeded.
    pub(crate) async fn get(&mut self) -> Result<&mut S, StoreError> {
        if self.session.as_mut().is_some_and(|session| session.session().is_closed()) {
            self.lose("it was closed");
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

    /// Cuts the connection, of which nothing is known any more.
    pub(crate) fn lose(&mut self, why: &str) {
        if let Some(mut session) = self.session.take() {
            self.lost.push(session.session().backend().clone());
            warn!(server = %self.settings.address.server, why, "the store has lost a connection");
        }
    }

    /// Looks after the connection: connects again, whenever it is lost. May be dropped at any time.
    pub(crate) async fn tend(&mut self) {
        loop {
            if let Some(session) = &mut self.session {
                session.session().ended().await;
                self.lose("it was closed");
            }
            if let Some(failed) = self.failed.as_ref().filter(|_| self.attempt.is_none()) {
                sleep_until(failed.until).await;
            }
            self.connect().await;
        }
    }

    /// Makes an attempt, or waits for the end of the one that is under way. May be dropped at any time.
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

    /// Says goodbye to the server.
    pub(crate) async fn close(self) {
        if let Some(session) = self.session {
            session.into_session().close().await;
        }
    }
}

/// Opens a session, and ends those that were lost.
async fn attempt<S: PreparedSession>(
    settings: StoreSettings,
    lost: Vec<BackendId>,
) -> Result<S, String> {
    let server = &settings.address.server;
    let opening = S::open(&settings, TableSetup::AreThere);
    let opened = timeout(settings.attempt_timeout(), opening).await;
    let opened = opened.map_err(|_| format!("PostgreSQL at {server} does not answer"))?;
    let mut session = opened.map_err(|error| error.to_string())?;
    if let Err(failure) = session.session().end(&lost, settings.patience()).await {
        warn!(%server, %failure, "a lost connection may still be open");
    }
    Ok(session)
}

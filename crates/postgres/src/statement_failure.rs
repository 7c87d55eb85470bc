//! Why a statement failed, and what that means for its transaction.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use coact_persist::StoreError;
use tokio_postgres::error::{DbError, Severity, SqlState};

/// A failed statement.
#[derive(Clone, Debug)]
pub(crate) struct StatementFailure {
    pub(crate) kind: FailureKind,
    why: String,
}

/// The consequence of a failure. Unless the connection is lost, the server has undone the
/// transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FailureKind {
    /// A collision with another transaction: a retry may succeed.
    Collision,
    /// An entity is not as the cache remembers it: a lookup may help.
    Stale,
    /// The server or its client rejects this statement, but may accept others.
    Statement,
    /// The server is there, but cannot do it now.
    Unavailable,
    /// No answer arrived, or none that says that the transaction is undone.
    Lost,
}

/// The unique index of decisions. A transaction that fails on it starts anew, and finds the
/// decision.
const DECISIONS: &str = "decision_pkey";

impl StatementFailure {
    pub(crate) fn new(kind: FailureKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into() }
    }

    /// The answer did not arrive in time.
    pub(crate) fn late(timeout: std::time::Duration) -> Self {
        Self::new(FailureKind::Lost, format!("no answer within {timeout:?}"))
    }

    /// The statement was never sent.
    pub(crate) fn unsent(error: &tokio_postgres::Error) -> Self {
        let failure = Self::from(error);
        let is_encoding = failure.kind == FailureKind::Lost && !error.is_closed();
        Self { kind: if is_encoding { FailureKind::Statement } else { failure.kind }, ..failure }
    }

    pub(crate) fn unavailable(&self) -> StoreError {
        StoreError::Unavailable { why: self.why.clone() }
    }
}

impl From<&tokio_postgres::Error> for StatementFailure {
    fn from(error: &tokio_postgres::Error) -> Self {
        Self::new(error.as_db_error().map_or(FailureKind::Lost, meaning), chain(error))
    }
}

fn meaning(error: &DbError) -> FailureKind {
    let code = error.code();
    if error.parsed_severity() != Some(Severity::Error) {
        // The connection ends with such an error.
        return FailureKind::Lost;
    }
    // The statement fails on purpose with this error.
    if *code == SqlState::DIVISION_BY_ZERO {
        return FailureKind::Stale;
    }
    if *code == SqlState::T_R_SERIALIZATION_FAILURE
        || *code == SqlState::T_R_DEADLOCK_DETECTED
        || (*code == SqlState::UNIQUE_VIOLATION && error.constraint() == Some(DECISIONS))
    {
        return FailureKind::Collision;
    }
    match &code.code()[..2] {
        // Read only, changed plans and tables, resources, locks, timeouts, the system, damage.
        "0A" | "25" | "42" | "53" | "55" | "57" | "58" | "XX" => FailureKind::Unavailable,
        _ => FailureKind::Statement,
    }
}

/// The text of an error and of its causes.
pub(crate) fn chain(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let says = error.to_string();
        if !text.contains(&says) {
            text = format!("{text}: {says}");
        }
        source = error.source();
    }
    text
}

impl Display for StatementFailure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

//! What went wrong with a statement, and what that means for its transaction.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use coact_persist::StoreError;
use tokio_postgres::error::{DbError, Severity, SqlState};

/// A statement that has failed.
#[derive(Clone, Debug)]
pub(crate) struct StatementFailure {
    pub(crate) kind: FailureKind,
    why: String,
}

/// What it means. Unless the connection is lost, the server has said that the transaction is undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FailureKind {
    /// Another transaction was in the way: the same again may succeed.
    Collision,
    /// An entity is not as it was known: the same, by what is there, may succeed at once.
    Stale,
    /// The server, or its client, does not take this statement; others it may.
    Statement,
    /// The server is there, and cannot do it now.
    Unavailable,
    /// No answer has come, or none that says that the transaction is undone.
    Lost,
}

/// The unique index of decisions. Who finds an identity in it that was not there before starts anew, and finds the decision.
const DECISIONS: &str = "decision_pkey";

impl StatementFailure {
    pub(crate) fn new(kind: FailureKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into() }
    }

    /// An answer that has not come in time.
    pub(crate) fn late(timeout: std::time::Duration) -> Self {
        Self::new(FailureKind::Lost, format!("no answer within {timeout:?}"))
    }

    /// A statement that was never sent.
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
        // The connection ends with it.
        return FailureKind::Lost;
    }
    // That is how the statement says it.
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
        // Read only, cached plans and tables that have changed, resources, locks, timeouts, the system, damage.
        "0A" | "25" | "42" | "53" | "55" | "57" | "58" | "XX" => FailureKind::Unavailable,
        _ => FailureKind::Statement,
    }
}

/// An error with what has caused it.
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

//! Maps SQLite's errors to those of a store.

use coact_persist::{EntityId, Seq, StoreError};
use rusqlite::types::Type;
use rusqlite::{Error, ErrorCode};

use crate::open_error::OpenError;

/// Whether the error means damage, which stays: stored data is not what was written.
pub(crate) fn is_damage(error: &Error) -> bool {
    match error.sqlite_error_code() {
        // The disk is full, does not answer, or is locked.
        Some(
            ErrorCode::SystemIoFailure
            | ErrorCode::DiskFull
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted
            | ErrorCode::OperationAborted,
        ) => false,
        // Damaged pages; missing tables, columns or rows, or values of another type.
        Some(_) | None => true,
    }
}

/// Whether another connection holds a lock.
pub(crate) fn is_locked(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Damage in a row that the store found, unknown to SQLite.
pub(crate) fn to_sqlite_error(error: StoreError) -> Error {
    Error::FromSqlConversionFailure(0, Type::Blob, Box::new(error))
}

/// The text of such damage.
fn contents(error: &Error) -> Option<StoreError> {
    match error {
        Error::FromSqlConversionFailure(_, _, why) => why.downcast_ref().cloned(),
        _ => None,
    }
}

/// An error about one entity.
pub(crate) fn to_entity_error(entity: &EntityId, seq: Seq, error: &Error) -> StoreError {
    if is_damage(error) {
        StoreError::Corrupt { entity: entity.clone(), seq, why: error.to_string() }
    } else {
        unavailable(error)
    }
}

/// An error about all entities, or an unknown one.
pub(crate) fn to_store_error(error: &Error) -> StoreError {
    if let Some(found) = contents(error) {
        found
    } else if is_damage(error) {
        StoreError::Damaged { why: error.to_string() }
    } else {
        unavailable(error)
    }
}

/// An error of opening a file again.
pub(crate) fn reopening_to_store_error(error: &OpenError) -> StoreError {
    match error {
        OpenError::NotAStore { why, .. } => StoreError::Damaged { why: why.clone() },
        other => unavailable(other),
    }
}

fn unavailable(why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unavailable { why: why.to_string() }
}

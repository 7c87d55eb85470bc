//! What SQLite's errors mean to a store.

use coact_persist::{EntityId, Seq, StoreError};
use rusqlite::types::Type;
use rusqlite::{Error, ErrorCode};

use crate::open_error::OpenError;

/// Whether it will be the same later: what is stored is not what was written.
pub(crate) fn is_damage(error: &Error) -> bool {
    match error.sqlite_error_code() {
        // The disk is full, does not answer, or is someone else's for now.
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
        // Pages that are none; tables, columns or rows that are not there, or have another type.
        Some(_) | None => true,
    }
}

/// Whether another connection has what it takes.
pub(crate) fn is_locked(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Something that a store has found in a row, which SQLite cannot know.
pub(crate) fn of_contents(error: StoreError) -> Error {
    Error::FromSqlConversionFailure(0, Type::Blob, Box::new(error))
}

/// What that was, if it was such a thing.
fn contents(error: &Error) -> Option<StoreError> {
    match error {
        Error::FromSqlConversionFailure(_, _, why) => why.downcast_ref().cloned(),
        _ => None,
    }
}

/// Of something that concerns one entity.
pub(crate) fn of_entity(entity: &EntityId, seq: Seq, error: &Error) -> StoreError {
    if is_damage(error) {
        StoreError::Corrupt { entity: entity.clone(), seq, why: error.to_string() }
    } else {
        unavailable(error)
    }
}

/// Of something that concerns all entities, or it is not known which.
pub(crate) fn of_store(error: &Error) -> StoreError {
    if let Some(found) = contents(error) {
        found
    } else if is_damage(error) {
        StoreError::Damaged { why: error.to_string() }
    } else {
        unavailable(error)
    }
}

/// Of a file that is opened again.
pub(crate) fn of_opening(error: &OpenError) -> StoreError {
    match error {
        OpenError::NotAStore { why, .. } => StoreError::Damaged { why: why.clone() },
        other => unavailable(other),
    }
}

fn unavailable(why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unavailable { why: why.to_string() }
}

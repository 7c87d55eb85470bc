//! What SQLite's errors mean to a store.

use coact_persist::{EntityId, Seq, StoreError};
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
    if is_damage(error) {
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

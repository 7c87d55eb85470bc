//! Why a store has not done something.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use crate::entity::{EntityId, Seq};
use crate::note::Note;

/// Why a store has not done something.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// It cannot be reached, is full, or does not answer in time. Later it may.
    Unavailable {
        /// What it, or the system, says.
        why: String,
    },
    /// It is [closed](crate::Store::close), and stays so: nothing was done.
    Closed,
    /// What is stored is damaged.
    Corrupt {
        /// Of which entity.
        entity: EntityId,
        /// Where.
        seq: Seq,
        /// How.
        why: String,
    },
    /// A note is damaged.
    CorruptNote {
        /// The note as it is stored now, which is not to be used.
        note: Box<Note>,
        /// How.
        why: String,
    },
    /// What is stored is damaged, and it is not known of which entity, or it concerns all.
    Damaged {
        /// How.
        why: String,
    },
}

impl Display for StoreError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable { why } => write!(f, "the store is not available: {why}"),
            Self::Closed => f.write_str("the store is closed: open it again"),
            Self::Corrupt { entity, seq, why } => write!(
                f,
                "what is stored of `{entity}` is damaged at event {seq}: {why}. Nothing was changed; restore it from a backup"
            ),
            Self::CorruptNote { note, why } => {
                let Note { entity, kind, key, .. } = &**note;
                write!(
                    f,
                    "the note {key:?} ({kind:?}) of `{entity}` is damaged: {why}. Nothing was changed; restore it from a backup"
                )
            }
            Self::Damaged { why } => write!(
                f,
                "what is stored is damaged: {why}. Nothing was changed; restore it from a backup"
            ),
        }
    }
}

impl Error for StoreError {}

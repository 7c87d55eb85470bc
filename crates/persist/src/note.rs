//! What is stored of an entity beside its history: messages that are to leave, timers, and what
//! else belongs to it.
//!
//! The owner of an entity changes its notes, in its commits. Others can take one away, if it is
//! there, and leave one, so that what is outgoing of one entity is taken in the very commit by
//! which another one receives it.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use crate::entity::EntityId;
use crate::record::Event;

/// What a note is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum NoteKind {
    /// A message that is to be delivered. Its rank is the time at which that is tried next.
    Outgoing,
    /// A message that could not be delivered.
    DeadLetter,
    /// The answer to a command with a client's key. Its rank is the time from which it may be
    /// forgotten.
    ClientAnswer,
    /// A timer. Its rank is the time at which it is due.
    Timer,
}

impl NoteKind {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Outgoing, Self::DeadLetter, Self::ClientAnswer, Self::Timer];

    /// One that was stored.
    #[must_use]
    pub fn from_stored(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.get() == code)
    }

    /// To be stored.
    #[must_use]
    pub const fn get(self) -> u8 {
        match self {
            Self::Outgoing => 1,
            Self::DeadLetter => 2,
            Self::ClientAnswer => 3,
            Self::Timer => 4,
        }
    }
}

/// The key of a note among those of its entity and kind: any bytes, and ordered by them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteKey(Arc<[u8]>);

impl NoteKey {
    /// This one.
    pub fn new(key: impl Into<Arc<[u8]>>) -> Self {
        Self(key.into())
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for NoteKey {
    fn from(key: &str) -> Self {
        Self(key.as_bytes().into())
    }
}

impl Debug for NoteKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

/// A note of an entity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Of which.
    pub entity: EntityId,
    /// What it is about.
    pub kind: NoteKind,
    /// Its key among those of its entity and kind.
    pub key: NoteKey,
    /// By what those of its kind are ordered: 63 bits.
    pub rank: u64,
    /// What it says.
    pub value: Event,
}

/// The identity of a note.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NoteId {
    /// Of which entity.
    pub entity: EntityId,
    /// What it is about.
    pub kind: NoteKind,
    /// Its key.
    pub key: NoteKey,
    /// Its rank: one that was put again since has another.
    pub rank: u64,
}

impl Note {
    /// Its identity.
    #[must_use]
    pub fn id(&self) -> NoteId {
        let (entity, key) = (self.entity.clone(), self.key.clone());
        NoteId { entity, kind: self.kind, key, rank: self.rank }
    }
}

/// A change of a note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoteChange {
    /// It is stored, instead of one with the same key.
    Put {
        /// What it is about.
        kind: NoteKind,
        /// Its key.
        key: NoteKey,
        /// By what those of its kind are ordered.
        rank: u64,
        /// What it says.
        value: Event,
    },
    /// It is removed.
    Remove {
        /// What it is about.
        kind: NoteKind,
        /// Its key.
        key: NoteKey,
    },
}

impl NoteChange {
    /// What it is about.
    #[must_use]
    pub fn kind(&self) -> NoteKind {
        match self {
            Self::Put { kind, .. } | Self::Remove { kind, .. } => *kind,
        }
    }
}

/// A choice of notes to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoteQuery {
    /// One, if it is there.
    One {
        /// Of which entity.
        entity: EntityId,
        /// What it is about.
        kind: NoteKind,
        /// Its key.
        key: NoteKey,
    },
    /// Those of an entity, ordered by kind (its [number](NoteKind::get)) and key, from behind one
    /// on.
    Of {
        /// Of which entity.
        entity: EntityId,
        /// Behind which; `None` for the first.
        after: Option<(NoteKind, NoteKey)>,
    },
    /// Those of a kind, of all entities, up to a rank: ordered by rank, then entity, then key, from
    /// behind one on. (Ranks have 63 bits. One that has more is damaged, and comes first: read as a
    /// number with a sign it is negative.)
    Ranked {
        /// What they are about.
        kind: NoteKind,
        /// Behind which; `None` for the first.
        after: Option<(u64, EntityId, NoteKey)>,
        /// The greatest rank.
        up_to: u64,
    },
}

//! What is stored of an entity.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use crate::entity::{EntityId, Epoch, Position, Seq};
use crate::tags::Tags;
use crate::type_name::TypeName;

/// An event as bytes, with the name and the version of its type, by which it is read again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The stable name of its type.
    pub name: TypeName,
    /// The version of that type's format.
    pub version: u32,
    /// The event itself.
    pub payload: Arc<[u8]>,
}

impl Event {
    /// An event of this type.
    pub fn new(name: impl Into<TypeName>, version: u32, payload: impl Into<Arc<[u8]>>) -> Self {
        Self { name: name.into(), version, payload: payload.into() }
    }
}

/// An event in its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredEvent {
    /// Its number among those of its entity.
    pub seq: Seq,
    /// What has happened.
    pub event: Event,
    /// Over all events up to this one.
    pub hash: EventHash,
    /// The commit that has stored it.
    pub position: Position,
    /// What it was [tagged](crate::CommitMember::tag) with then.
    pub tags: Tags,
}

/// An event of some entity, in the order of commits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogEntry {
    /// Of which.
    pub entity: EntityId,
    /// The event.
    pub stored: StoredEvent,
}

/// A choice of events to read in the order of commits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogQuery {
    /// Those of all entities of a kind.
    Kind(Arc<str>),
    /// Those that have a [tag](Tags).
    Tag {
        /// The tag.
        tag: Arc<str>,
        /// Of entities of which kind; `None` for all.
        kind: Option<Arc<str>>,
    },
}

impl LogQuery {
    /// Returns whether an event of an entity with these tags is among them.
    #[must_use]
    pub fn matches(&self, entity: &EntityId, tags: &Tags) -> bool {
        match self {
            Self::Kind(kind) => entity.kind() == &**kind,
            Self::Tag { tag, kind } => {
                kind.as_deref().is_none_or(|kind| entity.kind() == kind) && tags.contains(tag)
            }
        }
    }
}

/// Those of a kind.
impl From<&str> for LogQuery {
    fn from(kind: &str) -> Self {
        Self::Kind(kind.into())
    }
}

/// Those of a kind.
impl From<Arc<str>> for LogQuery {
    fn from(kind: Arc<str>) -> Self {
        Self::Kind(kind)
    }
}

/// An entity in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntitySummary {
    /// Which.
    pub id: EntityId,
    /// That of its owner.
    pub epoch: Epoch,
    /// Its last event, or the number of its state if it has no events.
    pub last: Seq,
    /// The hash of that.
    pub hash: EventHash,
}

/// A state as of some event, so that fewer events need to be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// The last event that is in it.
    pub seq: Seq,
    /// The hash of that event.
    pub hash: EventHash,
    /// The state, with the name and the version of its type.
    pub state: Event,
    /// What was stored as the [sum](RowChecksum::of_snapshot) over the rest. `None` if it was
    /// stored before there were sums: then nothing tells whether it was changed.
    pub sum: Option<RowChecksum>,
}

impl Snapshot {
    /// One that is to be stored.
    #[must_use]
    pub fn new(seq: Seq, hash: EventHash, state: Event) -> Self {
        let sum = Some(RowChecksum::of_snapshot(seq, hash, &state));
        Self { seq, hash, state, sum }
    }
}

/// A checksum (XXH3, 64 bits) over a row that no chain of [`EventHash`]es covers: a snapshot, a
/// state without events, or a note. It detects damaged and misplaced rows, not forgery.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RowChecksum(u64);

impl RowChecksum {
    /// That of a snapshot, or a state.
    #[must_use]
    pub fn of_snapshot(seq: Seq, hash: EventHash, state: &Event) -> Self {
        let mut hasher = Xxh3::new();
        hasher.update(&seq.get().to_le_bytes());
        hasher.update(&hash.get().to_le_bytes());
        hash_typed(&mut hasher, state);
        Self(hasher.digest())
    }

    /// One that was stored.
    #[must_use]
    pub const fn from_stored(sum: u64) -> Self {
        Self(sum)
    }

    /// To be stored.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Display for RowChecksum {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A check sum (XXH3, 64 bits) over an entity's identity and its events up to one of them: each is
/// computed from the one before. It finds what was damaged, lost or put elsewhere; it does not keep
/// out who wants to forge.
///
/// ```
/// use coact_persist::{EntityId, Event, EventHash, Seq};
///
/// let (alice, bob) = (EntityId::new("account", "alice"), EntityId::new("account", "bob"));
/// let event = Event::new("deposited", 1, b"100".to_vec());
/// let first = EventHash::of(&alice).with(Seq::new(1), &event);
/// assert_eq!(first, EventHash::of(&alice).with(Seq::new(1), &event));
/// assert_ne!(first, EventHash::of(&bob).with(Seq::new(1), &event));
/// assert_ne!(first, EventHash::of(&alice).with(Seq::new(2), &event));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventHash(u64);

impl EventHash {
    /// That of an entity without events.
    #[must_use]
    pub fn of(entity: &EntityId) -> Self {
        let mut hasher = Xxh3::new();
        hash_part(&mut hasher, entity.kind().as_bytes());
        hash_part(&mut hasher, entity.key().as_bytes());
        Self(hasher.digest())
    }

    /// That of one more event.
    #[must_use]
    pub fn with(self, seq: Seq, event: &Event) -> Self {
        let mut hasher = Xxh3::new();
        hasher.update(&self.0.to_le_bytes());
        hasher.update(&seq.get().to_le_bytes());
        hash_typed(&mut hasher, event);
        Self(hasher.digest())
    }

    /// One that was stored.
    #[must_use]
    pub const fn from_stored(hash: u64) -> Self {
        Self(hash)
    }

    /// To be stored.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Display for EventHash {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

pub(crate) fn hash_typed(hasher: &mut Xxh3, event: &Event) {
    hasher.update(&event.version.to_le_bytes());
    hash_part(hasher, event.name.as_bytes());
    hash_part(hasher, &event.payload);
}

/// With its length, so that no two sequences of parts are the same bytes.
pub(crate) fn hash_part(hasher: &mut Xxh3, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The format of stores: a change of these numbers makes every stored history unreadable.
    #[test]
    fn hashes_are_those_of_earlier_versions() {
        let empty = EventHash::of(&EntityId::new("account", "alice"));
        let first = empty.with(Seq::new(1), &Event::new("deposited", 1, b"100".to_vec()));
        let second = first.with(Seq::new(2), &Event::new("", 0, Vec::new()));
        let all = [empty, first, second].map(|hash| hash.to_string());
        assert_eq!(all, ["abe6223512c030fd", "9adea6c654f2b6d0", "71c10cd940ac0100"]);
    }

    #[test]
    fn no_two_splits_of_the_same_bytes_are_one() {
        let (one, other) = (EntityId::new("ab", "c"), EntityId::new("a", "bc"));
        assert_ne!(EventHash::of(&one), EventHash::of(&other));
        let of = |name: &'static str, payload: &str| {
            let event = Event::new(name, 1, payload.as_bytes().to_vec());
            EventHash::of(&one).with(Seq::new(1), &event)
        };
        assert_ne!(of("ab", "c"), of("a", "bc"));
    }
}

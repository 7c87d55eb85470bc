//! One step over entities: what it writes, and what has come of it.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::entity::{EntityId, Epoch, Position, Seq};
use crate::error::StoreError;
use crate::record::{Event, EventHash, Snapshot};

/// The identity of a commit, by which it is settled whether it has happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CommitId(u128);

impl CommitId {
    /// One that no other commit has: 64 random bits of this process, and a number in it.
    #[must_use]
    pub fn unique() -> Self {
        use std::hash::{BuildHasher, RandomState};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        static PROCESS: std::sync::LazyLock<u64> = std::sync::LazyLock::new(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            RandomState::new().hash_one((now.as_nanos(), std::process::id()))
        });
        // ORDERING: Relaxed. The numbers are distinct, and publish nothing.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(u128::from(*PROCESS) << 64 | u128::from(number))
    }

    /// One that was stored.
    #[must_use]
    pub const fn from_stored(id: u128) -> Self {
        Self(id)
    }

    /// To be stored.
    #[must_use]
    pub const fn get(self) -> u128 {
        self.0
    }
}

impl Display for CommitId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A step over entities, which is stored as a whole or not at all.
///
/// It happens only if each member is still as the writer knows it: not claimed by another owner since, and without
/// further events. That holds for members that are only read as well.
#[derive(Clone, Debug)]
pub struct Commit {
    id: CommitId,
    members: BTreeMap<EntityId, Member>,
}

/// What a commit knows of one entity, and writes of it.
#[derive(Clone, Debug)]
pub struct Member {
    epoch: Epoch,
    after: Seq,
    events: Vec<(Event, EventHash)>,
    snapshot: Option<Snapshot>,
}

impl Commit {
    /// One without members.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "no two are equal")]
    pub fn new() -> Self {
        Self { id: CommitId::unique(), members: BTreeMap::new() }
    }

    /// Its identity.
    #[must_use]
    pub fn id(&self) -> CommitId {
        self.id
    }

    /// Makes an entity a member, as its owner knows it: of this epoch, and with this last event. What it writes is
    /// added to the result; if that is nothing, the entity is only read. One that is a member already stays as it is.
    pub fn member(&mut self, entity: EntityId, epoch: Epoch, after: Seq) -> &mut Member {
        let member = Member { epoch, after, events: Vec::new(), snapshot: None };
        self.members.entry(entity).or_insert(member)
    }

    /// Its members, ordered by their identities.
    pub fn members(&self) -> impl Iterator<Item = (&EntityId, &Member)> {
        self.members.iter()
    }
}

impl Member {
    /// Adds an event behind those that it has, given the hash of the one before. Returns its own.
    pub fn event(&mut self, event: Event, before: EventHash) -> EventHash {
        let hash = before.with(self.last().next(), &event);
        self.events.push((event, hash));
        hash
    }

    /// Adds a snapshot of the state after these events.
    pub fn snapshot(&mut self, state: Event, hash: EventHash) {
        self.snapshot = Some(Snapshot { seq: self.last(), hash, state });
    }

    /// Whether the entity is as the writer knows it, given the epoch of its owner and the last event that are
    /// stored: why the commit is refused, if not. For stores.
    #[must_use]
    pub fn check(&self, entity: &EntityId, owner: Epoch, found: Seq) -> Option<Refusal> {
        let (entity, epoch, expected) = (entity.clone(), self.epoch, self.after);
        if epoch != owner {
            Some(Refusal::Fenced { entity, epoch, owner })
        } else if expected != found {
            Some(Refusal::Conflict { entity, expected, found })
        } else {
            None
        }
    }

    /// The epoch of its owner.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The last event before the commit.
    #[must_use]
    pub fn after(&self) -> Seq {
        self.after
    }

    /// The last event after it.
    #[must_use]
    pub fn last(&self) -> Seq {
        Seq::new(self.after.get() + self.events.len() as u64)
    }

    /// What is written of it, in order.
    pub fn events(&self) -> impl Iterator<Item = (Seq, &Event, EventHash)> {
        let numbered = (self.after.get() + 1..).zip(&self.events);
        numbered.map(|(seq, (event, hash))| (Seq::new(seq), event, *hash))
    }

    /// The snapshot that is written, if there is one.
    #[must_use]
    pub fn written_snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref()
    }
}

/// What has come of a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is durable.
    Committed(Position),
    /// Nothing of it is stored, or ever will be.
    Refused(Refusal),
    /// It may be stored, or may be stored later: [settle](crate::Store::settle) it.
    Unknown(StoreError),
}

/// Why a commit was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// An entity was claimed by another owner since.
    Fenced {
        /// Which.
        entity: EntityId,
        /// The epoch of the commit.
        epoch: Epoch,
        /// That of the owner now.
        owner: Epoch,
    },
    /// An entity has other events than the commit knows of.
    Conflict {
        /// Which.
        entity: EntityId,
        /// The last event that the commit knows.
        expected: Seq,
        /// The last one that is stored.
        found: Seq,
    },
    /// It was settled as aborted before it came.
    Aborted,
    /// The store could not take it, and has not.
    Store(StoreError),
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fenced { entity, epoch, owner } => write!(
                f,
                "`{entity}` has another owner since (epoch {owner}, and not {epoch}): recover it, or leave it to that one"
            ),
            Self::Conflict { entity, expected, found } => write!(
                f,
                "`{entity}` has events up to {found}, and not to {expected}, in the same epoch: recover it"
            ),
            Self::Aborted => f.write_str("it was settled as aborted"),
            Self::Store(error) => Display::fmt(error, f),
        }
    }
}

impl Error for Refusal {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            _ => None,
        }
    }
}

/// What a commit of unknown outcome was settled as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Settled {
    /// It is durable.
    Committed(Position),
    /// It has not happened, and will not.
    Aborted,
}

//! Why an entity cannot be recovered.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use coact_persist::{EntityId, FormatError, Seq, StoreError};

/// Why an entity cannot be recovered. What is stored of it was not changed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RecoveryError {
    /// Which.
    pub entity: EntityId,
    /// The event at which that was found.
    pub seq: Seq,
    /// What was found.
    pub why: RecoveryFault,
}

/// What is wrong with the history of an entity.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RecoveryFault {
    /// The event is missing: this one comes in its place, or none.
    Missing {
        /// The next one that there is.
        found: Option<Seq>,
    },
    /// Its check sum does not match it and the events before it.
    OtherHash,
    /// It cannot be read.
    Format(FormatError),
    /// The latest snapshot, which is up to this event, or the state cannot be read, nor can it be
    /// made of the events: some of those that it has in it are not stored (any more).
    Snapshot(FormatError),
    /// The program has no [snapshots](crate::EventSourced::snapshots), and there is one that has
    /// events in it which are not stored any more.
    NoSnapshots,
    /// [`EventSourced::apply`](crate::EventSourced::apply), or what else of the program makes a
    /// state, has panicked.
    Panicked(Arc<str>),
    /// The latest snapshot is that of an event behind the last one: events that were stored are
    /// missing, or it was changed.
    SnapshotAhead {
        /// The last event.
        last: Seq,
    },
    /// What the store says.
    Store(StoreError),
}

impl Display for RecoveryError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { entity, seq, why } = self;
        write!(f, "`{entity}` cannot be recovered from event {seq} on: ")?;
        match why {
            RecoveryFault::Missing { found: Some(found) } => {
                write!(f, "it is missing, and event {found} comes in its place")
            }
            RecoveryFault::Missing { found: None } => {
                f.write_str("it is missing, though it was stored")
            }
            RecoveryFault::OtherHash => f.write_str(
                "it was changed after it was stored, or belongs elsewhere (its check sum is another one)",
            ),
            RecoveryFault::Format(error) => Display::fmt(error, f),
            RecoveryFault::Snapshot(error) => write!(
                f,
                "the snapshot up to it, or the state, cannot be read, and not all events before are stored: {error}"
            ),
            RecoveryFault::NoSnapshots => f.write_str(
                "a snapshot has the events up to it, which are not stored any more, and `EventSourced::snapshots` says that \
                 there are none",
            ),
            RecoveryFault::Panicked(message) => write!(f, "the program panicked when it made the state: {message}"),
            RecoveryFault::SnapshotAhead { last } => {
                write!(f, "there is a snapshot up to it, and the last event is {last}")
            }
            // (Without the entity and the event, which it names too.)
            RecoveryFault::Store(StoreError::Corrupt { why, .. }) => f.write_str(why),
            RecoveryFault::Store(StoreError::Damaged { why }) => f.write_str(why),
            RecoveryFault::Store(error) => return Display::fmt(error, f),
        }?;
        f.write_str(". Nothing stored was changed")?;
        if self.is_damage() { f.write_str("; restore it from a backup") } else { Ok(()) }
    }
}

/// It has no source: its text has that of the reason, and what follows from there would be told
/// twice.
impl Error for RecoveryError {}

impl RecoveryError {
    /// Whether what is stored is not what was stored, so that no program can read it.
    pub(crate) fn is_damage(&self) -> bool {
        use RecoveryFault::{Format, NoSnapshots, Panicked, Snapshot};
        !matches!(self.why, Format(_) | Snapshot(_) | NoSnapshots | Panicked(_))
    }
}

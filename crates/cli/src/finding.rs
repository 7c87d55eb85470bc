//! What `verify` finds, and what it says of it.

use coact_persist::{EntityId, Seq};
use coact_sqlite::Irregularity;
use serde::Serialize;

use crate::name::shown;

/// What kind of damage it is. The names are part of the format.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The file's own structure.
    File,
    /// Something that could not be read, and whose damage explains it, or not.
    Unreadable,
    /// Events are not there.
    Missing,
    /// An event was changed.
    EventHash,
    /// Only the hash of an event was changed.
    HashField,
    /// The entity's row does not fit its events.
    EntityRow,
    /// A snapshot does not fit its event.
    SnapshotHash,
    /// A snapshot, or a state without events, was changed.
    SnapshotSum,
    /// A note was changed.
    NoteSum,
    /// A tag of an event that is not there.
    StrayTag,
    /// A snapshot has events that the entity has not.
    SnapshotAhead,
    /// A state without events does not fit the entity's row.
    StateHash,
    /// An event was stored before the one in front of it.
    PositionOrder,
    /// Notes of an unknown kind.
    UnknownNotes,
    /// Rows of no entity.
    Orphans,
    /// A name that is no text.
    NotText,
    /// The counter of commits.
    Counter,
}

impl Code {
    /// What it means, and what to do.
    fn advice(self) -> &'static str {
        match self {
            Self::File => {
                "Stop the program, copy the file with its -wal, and restore a backup; `sqlite3 FILE .recover` saves what can still be read"
            }
            Self::Unreadable => "Try again; if it stays, restore a backup",
            Self::Missing => {
                "The entity cannot be recovered unless a snapshot is behind them; restore it from a backup"
            }
            Self::EventHash => {
                "It was changed after it was stored, or belongs elsewhere. The entity is not recovered past the event before; restore it from a backup"
            }
            Self::HashField => {
                "The event itself is sound, but the entity is not recovered past it; restore the hash from a backup"
            }
            Self::EntityRow => {
                "The entity is not recovered, or goes on from the wrong event; restore it from a backup"
            }
            Self::SnapshotHash => {
                "A recovery that begins with it fails; without it, it takes the events: remove the snapshot if the events are sound and complete"
            }
            Self::SnapshotSum => {
                "It was changed after it was stored, or belongs elsewhere: the entity is not recovered. Restore it from a backup; of an entity with all of its events, the snapshot may be removed instead"
            }
            Self::NoteSum => {
                "It was changed after it was stored, or belongs elsewhere: it is not used, and what comes behind it waits. Restore it from a backup"
            }
            Self::StrayTag => {
                "Nothing reads it, but its event may be missing, or have lost its commit; compare with a backup"
            }
            Self::SnapshotAhead => {
                "Recoveries leave it out, but events may be missing; compare with a backup"
            }
            Self::StateHash => {
                "What is stored next is refused at the next recovery; restore the entity from a backup"
            }
            Self::PositionOrder => {
                "Recoveries are right, but projections see its events in the wrong order; restore a backup and build them again"
            }
            Self::UnknownNotes => {
                "A later version wrote them, or they are damaged; the entity's notes cannot be read by this one: use the version that wrote them"
            }
            Self::Orphans => {
                "Nothing reads them, but their entity may have lost its row; compare with a backup"
            }
            Self::NotText => "It cannot be found by its name; restore a backup",
            Self::Counter => {
                "The next commits get numbers that others have, and projections miss events; restore a backup before the program goes on"
            }
        }
    }
}

/// Something that is wrong.
#[derive(Serialize, Clone, Debug)]
#[serde(tag = "record", rename = "finding")]
pub struct Finding {
    /// What kind of damage.
    pub code: Code,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// At which event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    what: String,
    advice: &'static str,
}

impl Finding {
    /// Something wrong with an entity.
    pub fn of(id: &EntityId, seq: Option<Seq>, code: Code, what: String) -> Self {
        let (kind, key) = (Some(id.kind().to_owned()), Some(id.key().to_owned()));
        Self { code, kind, key, seq: seq.map(Seq::get), what, advice: code.advice() }
    }

    /// Something wrong with all of it.
    pub fn of_all(code: Code, what: String) -> Self {
        Self { code, kind: None, key: None, seq: None, what, advice: code.advice() }
    }

    /// For people: where and what; and what to do.
    pub fn text(&self) -> (String, &'static str) {
        let place = match (&self.kind, &self.key) {
            (Some(kind), Some(key)) => format!("{} {}", shown(kind), shown(key)),
            _ => "the store".to_owned(),
        };
        let event = self.seq.map_or_else(String::new, |seq| format!(", event {seq}"));
        (format!("{place}{event}: {}", self.what), self.advice)
    }
}

impl From<Irregularity> for Finding {
    fn from(irregularity: Irregularity) -> Self {
        match irregularity {
            Irregularity::File { why } => Self::of_all(Code::File, format!("SQLite says: {why}")),
            Irregularity::Orphans { table, owner, rows } => Self::of_all(
                Code::Orphans,
                format!(
                    "{rows} rows of table `{table}` belong to entity number {owner}, which is not there"
                ),
            ),
            Irregularity::Hidden { entity, last } => {
                let what = format!(
                    "the entity's row says that it has no events, but there are some, up to {last}"
                );
                Self::of(&entity, Some(last), Code::EntityRow, what)
            }
            Irregularity::NotText { row, entity } => {
                let what = format!("its kind or key (row {row} of table `entity`) is no UTF-8");
                Self::of(&entity, None, Code::NotText, what)
            }
            Irregularity::UnknownNotes { entity, kind, rows } => {
                let what = format!("it has notes ({rows}) of an unknown kind, {kind}");
                Self::of(&entity, None, Code::UnknownNotes, what)
            }
            Irregularity::StrayTag { entity, seq } => {
                let what = "it has a tag, and is not there, or is of another commit".to_owned();
                Self::of(&entity, Some(seq), Code::StrayTag, what)
            }
            Irregularity::Counter { counted, last } => {
                let counted =
                    counted.map_or_else(|| "missing".into(), |counted| counted.to_string());
                Self::of_all(
                    Code::Counter,
                    format!("the counter of commits is {counted}, but there is commit {last}"),
                )
            }
            other => Self::of_all(Code::File, format!("{other:?}")),
        }
    }
}

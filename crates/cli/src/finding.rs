//! What `verify` finds, and what it says of it.

use coact_persist::{EntityId, Seq};
use coact_sqlite::Irregularity;
use serde::Serialize;

use crate::output::count;
use crate::quoted_name::quote_name;

/// What kind of damage it is. The names are part of the format.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub enum FindingCode {
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
    /// An event of a commit that cannot be.
    Position,
    /// An epoch that cannot be.
    Epoch,
    /// Notes of an unknown kind.
    UnknownNotes,
    /// Rows of no entity.
    Orphans,
    /// A name that is no text.
    NotText,
    /// The counter of commits.
    Counter,
}

impl FindingCode {
    /// What to do, and why: the second half of the sentence that [`Finding::text`] makes.
    fn advice(self) -> &'static str {
        match self {
            Self::File => {
                "stop the program, copy the file with its -wal, and restore a backup (`sqlite3 FILE .recover` saves what can still be read)"
            }
            Self::Unreadable => "try again, and restore a backup if that does not help",
            Self::Missing => "restore a backup: only a snapshot behind the gap can be recovered",
            Self::EventHash => {
                "restore a backup: the entity is not recovered past the event before it"
            }
            Self::HashField => {
                "restore the hash from a backup: the entity is not recovered past this event"
            }
            Self::EntityRow => {
                "restore a backup: the entity is not recovered, or goes on from the wrong event"
            }
            Self::SnapshotHash => {
                "remove the snapshot if all events of the entity are there and sound, or else restore a backup: a recovery from it fails"
            }
            Self::SnapshotSum => {
                "remove the snapshot if all events of the entity are there and sound, or else restore a backup: the entity is not recovered"
            }
            Self::NoteSum => {
                "restore it from a backup, or remove its row: it is not used, and holds up what comes behind it"
            }
            Self::StrayTag => {
                "compare with a backup: nothing reads the tag, but its event may be lost"
            }
            Self::SnapshotAhead => {
                "restore a backup, or remove the snapshot if one shows that no event is missing: the entity is not recovered"
            }
            Self::StateHash => {
                "restore a backup: what is stored next is refused at the next recovery"
            }
            Self::PositionOrder => {
                "restore a backup and rebuild projections, which see the events in the wrong order (recoveries do not)"
            }
            Self::Position => {
                "restore a backup and rebuild projections, which do not see the event"
            }
            Self::Epoch => "restore a backup: commits of an earlier owner may no longer be refused",
            Self::UnknownNotes => {
                "use the version of the program that wrote them, or restore a backup if none did: this version cannot read the entity's notes"
            }
            Self::Orphans => {
                "compare with a backup: nothing reads them, but an entity may have lost its row"
            }
            Self::NotText => "restore a backup: no program can name the entity",
            Self::Counter => {
                "restore a backup before the program goes on: the next commits take numbers that others have, and projections miss events"
            }
        }
    }
}

/// Something that is wrong.
#[derive(Serialize, Clone, Debug)]
#[serde(tag = "record", rename = "finding")]
pub struct Finding {
    /// What kind of damage.
    pub code: FindingCode,
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
    pub fn of(id: &EntityId, seq: Option<Seq>, code: FindingCode, what: String) -> Self {
        let (kind, key) = (Some(id.kind().to_owned()), Some(id.key().to_owned()));
        Self { code, kind, key, seq: seq.map(Seq::get), what, advice: code.advice() }
    }

    /// Something wrong with all of it.
    pub fn of_all(code: FindingCode, what: String) -> Self {
        Self { code, kind: None, key: None, seq: None, what, advice: code.advice() }
    }

    /// One sentence for people: where, what, and what to do.
    pub fn text(&self) -> String {
        let place = match (&self.kind, &self.key) {
            (Some(kind), Some(key)) => format!("{} {}", quote_name(kind), quote_name(key)),
            _ => "the store".to_owned(),
        };
        format!("{place}: {}; {}.", self.what, self.advice)
    }
}

impl From<Irregularity> for Finding {
    fn from(irregularity: Irregularity) -> Self {
        match irregularity {
            Irregularity::File { why } => {
                Self::of_all(FindingCode::File, format!("SQLite finds its file damaged ({why})"))
            }
            Irregularity::Orphans { table, owner, rows } => {
                let rows = count(rows, "row", "rows");
                let what = format!(
                    "table `{table}` has {rows} of entity number {owner}, which is not there"
                );
                Self::of_all(FindingCode::Orphans, what)
            }
            Irregularity::Hidden { entity, last } => {
                let what = format!("its row says that it is empty, but it has event {last}");
                Self::of(&entity, Some(last), FindingCode::EntityRow, what)
            }
            Irregularity::NotText { row, entity } => {
                let what = format!("its kind or key (row {row} of table `entity`) is not UTF-8");
                Self::of(&entity, None, FindingCode::NotText, what)
            }
            Irregularity::UnknownNotes { entity, kind, rows } => {
                let notes = count(rows, "note", "notes");
                let what = format!("it has {notes} of the unknown kind {kind}");
                Self::of(&entity, None, FindingCode::UnknownNotes, what)
            }
            Irregularity::StrayTag { entity, seq } => {
                let what =
                    format!("event {seq} has a tag, but is not there, or is of another commit");
                Self::of(&entity, Some(seq), FindingCode::StrayTag, what)
            }
            Irregularity::Counter { counted: None, last } => {
                let what = format!("the counter of commits is missing, and the last is {last}");
                Self::of_all(FindingCode::Counter, what)
            }
            Irregularity::Counter { counted: Some(counted), last } => {
                let what =
                    format!("the counter of commits is at {counted}, but the last is {last}");
                Self::of_all(FindingCode::Counter, what)
            }
            other => Self::of_all(FindingCode::File, format!("{other:?}")),
        }
    }
}

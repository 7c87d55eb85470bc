//! The records of JSON Lines: the format of `export`, which `FORMAT.md` describes.

use coact_persist::{
    EntityId, EntitySummary, Event, EventHash, Note, NoteKind, Snapshot, StoredEvent,
};
use serde::Serialize;
use serde_json::Value;

use crate::cbor::CborItem;
use crate::quoted_name::hex;
use crate::time::utc;

/// The version of the format.
pub const VERSION: u32 = 1;

/// A line.
#[derive(Serialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum ExportRecord {
    /// The first line of an export.
    Format { name: &'static str, version: u32 },
    /// An entity.
    Entity(EntityRecord),
    /// A snapshot, or a state without events.
    Snapshot {
        #[serde(flatten)]
        of: EntityName,
        seq: u64,
        hash: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        sum: Option<String>,
        /// Left out of sound snapshots.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        damaged: bool,
        #[serde(flatten)]
        state: TypedPayload,
    },
    /// An event.
    Event {
        #[serde(flatten)]
        of: EntityName,
        seq: u64,
        position: u64,
        hash: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tags: Vec<String>,
        #[serde(flatten)]
        event: TypedPayload,
    },
    /// A note.
    Note {
        #[serde(flatten)]
        of: EntityName,
        note: &'static str,
        note_key: ReadableBytes,
        rank: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<String>,
        /// Left out of sound notes.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        damaged: bool,
        #[serde(flatten)]
        value: TypedPayload,
    },
    /// The last line of an export.
    End { entities: u64, snapshots: u64, events: u64, notes: u64 },
}

/// Of which entity something is.
#[derive(Serialize, Clone)]
pub struct EntityName {
    pub kind: String,
    pub key: String,
}

impl From<&EntityId> for EntityName {
    fn from(id: &EntityId) -> Self {
        Self { kind: id.kind().into(), key: id.key().into() }
    }
}

/// An entity, with more of it in lists.
#[derive(Serialize)]
pub struct EntityRecord {
    #[serde(flatten)]
    pub of: EntityName,
    pub epoch: u64,
    pub last: u64,
    pub hash: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub overview: Option<EntityOverview>,
}

/// What a list says of an entity beyond its row.
#[derive(Serialize, Clone, Debug, Default, PartialEq)]
pub struct EntityOverview {
    /// The commit of its last event.
    pub position: Option<u64>,
    pub snapshot: Option<SnapshotOverview>,
    pub notes: NoteCounts,
}

/// The latest snapshot, without its contents.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct SnapshotOverview {
    pub seq: u64,
    pub name: String,
    pub version: u32,
    pub bytes: u64,
    /// Left out of sound snapshots.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

/// How many notes there are.
#[derive(Serialize, Clone, Copy, Debug, Default, PartialEq)]
pub struct NoteCounts {
    pub outgoing: u64,
    pub dead_letters: u64,
    pub answers: u64,
    pub timers: u64,
}

impl NoteCounts {
    /// Counts one more.
    pub fn add(&mut self, kind: NoteKind) {
        match kind {
            NoteKind::Outgoing => self.outgoing += 1,
            NoteKind::DeadLetter => self.dead_letters += 1,
            NoteKind::ClientAnswer => self.answers += 1,
            NoteKind::Timer => self.timers += 1,
            // One that this version cannot have read.
            _ => {}
        }
    }
}

/// Something with a type.
#[derive(Serialize)]
pub struct TypedPayload {
    name: String,
    version: u32,
    payload: ReadableBytes,
}

impl From<&Event> for TypedPayload {
    fn from(event: &Event) -> Self {
        let Event { name, version, payload } = event;
        Self {
            name: name.to_string(),
            version: *version,
            payload: ReadableBytes::of_payload(payload),
        }
    }
}

/// Bytes: as they are, and as what they are for people.
#[derive(Serialize)]
pub struct ReadableBytes {
    hex: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cbor: Option<String>,
    /// (`null` is a value: it is `Some(Null)`.)
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl ReadableBytes {
    fn of_payload(bytes: &[u8]) -> Self {
        let item = CborItem::parse(bytes);
        Self {
            hex: hex(bytes),
            cbor: item.as_ref().map(CborItem::to_string),
            json: item.as_ref().and_then(CborItem::to_json),
            text: if item.is_none() { printable(bytes) } else { None },
        }
    }

    fn of_key(bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
        Self { hex: hex(bytes), cbor: None, json: None, text }
    }
}

/// A payload on one line for people.
pub fn readable(bytes: &[u8]) -> String {
    match (CborItem::parse(bytes), printable(bytes)) {
        (Some(item), _) => item.to_string(),
        (None, Some(text)) => format!("h'{}' {text:?}", hex(bytes)),
        (None, None) => format!("h'{}'", hex(bytes)),
    }
}

/// The text of bytes that are one which can be printed.
fn printable(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty())?;
    let is_printable = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    text.chars().all(is_printable).then(|| text.to_owned())
}

/// What a kind of notes is called.
pub fn note_name(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Outgoing => "outgoing",
        NoteKind::DeadLetter => "dead_letter",
        NoteKind::ClientAnswer => "answer",
        NoteKind::Timer => "timer",
        _ => "other",
    }
}

/// The time that orders notes of this kind.
pub fn note_time(note: &Note) -> Option<String> {
    utc(note.rank)
}

fn hash_text(hash: EventHash) -> String {
    hash.to_string()
}

impl ExportRecord {
    pub fn format() -> Self {
        Self::Format { name: "coact-journal", version: VERSION }
    }

    pub fn entity(summary: &EntitySummary, overview: Option<EntityOverview>) -> Self {
        let EntitySummary { id, epoch, last, hash } = summary;
        let (epoch, last, hash) = (epoch.get(), last.get(), hash_text(*hash));
        Self::Entity(EntityRecord { of: id.into(), epoch, last, hash, overview })
    }

    pub fn snapshot(id: &EntityId, snapshot: &Snapshot) -> Self {
        let Snapshot { seq, hash, state, sum } = snapshot;
        Self::Snapshot {
            of: id.into(),
            seq: seq.get(),
            hash: hash_text(*hash),
            sum: sum.map(|sum| sum.to_string()),
            damaged: snapshot.check(id).is_err(),
            state: state.into(),
        }
    }

    pub fn event(id: &EntityId, stored: &StoredEvent) -> Self {
        let StoredEvent { seq, event, hash, position, tags } = stored;
        let (seq, position, hash) = (seq.get(), position.get(), hash_text(*hash));
        let tags = tags.iter().map(ToString::to_string).collect();
        Self::Event { of: id.into(), seq, position, hash, tags, event: event.into() }
    }

    pub fn note(note: &Note, is_sound: bool) -> Self {
        Self::Note {
            of: (&note.entity).into(),
            note: note_name(note.kind),
            note_key: ReadableBytes::of_key(note.key.as_bytes()),
            rank: note.rank,
            time: note_time(note),
            damaged: !is_sound,
            value: (&note.value).into(),
        }
    }
}

//! Reads, each in one query or two.

use coact_persist::{
    EntityId, EntitySummary, Epoch, EventHash, LogEntry, LogQuery, Note, NoteKey, NoteKind,
    NoteQuery, Position, Seq, Snapshot, StoredEvent,
};
use rusqlite::{Connection, Params, Row, ToSql, Transaction, params};

use crate::failure;
use crate::row::{
    self, checksum, event, number, saturate_to_signed, snapshot, stored, text, to_signed,
};
use crate::schema::SchemaFormat;

/// The columns of an event.
const EVENT: &str =
    "event.seq, event.position, event.hash, event.name, event.version, event.payload";

/// The tags of an event, as one more column behind the others.
const TAGS: &str = ", (SELECT group_concat(hex(tag.tag)) FROM tag
    WHERE tag.entity = event.entity AND tag.seq = event.seq AND tag.position = event.position)";

/// Reads as of one moment, given the column of tags. (Reading tags costs a sixth of reading their
/// events, which stores without tags do not pay.)
fn at_once<T>(
    connection: &Connection,
    format: SchemaFormat,
    read: impl FnOnce(&str) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    if !format.has_tags() {
        return read("");
    }
    let is_free = connection.is_autocommit();
    let moment = is_free.then(|| connection.unchecked_transaction()).transpose()?;
    let has_tags: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM tag)")?
        .query_row([], |row| row.get(0))?;
    let found = read(if has_tags { TAGS } else { "" })?;
    moment.map_or(Ok(()), Transaction::finish)?;
    Ok(found)
}

/// Reads events of an entity.
pub(crate) fn events(
    connection: &Connection,
    format: SchemaFormat,
    entity: &EntityId,
    after: Seq,
    most: usize,
) -> rusqlite::Result<Vec<StoredEvent>> {
    at_once(connection, format, |tags| {
        let mut select = connection.prepare_cached(&format!(
            "SELECT {EVENT}{tags} FROM event
             WHERE entity = (SELECT id FROM entity WHERE kind = ?1 AND key = ?2) AND seq > ?3
             ORDER BY seq LIMIT ?4"
        ))?;
        let (kind, key) = (entity.kind().as_bytes(), entity.key().as_bytes());
        let keys = params![kind, key, saturate_to_signed(after.get()), saturate_to_signed(most)];
        let tags_at = (!tags.is_empty()).then_some(6);
        let rows = select.query_map(keys, |row| stored(row, tags_at))?;
        rows.collect()
    })
}

/// Whole commits: at least one, if there is any.
pub(crate) fn log(
    connection: &Connection,
    format: SchemaFormat,
    which: &LogQuery,
    after: Position,
    most: usize,
) -> rusqlite::Result<Vec<LogEntry>> {
    at_once(connection, format, |tags| {
        let most = most.max(1);
        let all = (after, Position::new(i64::MAX as u64));
        let mut found = entries(connection, tags, which, all, saturate_to_signed(most))?;
        if found.len() == most
            && let Some(LogEntry { stored, .. }) = found.last()
        {
            // The last commit may have more events.
            let last = stored.position;
            found.retain(|entry| entry.stored.position < last);
            let before = Position::new(last.get() - 1);
            found.extend(entries(connection, tags, which, (before, last), i64::MAX)?);
        }
        Ok(found)
    })
}

/// Reads the position of the last commit.
pub(crate) fn position(connection: &Connection) -> rusqlite::Result<Position> {
    let mut select = connection.prepare_cached("SELECT position FROM counter")?;
    select.query_row([], |row| row::position(row.get(0)?))
}

/// The events of commits after one position, up to another.
fn entries(
    connection: &Connection,
    tags: &str,
    which: &LogQuery,
    (after, last): (Position, Position),
    most: i64,
) -> rusqlite::Result<Vec<LogEntry>> {
    let (after, last) = (saturate_to_signed(after.get()), saturate_to_signed(last.get()));
    let tags_at = (!tags.is_empty()).then_some(8);
    match which {
        LogQuery::Kind(kind) => {
            // (A cross join fixes the order: along the index of the log.)
            let mut select = connection.prepare_cached(&format!(
                "SELECT {EVENT}, entity.key, NULL{tags}
                 FROM event CROSS JOIN entity ON entity.id = event.entity
                 WHERE entity.kind = ?1 AND event.position > ?2 AND event.position <= ?3
                 ORDER BY event.position, entity.key, event.seq LIMIT ?4"
            ))?;
            let entry = |row: &Row<'_>| {
                let entity = EntityId::new(&**kind, text(row, 6)?);
                Ok(LogEntry { entity, stored: stored(row, tags_at)? })
            };
            select.query_map(params![kind.as_bytes(), after, last, most], entry)?.collect()
        }
        LogQuery::Tag { tag, kind } => {
            let of_kind = if kind.is_some() { "AND entity.kind = ?5" } else { "AND ?5 IS NULL" };
            let mut select = connection.prepare_cached(&format!(
                "SELECT {EVENT}, entity.key, entity.kind{tags}
                 FROM tag CROSS JOIN event ON event.entity = tag.entity AND event.seq = tag.seq
                    AND event.position = tag.position
                 CROSS JOIN entity ON entity.id = event.entity
                 WHERE tag.tag = ?1 AND tag.position > ?2 AND tag.position <= ?3 {of_kind}
                 ORDER BY tag.position, entity.kind, entity.key, event.seq LIMIT ?4"
            ))?;
            let entry = |row: &Row<'_>| {
                let entity = EntityId::new(text(row, 7)?, text(row, 6)?);
                Ok(LogEntry { entity, stored: stored(row, tags_at)? })
            };
            let kind = kind.as_ref().map(|kind| kind.as_bytes());
            let keys = params![tag.as_bytes(), after, last, most, kind];
            select.query_map(keys, entry)?.collect()
        }
    }
}

/// Reads the snapshots of an entity.
pub(crate) fn snapshots(
    connection: &Connection,
    format: SchemaFormat,
    entity: &EntityId,
) -> rusqlite::Result<Vec<Snapshot>> {
    let sum = if format.has_sums() { "sum" } else { "NULL" };
    let mut select = connection.prepare_cached(&format!(
        "SELECT seq, hash, name, version, payload, {sum} FROM snapshot
         WHERE entity = (SELECT id FROM entity WHERE kind = ?1 AND key = ?2) ORDER BY seq DESC"
    ))?;
    let rows = select.query_map([entity.kind().as_bytes(), entity.key().as_bytes()], snapshot)?;
    rows.collect()
}

/// Lists entities. (Each condition is a range of the index by kind and key, so that later pages
/// take no longer.)
pub(crate) fn entities(
    connection: &Connection,
    kind: Option<&str>,
    after: Option<&EntityId>,
    most: usize,
    has_notes: bool,
) -> rusqlite::Result<Vec<EntitySummary>> {
    let select = |which: &str, keys: &[&dyn ToSql]| {
        let note = "EXISTS (SELECT 1 FROM note WHERE note.entity = entity.id)";
        let is_there = if has_notes { format!("(last > 0 OR {note})") } else { "last > 0".into() };
        select_entities(connection, &format!("{is_there} AND {which}"), keys)
    };
    let bytes = |id: &EntityId| (id.kind().as_bytes().to_vec(), id.key().as_bytes().to_vec());
    let after_key = after.map(bytes);
    match (kind.map(str::as_bytes), after_key) {
        (None, None) => {
            select("TRUE ORDER BY kind, key LIMIT ?1", params![saturate_to_signed(most)])
        }
        (None, Some((after, key))) => {
            let keys = params![after, key, saturate_to_signed(most)];
            select("(kind, key) > (?1, ?2) ORDER BY kind, key LIMIT ?3", keys)
        }
        (Some(kind), Some((after, _))) if *after > *kind => Ok(Vec::new()),
        (Some(kind), Some((after, key))) if *after == *kind => {
            let keys = params![kind, key, saturate_to_signed(most)];
            select("kind = ?1 AND key > ?2 ORDER BY kind, key LIMIT ?3", keys)
        }
        (Some(kind), _) => {
            let keys = params![kind, saturate_to_signed(most)];
            select("kind = ?1 ORDER BY kind, key LIMIT ?2", keys)
        }
    }
}

fn select_entities(
    connection: &Connection,
    which: &str,
    keys: impl Params,
) -> rusqlite::Result<Vec<EntitySummary>> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT kind, key, epoch, last, hash FROM entity WHERE {which}"
    ))?;
    let rows = select.query_map(keys, |row| {
        Ok(EntitySummary {
            id: EntityId::new(text(row, 0)?, text(row, 1)?),
            epoch: Epoch::new(number(row, 2)?),
            last: Seq::new(number(row, 3)?),
            hash: EventHash::from_stored(number(row, 4)?),
        })
    })?;
    rows.collect()
}

/// Reads notes.
pub(crate) fn notes(
    connection: &Connection,
    format: SchemaFormat,
    which: &NoteQuery,
    most: usize,
) -> rusqlite::Result<Vec<Note>> {
    match which {
        NoteQuery::One { entity, kind, key } => select_notes(
            connection,
            format,
            "entity.kind = ?1 AND entity.key = ?2 AND note.kind = ?3 AND note.key = ?4 LIMIT ?5",
            params![
                entity.kind().as_bytes(),
                entity.key().as_bytes(),
                kind.get(),
                key.as_bytes(),
                saturate_to_signed(most)
            ],
        ),
        NoteQuery::Of { entity, after } => {
            let (kind, key) =
                after.as_ref().map_or((0, &[][..]), |(kind, key)| (kind.get(), key.as_bytes()));
            select_notes(
                connection,
                format,
                // (`check` finds notes of other kinds.)
                "entity.kind = ?1 AND entity.key = ?2 AND (note.kind, note.key) > (?3, ?4)
                 AND note.kind BETWEEN 1 AND ?6
                 ORDER BY note.kind, note.key LIMIT ?5",
                params![
                    entity.kind().as_bytes(),
                    entity.key().as_bytes(),
                    kind,
                    key,
                    saturate_to_signed(most),
                    NoteKind::ALL.map(NoteKind::get).into_iter().max()
                ],
            )
        }
        NoteQuery::Ranked { kind, after: None, up_to } => select_notes(
            connection,
            format,
            "note.kind = ?1 AND note.rank <= ?2
             ORDER BY note.rank, entity.kind, entity.key, note.key LIMIT ?3",
            params![kind.get(), saturate_to_signed(*up_to), saturate_to_signed(most)],
        ),
        NoteQuery::Ranked { kind, after: Some((least, entity, key)), up_to } => select_notes(
            connection,
            format,
            // (`note.rank >= ?3` is implied, and enables the index.)
            "note.kind = ?1 AND note.rank <= ?2 AND note.rank >= ?3
             AND (note.rank, entity.kind, entity.key, note.key) > (?3, ?4, ?5, ?6)
             ORDER BY note.rank, entity.kind, entity.key, note.key LIMIT ?7",
            params![
                kind.get(),
                saturate_to_signed(*up_to),
                to_signed(*least),
                entity.kind().as_bytes(),
                entity.key().as_bytes(),
                key.as_bytes(),
                saturate_to_signed(most)
            ],
        ),
    }
}

fn select_notes(
    connection: &Connection,
    format: SchemaFormat,
    which: &str,
    keys: impl Params,
) -> rusqlite::Result<Vec<Note>> {
    let sum = if format.has_sums() { "note.sum" } else { "NULL" };
    let mut select = connection.prepare_cached(&format!(
        "SELECT entity.kind, entity.key, note.kind, note.key, note.rank,
         note.name, note.version, note.payload, {sum}
         FROM note JOIN entity ON entity.id = note.entity WHERE {which}"
    ))?;
    select.query_map(keys, note)?.collect()
}

fn note(row: &Row<'_>) -> rusqlite::Result<Note> {
    let code: u8 = row.get(2)?;
    let unknown = || rusqlite::Error::IntegralValueOutOfRange(2, code.into());
    let note = Note {
        entity: EntityId::new(text(row, 0)?, text(row, 1)?),
        kind: NoteKind::from_stored(code).ok_or_else(unknown)?,
        key: NoteKey::new(row.get_ref(3)?.as_blob()?),
        rank: number(row, 4)?,
        value: event(row, 5)?,
    };
    note.check(checksum(row, 8)?).map_err(failure::to_sqlite_error)?;
    Ok(note)
}

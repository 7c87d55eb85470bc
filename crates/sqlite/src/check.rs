//! Finds damage beyond what a [`StoreReader`](coact_persist::StoreReader) reports: in SQLite's own
//! structure, and in rows without an entity.

use coact_persist::{EntityId, NoteKind, Seq};
use rusqlite::{Connection, ErrorCode, Row};

use crate::row::{number, position, text};
use crate::schema::SchemaFormat;

/// Something in a file that no store writes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Irregularity {
    /// SQLite finds its file damaged (`PRAGMA integrity_check`).
    File {
        /// What it says.
        why: String,
    },
    /// Rows without an entity.
    Orphans {
        /// Their table.
        table: &'static str,
        /// The number of the row of `entity` that is missing.
        owner: i64,
        /// The number of rows.
        rows: u64,
    },
    /// The row of an entity says that it has no events, but there are some.
    Hidden {
        /// Which.
        entity: EntityId,
        /// The last of them.
        last: Seq,
    },
    /// A kind or a key is not UTF-8.
    NotText {
        /// The number of the row of `entity`.
        row: i64,
        /// The entity, with replacement characters.
        entity: EntityId,
    },
    /// Notes of a kind that this version does not know.
    UnknownNotes {
        /// The entity.
        entity: EntityId,
        /// The number of the kind.
        kind: i64,
        /// The number of notes.
        rows: u64,
    },
    /// A tag of a missing event, or of another commit.
    StrayTag {
        /// The entity.
        entity: EntityId,
        /// The number of the event.
        seq: Seq,
    },
    /// The counter of commits is missing, or less than the number of commits.
    Counter {
        /// Its number.
        counted: Option<i64>,
        /// The last commit with an event or a decision.
        last: i64,
    },
}

/// Runs all checks.
pub(crate) fn check(
    connection: &Connection,
    format: SchemaFormat,
) -> rusqlite::Result<Vec<Irregularity>> {
    let mut found = match integrity(connection) {
        // The file may be too damaged for the check.
        Err(error) if is_damage(&error) => vec![Irregularity::File { why: error.to_string() }],
        found => found?,
    };
    if !found.is_empty() {
        // Queries on a damaged file are meaningless, if they end at all.
        return Ok(found);
    }
    let there = [true, true, format.has_notes(), format.has_tags()];
    for (table, _) in ["event", "snapshot", "note", "tag"].into_iter().zip(there).filter(|it| it.1)
    {
        found.extend(orphans(connection, table)?);
    }
    found.extend(not_text(connection)?);
    found.extend(hidden(connection, format.has_notes())?);
    if format.has_notes() {
        found.extend(unknown_notes(connection)?);
    }
    if format.has_tags() {
        found.extend(strays(connection)?);
    }
    found.extend(counter(connection)?);
    Ok(found)
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

fn select<T>(
    connection: &Connection,
    query: &str,
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare(query)?.query_map([], row)?.collect()
}

fn integrity(connection: &Connection) -> rusqlite::Result<Vec<Irregularity>> {
    let said = select(connection, "PRAGMA integrity_check(20)", |row| row.get::<_, String>(0))?;
    let lines = said.iter().flat_map(|text| text.lines()).filter(|line| *line != "ok");
    Ok(lines.map(|line| Irregularity::File { why: line.to_owned() }).collect())
}

fn orphans(connection: &Connection, table: &'static str) -> rusqlite::Result<Vec<Irregularity>> {
    let query = format!(
        "SELECT entity, count(*) FROM {table} WHERE entity NOT IN (SELECT id FROM entity) GROUP BY entity"
    );
    select(connection, &query, |row| {
        Ok(Irregularity::Orphans { table, owner: row.get(0)?, rows: number(row, 1)? })
    })
}

fn not_text(connection: &Connection) -> rusqlite::Result<Vec<Irregularity>> {
    let mut found = Vec::new();
    let mut statement = connection.prepare("SELECT id, kind, key FROM entity")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if !(is_text(row, 1)? && is_text(row, 2)?) {
            found.push(Irregularity::NotText { row: row.get(0)?, entity: entity(row, 1)? });
        }
    }
    Ok(found)
}

fn is_text(row: &Row<'_>, column: usize) -> rusqlite::Result<bool> {
    Ok(std::str::from_utf8(row.get_ref(column)?.as_blob()?).is_ok())
}

/// (Entities with notes are listed anyway.)
fn hidden(connection: &Connection, has_notes: bool) -> rusqlite::Result<Vec<Irregularity>> {
    let unlisted = if has_notes { "AND id NOT IN (SELECT entity FROM note)" } else { "" };
    let query = format!(
        "SELECT kind, key, (SELECT max(seq) FROM event WHERE event.entity = entity.id) AS found
         FROM entity WHERE last <= 0 AND (last < 0 OR found IS NOT NULL) {unlisted}"
    );
    select(connection, &query, |row| {
        let last = row.get::<_, Option<i64>>(2)?.unwrap_or_default();
        Ok(Irregularity::Hidden { entity: entity(row, 0)?, last: Seq::new(last.cast_unsigned()) })
    })
}

fn unknown_notes(connection: &Connection) -> rusqlite::Result<Vec<Irregularity>> {
    let known = NoteKind::ALL.map(|kind| kind.get().to_string()).join(", ");
    let query = format!(
        "SELECT entity.kind, entity.key, note.kind, count(*)
         FROM note JOIN entity ON entity.id = note.entity WHERE note.kind NOT IN ({known})
         GROUP BY note.entity, note.kind"
    );
    select(connection, &query, |row| {
        Ok(Irregularity::UnknownNotes {
            entity: entity(row, 0)?,
            kind: row.get(2)?,
            rows: number(row, 3)?,
        })
    })
}

/// (Rows without an entity are reported with its number.)
fn strays(connection: &Connection) -> rusqlite::Result<Vec<Irregularity>> {
    let query = "SELECT entity.kind, entity.key, tag.seq FROM tag JOIN entity ON entity.id = tag.entity
         WHERE NOT EXISTS (SELECT 1 FROM event
            WHERE event.entity = tag.entity AND event.seq = tag.seq AND event.position = tag.position)
         GROUP BY tag.entity, tag.seq";
    select(connection, query, |row| {
        Ok(Irregularity::StrayTag { entity: entity(row, 0)?, seq: Seq::new(number(row, 2)?) })
    })
}

/// (One query, so that both are of one moment.)
fn counter(connection: &Connection) -> rusqlite::Result<Vec<Irregularity>> {
    let query = "SELECT (SELECT count(*) FROM counter), (SELECT position FROM counter),
                 max(ifnull((SELECT max(position) FROM event), 0), ifnull((SELECT max(position) FROM decision), 0))";
    let (rows, counted, last): (i64, Option<i64>, i64) =
        connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let is_possible = |counted: i64| counted >= last && position(counted).is_ok();
    let is_sound = rows == 1 && counted.is_some_and(is_possible);
    Ok(if is_sound { Vec::new() } else { vec![Irregularity::Counter { counted, last }] })
}

fn entity(row: &Row<'_>, kind: usize) -> rusqlite::Result<EntityId> {
    Ok(EntityId::new(text(row, kind)?, text(row, kind + 1)?))
}

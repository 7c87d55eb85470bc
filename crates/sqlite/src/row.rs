//! Conversions between Rust values and columns.

use std::sync::Arc;

use coact_persist::{
    Epoch, Event, EventHash, Position, RowChecksum, Seq, Snapshot, StoreError, StoredEvent, Tags,
};
use rusqlite::Row;

use crate::failure;

/// SQLite has signed integers only; the bits are the same.
pub(crate) fn to_signed(number: u64) -> i64 {
    number.cast_signed()
}

/// A bound of a count from 0 on. No stored number and no number of rows is above `i64::MAX`.
pub(crate) fn saturate_to_signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

pub(crate) fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

/// No store counts this far: a greater counter is damaged.
const LAST_POSITION: i64 = i64::MAX / 2;

/// The counter of commits.
///
/// # Errors
/// It is damaged.
pub(crate) fn position(counted: i64) -> rusqlite::Result<Position> {
    if (0..=LAST_POSITION).contains(&counted) {
        return Ok(Position::new(counted.cast_unsigned()));
    }
    let why = format!("the counter of commits is at {counted}, where no commits have led");
    Err(failure::to_sqlite_error(StoreError::Damaged { why }))
}

pub(crate) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(String::from_utf8_lossy(row.get_ref(column)?.as_blob()?).into_owned())
}

/// An entity as it is stored.
#[derive(Clone, Copy)]
pub(crate) struct EntityRow {
    pub(crate) id: i64,
    pub(crate) epoch: Epoch,
    pub(crate) last: Seq,
    pub(crate) hash: EventHash,
}

/// An entity in the columns `id, epoch, last, hash`.
pub(crate) fn entity(row: &Row<'_>) -> rusqlite::Result<EntityRow> {
    Ok(EntityRow {
        id: row.get(0)?,
        epoch: Epoch::new(number(row, 1)?),
        last: Seq::new(number(row, 2)?),
        hash: EventHash::from_stored(number(row, 3)?),
    })
}

/// An event in the columns `seq, position, hash, name, version, payload`, and its tags in another
/// one, if there are any.
pub(crate) fn stored(row: &Row<'_>, tags_at: Option<usize>) -> rusqlite::Result<StoredEvent> {
    Ok(StoredEvent {
        seq: Seq::new(number(row, 0)?),
        position: Position::new(number(row, 1)?),
        hash: EventHash::from_stored(number(row, 2)?),
        event: event(row, 3)?,
        tags: tags_at.map_or(Ok(Tags::NONE), |column| tags(row, column))?,
    })
}

/// Tags, as hexadecimal digits with commas between them.
fn tags(row: &Row<'_>, column: usize) -> rusqlite::Result<Tags> {
    let Some(all) = row.get_ref(column)?.as_str_or_null()? else { return Ok(Tags::NONE) };
    Ok(Tags::from_stored(all.split(',').map(from_hex).collect()))
}

fn from_hex(digits: &str) -> Arc<str> {
    let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or_default() as u8;
    let bytes = digits.as_bytes().chunks_exact(2);
    let bytes: Vec<u8> = bytes.map(|two| value(two[0]) << 4 | value(two[1])).collect();
    String::from_utf8_lossy(&bytes).into()
}

/// A snapshot in the columns `seq, hash, name, version, payload, sum`.
pub(crate) fn snapshot(row: &Row<'_>) -> rusqlite::Result<Snapshot> {
    let (seq, hash) = (Seq::new(number(row, 0)?), EventHash::from_stored(number(row, 1)?));
    Ok(Snapshot { seq, hash, state: event(row, 2)?, sum: checksum(row, 5)? })
}

/// A sum; `None` in rows of earlier versions.
pub(crate) fn checksum(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<RowChecksum>> {
    let sum: Option<i64> = row.get(column)?;
    Ok(sum.map(|sum| RowChecksum::from_stored(sum.cast_unsigned())))
}

/// An event in the columns `name, version, payload` from `first` on.
pub(crate) fn event(row: &Row<'_>, first: usize) -> rusqlite::Result<Event> {
    let payload = row.get_ref(first + 2)?.as_blob()?.to_vec();
    // (It was stored with 32 bits: if it has more, its hash or sum is wrong.)
    let version = u32::try_from(row.get::<_, i64>(first + 1)?).unwrap_or(u32::MAX);
    Ok(Event::new(text(row, first)?, version, payload))
}

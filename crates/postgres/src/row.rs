//! Conversions between Rust values and columns.

use coact_persist::{CommitId, Event, EventHash, Snapshot};
use coact_persist::{RowChecksum, Seq, StoredEvent, Tags};
use tokio_postgres::Row;

/// PostgreSQL has signed integers only; the bits are the same.
pub(crate) fn to_signed(number: u64) -> i64 {
    number.cast_signed()
}

/// The stored form of a commit's identity.
pub(crate) fn id_bytes(id: CommitId) -> Vec<u8> {
    id.get().to_be_bytes().to_vec()
}

/// A bound of a count from 0 on. No stored number and no number of rows is above `i64::MAX`.
pub(crate) fn saturate_to_signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

pub(crate) fn number(row: &Row, column: usize) -> u64 {
    row.get::<_, i64>(column).cast_unsigned()
}

pub(crate) fn text(row: &Row, column: usize) -> String {
    String::from_utf8_lossy(row.get(column)).into_owned()
}

/// An event in the columns `name, version, payload` from `first` on.
pub(crate) fn event(row: &Row, first: usize) -> Event {
    let payload: &[u8] = row.get(first + 2);
    // (It was stored with 32 bits.)
    let version = u32::try_from(number(row, first + 1)).unwrap_or(u32::MAX);
    Event::new(text(row, first), version, payload)
}

/// A snapshot in the columns `seq, hash, name, version, payload, sum` from `first` on.
pub(crate) fn snapshot(row: &Row, first: usize) -> Snapshot {
    let (seq, hash) =
        (Seq::new(number(row, first)), EventHash::from_stored(number(row, first + 1)));
    Snapshot { seq, hash, state: event(row, first + 2), sum: checksum(row, first + 5) }
}

/// A sum; `None` in rows of earlier versions.
pub(crate) fn checksum(row: &Row, column: usize) -> Option<RowChecksum> {
    row.get::<_, Option<i64>>(column).map(|sum| RowChecksum::from_stored(sum.cast_unsigned()))
}

/// An event in the columns `seq, position, hash, name, version, payload, tags`.
pub(crate) fn stored(row: &Row) -> StoredEvent {
    StoredEvent {
        seq: Seq::new(number(row, 0)),
        position: coact_persist::Position::new(number(row, 1)),
        hash: EventHash::from_stored(number(row, 2)),
        event: event(row, 3),
        tags: tags(row, 6),
    }
}

/// (Null if there are none.)
fn tags(row: &Row, column: usize) -> Tags {
    let tags: Option<Vec<&[u8]>> = row.get(column);
    let text = |tag: &[u8]| String::from_utf8_lossy(tag).into();
    Tags::from_stored(tags.unwrap_or_default().into_iter().map(text).collect())
}

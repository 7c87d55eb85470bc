//! What is in the columns of a row.

use coact_persist::{CommitId, Event, EventHash, Snapshot};
use coact_persist::{RowChecksum, Seq, StoredEvent, Tags};
use tokio_postgres::Row;

/// PostgreSQL's integers have a sign; as bits they are the same.
pub(crate) fn bits(number: u64) -> i64 {
    number.cast_signed()
}

/// How the identity of a commit is stored.
pub(crate) fn id_bytes(id: CommitId) -> Vec<u8> {
    id.get().to_be_bytes().to_vec()
}

/// As a bound of what is counted from 0 on: nothing that is stored is behind the greatest one, and there are no more rows.
pub(crate) fn bound(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

pub(crate) fn number(row: &Row, column: usize) -> u64 {
    row.get::<_, i64>(column).cast_unsigned()
}

pub(crate) fn text(row: &Row, column: usize) -> String {
    String::from_utf8_lossy(row.get(column)).into_owned()
}

/// An event from its name, its version and its payload, in columns one behind the other.
pub(crate) fn event(row: &Row, first: usize) -> Event {
    let payload: &[u8] = row.get(first + 2);
    // (It was stored with 32 bits.)
    let version = u32::try_from(number(row, first + 1)).unwrap_or(u32::MAX);
    Event::new(text(row, first), version, payload)
}

/// From its number, its hash, the state, and its sum.
pub(crate) fn snapshot(row: &Row, first: usize) -> Snapshot {
    let (seq, hash) =
        (Seq::new(number(row, first)), EventHash::from_stored(number(row, first + 1)));
    Snapshot { seq, hash, state: event(row, first + 2), sum: sum(row, first + 5) }
}

/// A sum; `None` in rows of earlier versions.
pub(crate) fn sum(row: &Row, column: usize) -> Option<RowChecksum> {
    row.get::<_, Option<i64>>(column).map(|sum| RowChecksum::from_stored(sum.cast_unsigned()))
}

/// From its number, its position, its hash, the event, and its tags.
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

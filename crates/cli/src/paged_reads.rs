//! A store page by page, as iterators.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use coact_persist::{
    EntityId, EntitySummary, LogEntry, Note, NoteKey, NoteKind, NoteQuery, Position, Seq,
    StoreCallback, StoreError, StoreReader, StoredEvent, wait,
};

type StoreResult<T> = Result<T, StoreError>;

/// Entities are small.
const ENTITIES: usize = 1_000;

/// What else there is may be large.
const OTHERS: usize = 100;

/// What is read page by page, from behind the last one on.
fn paged<T, C>(
    first: C,
    most: usize,
    fetch: impl Fn(&C, usize) -> StoreResult<Vec<T>>,
    behind: impl Fn(&T) -> C,
) -> impl Iterator<Item = StoreResult<T>> {
    let (mut cursor, mut page) = (Some(first), Vec::new().into_iter());
    std::iter::from_fn(move || {
        loop {
            if let Some(item) = page.next() {
                return Some(Ok(item));
            }
            let after = cursor.take()?;
            match fetch(&after, most) {
                // (A page with fewer is the last one. An error is told, and is the end.)
                Ok(found) => {
                    cursor = found.last().filter(|_| found.len() >= most).map(&behind);
                    page = found.into_iter();
                    if page.len() == 0 {
                        return None;
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    })
}

/// Lists entities, `most` at a time.
pub fn entities_by(
    reader: &dyn StoreReader,
    kind: Option<&str>,
    after: Option<EntityId>,
    most: usize,
) -> impl Iterator<Item = StoreResult<EntitySummary>> {
    let kind: Option<Arc<str>> = kind.map(Into::into);
    paged(
        after,
        most.clamp(1, ENTITIES),
        move |after, most| wait(|done| reader.entities(kind.clone(), after.clone(), most, done)),
        |summary| Some(summary.id.clone()),
    )
}

/// Lists the kinds of entities, up to as many, and says whether there are more. Reads one entity of
/// each.
pub fn kinds(reader: &dyn StoreReader, most: usize) -> StoreResult<(Vec<String>, bool)> {
    let mut kinds = Vec::new();
    let mut after = None;
    loop {
        let Some(first) = entities_by(reader, None, after, 1).next().transpose()? else {
            return Ok((kinds, false));
        };
        if kinds.len() == most {
            return Ok((kinds, true));
        }
        let kind = first.id.kind();
        // All entities of this kind come before that.
        after = Some(EntityId::new(format!("{kind}\0"), ""));
        kinds.push(kind.to_owned());
    }
}

/// Lists entities.
pub fn entities(
    reader: &dyn StoreReader,
    kind: Option<&str>,
    after: Option<EntityId>,
) -> impl Iterator<Item = StoreResult<EntitySummary>> {
    entities_by(reader, kind, after, ENTITIES)
}

/// Finds an entity among those that are listed.
pub fn entity(reader: &dyn StoreReader, id: &EntityId) -> StoreResult<Option<EntitySummary>> {
    let before = before(id.key()).map(|key| EntityId::new(id.kind(), key));
    for listed in entities_by(reader, Some(id.kind()), before, 2) {
        let listed = listed?;
        if listed.id >= *id {
            return Ok(Some(listed).filter(|listed| listed.id == *id));
        }
    }
    Ok(None)
}

/// A key shortly before this one: there may be keys between them, but hardly are.
fn before(key: &str) -> Option<String> {
    let mut key = key.to_owned();
    match key.pop()? {
        '\0' => {}
        '\u{e000}' => key.push_str("\u{d7ff}\u{10ffff}\u{10ffff}"),
        c => {
            key.push(char::from_u32(u32::from(c) - 1)?);
            key.push_str("\u{10ffff}\u{10ffff}");
        }
    }
    Some(key)
}

/// Reads the events of an entity.
pub fn events(
    reader: &dyn StoreReader,
    entity: &EntityId,
    after: Seq,
) -> impl Iterator<Item = StoreResult<StoredEvent>> {
    paged(
        after,
        OTHERS,
        move |after, most| wait(|done| reader.events(entity.clone(), *after, most, done)),
        |event| event.seq,
    )
}

/// Reads the notes of an entity. One that is damaged is told as an error, which has it, and is not
/// the end.
pub fn notes(
    reader: &dyn StoreReader,
    entity: &EntityId,
) -> impl Iterator<Item = StoreResult<Note>> {
    let entity = entity.clone();
    notes_by(
        reader,
        move |after| NoteQuery::Of { entity: entity.clone(), after },
        |_, note| (note.kind, note.key.clone()),
    )
}

/// Reads the notes of a kind, of all entities. Damaged ones are errors, as in [`notes`].
fn notes_of_kind(
    reader: &dyn StoreReader,
    kind: NoteKind,
) -> impl Iterator<Item = StoreResult<Note>> {
    notes_by(
        reader,
        move |after| NoteQuery::Ranked { kind, after, up_to: u64::MAX },
        |before, note| {
            let place = (note.rank, note.entity.clone(), note.key.clone());
            // An entity whose identity is damaged, and no text any more, may be behind the text
            // that it looks like: then this is where it was before.
            if before != Some(&place) {
                return place;
            }
            (place.0.wrapping_add(1), EntityId::new("", ""), NoteKey::new([]))
        },
    )
}

/// Finds the entities that have outgoing messages, dead letters or timers, damaged ones included.
pub fn waiting(reader: &dyn StoreReader) -> StoreResult<BTreeSet<EntityId>> {
    let kinds = [NoteKind::Outgoing, NoteKind::DeadLetter, NoteKind::Timer];
    let all = kinds.into_iter().flat_map(|kind| notes_of_kind(reader, kind));
    all.map(|read| Ok(note(read)?.0.entity)).collect()
}

/// Reads notes page by page, from the one that a cursor names on.
fn notes_by<C: Clone>(
    reader: &dyn StoreReader,
    which: impl Fn(Option<C>) -> NoteQuery,
    cursor: impl Fn(Option<&C>, &Note) -> C,
) -> impl Iterator<Item = StoreResult<Note>> {
    let (mut after, mut most) = (None::<C>, OTHERS);
    let (mut page, mut is_over) = (Vec::new().into_iter(), false);
    std::iter::from_fn(move || {
        loop {
            if let Some(note) = page.next() {
                return Some(Ok(note));
            }
            if is_over {
                return None;
            }
            match wait(|done| reader.notes(which(after.clone()), most, done)) {
                Ok(found) => {
                    is_over = found.len() < most;
                    let last = found.last().map(|last| cursor(after.as_ref(), last));
                    after = last.or(after.take());
                    page = found.into_iter();
                }
                // One by one, up to the damaged one, ..
                Err(StoreError::CorruptNote { .. }) if most > 1 => most = 1,
                Err(error) => {
                    // .. and from behind that on.
                    most = OTHERS;
                    match &error {
                        StoreError::CorruptNote { note, .. } => {
                            after = Some(cursor(after.as_ref(), note));
                        }
                        _ => is_over = true,
                    }
                    return Some(Err(error));
                }
            }
        }
    })
}

/// A note as it is stored, and whether it is sound.
pub fn note(read: StoreResult<Note>) -> StoreResult<(Note, bool)> {
    match read {
        Err(StoreError::CorruptNote { note, .. }) => Ok((*note, false)),
        read => read.map(|note| (note, true)),
    }
}

/// Reads the events of a kind in the order of their commits.
pub fn log(reader: &dyn StoreReader, kind: &str) -> impl Iterator<Item = StoreResult<LogEntry>> {
    let kind: Arc<str> = kind.into();
    paged(
        Position::ZERO,
        OTHERS,
        move |after, most| wait(|done| reader.log(kind.clone().into(), *after, most, done)),
        |entry| entry.stored.position,
    )
}

/// Asks now, and waits later: so that many questions take one way to the store and back.
pub fn ask<T: Send + 'static>(operation: impl FnOnce(StoreCallback<T>)) -> Receiver<T> {
    let (tell, told) = channel();
    operation(Box::new(move |result| drop(tell.send(result))));
    told
}

/// The answer to what was [asked](ask).
pub fn answer<T>(asked: &Receiver<StoreResult<T>>) -> StoreResult<T> {
    let gone = || StoreError::Unavailable { why: "it has not answered".into() };
    asked.recv().unwrap_or_else(|_| Err(gone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use coact_persist::{Commit, Event, MemoryStore, Store};

    #[test]
    fn entities_are_found_among_any_neighbours() {
        let store = MemoryStore::new();
        let keys = [
            "",
            "\0",
            "\0\0",
            "a",
            "a\0",
            "a\u{10ffff}",
            "b",
            "\u{d7ff}",
            "\u{e000}",
            "\u{10ffff}",
        ];
        for key in keys {
            let id = EntityId::new("kind", key);
            let claim = wait(|done| store.claim(id.clone(), done)).unwrap();
            let mut commit = Commit::new();
            commit.member(id, claim.epoch, claim.last).event(Event::new("e", 1, []), claim.hash);
            wait(|done| store.commit(commit, done));
        }
        for key in keys {
            let id = EntityId::new("kind", key);
            assert_eq!(entity(&store, &id).unwrap().map(|it| it.id), Some(id));
        }
        for key in ["aa", "c", "\u{1}", "`"] {
            assert_eq!(entity(&store, &EntityId::new("kind", key)).unwrap(), None);
        }
        assert_eq!(entity(&store, &EntityId::new("kin", "a")).unwrap(), None);
    }
}

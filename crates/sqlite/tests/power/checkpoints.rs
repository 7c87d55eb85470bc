//! The WAL is put into the file in parts, since a tool reads meanwhile; and then a sync of the file
//! fails.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact_disk::{Dice, Disk, FailedSyncs, Fault, Keep, Kind, Operation};
use coact_persist::{Claim, Commit, Event, Store, StoreOutcome, wait};
use coact_sqlite::SqliteStore;

use crate::crashes::{NAME, images};
use crate::folder;
use crate::history::{ENTITIES, Notes, What, entity};

/// Stores some events of ten pages each.
fn write(store: &SqliteStore, notes: &Notes, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let id = entity(number as usize % ENTITIES);
        let Claim { epoch, last, hash, .. } = wait(|done| store.claim(id.clone(), done)).unwrap();
        let mut payload = number.to_be_bytes().to_vec();
        payload.resize(40_000, number as u8);
        let mut commit = Commit::new();
        commit.member(id, epoch, last).event(Event::new("noted", 1, payload), hash);
        notes.submits(number, &commit);
        match wait(|done| store.commit(commit, done)) {
            StoreOutcome::Committed(position) => notes.told(What::Committed { number, position }),
            other => panic!("{other:?}"),
        }
    }
}

fn syncs_of_the_file(
    disk: &Disk,
    fails: impl Fn(usize) -> bool + Send + 'static,
) -> Arc<AtomicUsize> {
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    disk.fail(move |operation| match operation {
        Operation::Sync(Kind::Database) if fails(counted.fetch_add(1, Ordering::Relaxed)) => {
            Fault::Io { kept: 0 }
        }
        _ => Fault::None,
    });
    seen
}

/// Has a tool read while the WAL gets long, so that only a part of it can be put into the file.
fn checkpoint_in_part(path: &Path, then: impl FnOnce()) {
    let tool = rusqlite::Connection::open(path).unwrap();
    tool.execute_batch("BEGIN").unwrap();
    let count = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    assert!(tool.query_row("SELECT count(*) FROM event", [], count).unwrap() > 0);
    then();
    tool.execute_batch("COMMIT").unwrap();
}

#[test]
fn what_was_put_into_the_file_in_part_is_written_again_after_a_failed_sync() {
    for lasts in [false, true] {
        let place = folder();
        let path = place.path().join(NAME);
        let notes = Notes::new(Arc::new(Disk::watch(place.path()).unwrap()));
        let store = SqliteStore::open(&path).unwrap();
        write(&store, &notes, 0..40);
        let seen = syncs_of_the_file(notes.disk(), |_| false);
        checkpoint_in_part(&path, || write(&store, &notes, 40..110));
        assert_eq!(seen.load(Ordering::Relaxed), 0, "it was in part only, which is not synced");
        let seen = syncs_of_the_file(notes.disk(), move |number| lasts || number == 0);
        write(&store, &notes, 110..125);
        assert_eq!(seen.load(Ordering::Relaxed), 1, "it has failed, and is not tried again");
        drop(store);
        assert_eq!(seen.load(Ordering::Relaxed), 1, "nor when it is closed");
        compare(&notes);

        notes.disk().heal();
        let seen = syncs_of_the_file(notes.disk(), |_| false);
        let store = SqliteStore::open(&path).unwrap();
        write(&store, &notes, 125..130);
        assert!(seen.load(Ordering::Relaxed) > 0, "it begins with all of the WAL");
        drop(store);
        compare(&notes);
    }
}

fn compare(notes: &Notes) {
    let replay = notes.disk().replay(FailedSyncs::Lose(Keep::Nothing), Dice::new(1));
    images(replay, &notes.history(), Dice::new(1), 3, |at, keep, result| {
        if let Err(why) = result {
            panic!("the power fails at {at} ({keep:?}): {why}");
        }
    });
}

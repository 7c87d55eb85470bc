//! SQLite takes some names for something else than that of a file. The only test here, since it
//! changes the current folder.
#![cfg(unix)]

use std::fs;

use coact_persist::{Commit, EntityId, Event, Seq, Store, StoreOutcome, StoreReader, wait};
use coact_sqlite::{SqliteReader, SqliteStore};

fn alice() -> EntityId {
    EntityId::new("account", "alice")
}

fn add_event(name: &str) {
    let store = SqliteStore::open(name).unwrap();
    let claim = wait(|done| store.claim(alice(), done)).unwrap();
    let mut commit = Commit::new();
    let event = Event::new("text", 1, name.as_bytes());
    commit.member(alice(), claim.epoch, claim.last).event(event, claim.hash);
    assert!(matches!(wait(|done| store.commit(commit, done)), StoreOutcome::Committed(_)));
}

fn count(reader: &SqliteReader) -> usize {
    wait(|done| reader.events(alice(), Seq::ZERO, 10, done)).unwrap().len()
}

#[test]
fn any_name_is_that_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    let names = ["file:bank.db?mode=memory", ":memory:", "50%41.db", "a'b\"c.db", "-x"];
    for name in names {
        add_event(name);
        add_event(name);
        for reader in [SqliteReader::open(name), SqliteReader::open_immutable(name)] {
            assert_eq!(count(&reader.unwrap()), 2, "{name}");
        }
        let copy = format!("{name}.copy");
        SqliteReader::open(name).unwrap().back_up(&copy).unwrap();
        add_event(&copy);
        assert_eq!(count(&SqliteReader::open(&copy).unwrap()), 3);
        // And the other way round.
        fs::remove_file(name).unwrap();
        SqliteReader::open(&copy).unwrap().back_up(name).unwrap();
        assert_eq!(count(&SqliteReader::open(name).unwrap()), 3);
    }
    // No file of a lock is left, or of something that a name was taken for. (What readers leave is
    // for the next one.)
    let left = fs::read_dir(".").unwrap().map(|entry| entry.unwrap().file_name());
    let is_readers = |name: &str| name.ends_with("-wal") || name.ends_with("-shm");
    assert_eq!(left.filter(|name| !is_readers(name.to_str().unwrap())).count(), 2 * names.len());

    // Another folder becomes the current one while it is open.
    let (store, reader) = (SqliteStore::open("a.db").unwrap(), SqliteReader::open("a.db").unwrap());
    fs::create_dir("below").unwrap();
    std::env::set_current_dir("below").unwrap();
    reader.back_up("copy.db").unwrap();
    drop((store, reader));
    assert!(!fs::exists("../a.db.lock").unwrap());
    assert_eq!(fs::read_dir(".").unwrap().count(), 1);
}

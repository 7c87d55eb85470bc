//! What the tests of a file have in common.

use std::fs;
use std::path::Path;

use coact_persist::{
    Commit, EntityId, Event, Seq, Store, StoreOutcome, StoreReader, StoredEvent, wait,
};
use coact_sqlite::SqliteStore;
use tempfile::TempDir;

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

pub fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path).expect("it can be opened")
}

pub fn write(store: &SqliteStore, entity: &EntityId, text: &str) -> StoreOutcome {
    let claim = wait(|done| store.claim(entity.clone(), done)).unwrap();
    let mut commit = Commit::new();
    commit
        .member(entity.clone(), claim.epoch, claim.last)
        .event(Event::new("noted", 1, text.as_bytes().to_vec()), claim.hash);
    wait(|done| store.commit(commit, done))
}

pub fn read(store: &SqliteStore, entity: &EntityId) -> Vec<StoredEvent> {
    wait(|done| store.events(entity.clone(), Seq::ZERO, 1_000, done)).unwrap()
}

pub fn names_in(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

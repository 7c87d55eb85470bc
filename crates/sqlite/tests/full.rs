//! A disk that is really full, where a test may mount one: on Linux, in namespaces of its own,
//! without being root.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use coact_persist::{
    Claim, Commit, CommitRefusal, EntityId, Event, Seq, Store, StoreError, StoreOutcome,
    StoreReader, wait,
};
use coact_sqlite::SqliteStore;

/// Names the folder for the process that mounts the disk there.
const FOLDER: &str = "COACT_TEST_FOLDER";

/// What it says where it must not.
const SKIPPED: &str = "cannot mount a disk here";

#[test]
fn a_full_disk_loses_nothing_and_the_store_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let child = Command::new("unshare")
        .args(["--map-root-user", "--mount"])
        .arg(program)
        .args(["--exact", "fills_a_disk", "--ignored", "--nocapture"])
        .env(FOLDER, folder.path())
        .output();
    let said = match &child {
        Ok(output) => {
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat()
        }
        Err(error) => format!("{SKIPPED}: {error}"),
    };
    if said.contains(SKIPPED) || said.contains("unshare failed") {
        eprintln!("skipped: {said}");
        return;
    }
    assert!(child.unwrap().status.success() && said.contains("1 passed"), "{said}");
}

/// A tmpfs of one megabyte, with a file that takes the half of it.
fn mount(folder: &Path) -> bool {
    let options = ["-t", "tmpfs", "-o", "size=1m", "tmpfs"];
    let mounted = Command::new("mount").args(options).arg(folder).status();
    mounted.is_ok_and(|status| status.success())
}

#[test]
#[ignore = "the other test runs it in namespaces of its own"]
fn fills_a_disk() {
    let folder = std::env::var_os(FOLDER).expect("the other test says where");
    let folder = Path::new(&folder);
    if !mount(folder) {
        eprintln!("{SKIPPED}");
        return;
    }
    let ballast = folder.join("ballast");
    fs::write(&ballast, vec![1; 512 << 10]).unwrap();
    let store = SqliteStore::open(folder.join("bank.db")).unwrap();
    let alice = EntityId::new("account", "alice");
    let mut told = 0;
    let mut refused = 0;
    while refused < 5 {
        assert!(told < 1_000, "the disk is never full");
        match write(&store, &alice) {
            Ok(()) => told += 1,
            Err(error) => {
                assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
                refused += 1;
            }
        }
    }
    assert!(told > 5, "{told} were stored");
    assert_eq!(count(&store, &alice), told);
    fs::remove_file(ballast).unwrap();
    for _ in 0..5 {
        write(&store, &alice).expect("there is room again");
        told += 1;
    }
    assert_eq!(count(&store, &alice), told);
    drop(store);
    let store = SqliteStore::open(folder.join("bank.db")).unwrap();
    assert_eq!(count(&store, &alice), told);
}

fn count(store: &SqliteStore, id: &EntityId) -> usize {
    wait(|done| store.events(id.clone(), Seq::ZERO, 10_000, done)).unwrap().len()
}

/// One event, or why it is not stored for certain.
fn write(store: &SqliteStore, id: &EntityId) -> Result<(), StoreError> {
    let Claim { epoch, last, hash, .. } = wait(|done| store.claim(id.clone(), done))?;
    let mut commit = Commit::new();
    commit.member(id.clone(), epoch, last).event(Event::new("noted", 1, vec![2; 9_000]), hash);
    match wait(|done| store.commit(commit, done)) {
        StoreOutcome::Committed(_) => Ok(()),
        StoreOutcome::Refused(CommitRefusal::Store(error)) => Err(error),
        // It would stay so until there is room, since to settle it takes some.
        other @ (StoreOutcome::Unknown(_) | StoreOutcome::Refused(_)) => panic!("{other:?}"),
    }
}

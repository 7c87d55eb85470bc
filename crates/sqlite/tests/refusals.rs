//! What the system or another process refuses while a store is open: it is told, nothing is left in
//! doubt, and the store goes on when it is over.

#![cfg(target_os = "linux")]

mod common;

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use coact_persist::{
    CommitRefusal, EntityId, Seq, Store, StoreError, StoreOutcome, StoreReader, wait,
};
use coact_sqlite::{OpenError, SqliteReader, SqliteStore};

use self::common::{folder, names_in, open, read, write};

/// Names the folder for a process of its own.
const FOLDER: &str = "COACT_TEST_FOLDER";

fn alice() -> EntityId {
    EntityId::new("account", "alice")
}

/// Runs a test in a process of its own, behind a command of the shell.
fn in_a_process(test: &str, first: &str, folder: &Path) {
    let script = format!("{first}; exec \"$@\"");
    let child = Command::new("sh")
        .args(["-c", &script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .output()
        .unwrap();
    let said = [&child.stdout, &child.stderr].map(|text| String::from_utf8_lossy(text)).concat();
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
}

fn given() -> PathBuf {
    std::env::var_os(FOLDER).expect("the other test says where").into()
}

fn is_unavailable(outcome: &StoreOutcome) -> bool {
    matches!(outcome, StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { .. })))
}

/// One step, if it can be made: the claim may be refused as well.
fn try_write(store: &SqliteStore, text: &str) -> Result<(), StoreError> {
    wait(|done| store.claim(alice(), done))?;
    match write(store, &alice(), text) {
        StoreOutcome::Committed(_) => Ok(()),
        outcome if is_unavailable(&outcome) => {
            Err(StoreError::Unavailable { why: format!("{outcome:?}") })
        }
        other => panic!("nothing is in doubt: {other:?}"),
    }
}

#[test]
fn a_limit_of_the_size_of_files_is_told_and_leaves_nothing_in_doubt() {
    let folder = folder();
    // (The signal, which would end the process, is left out; blocks have 512 or 1,024 bytes.)
    in_a_process("meets_a_limit_of_sizes", "trap '' XFSZ; ulimit -f 1000", folder.path());
    // All that was told is there for the next process.
    assert!(read(&open(&folder.path().join("bank.db")), &alice()).len() > 3);
}

#[test]
#[ignore = "the other test runs it in a process of its own"]
fn meets_a_limit_of_sizes() {
    let store = open(&given().join("bank.db"));
    let text = "x".repeat(20_000);
    let (mut told, mut refused) = (0, 0);
    while refused < 5 {
        assert!(told < 1_000, "there is no limit");
        // (What is long is refused, and something short may still have room.)
        let claimed = wait(|done| store.claim(alice(), done));
        match claimed.map(|_| ()).and_then(|()| try_write(&store, &text)) {
            Ok(()) => told += 1,
            Err(StoreError::Unavailable { .. }) => refused += 1,
            Err(other) => panic!("{other}"),
        }
        assert_eq!(read(&store, &alice()).len(), told);
    }
}

#[test]
fn a_limit_of_open_files_is_told_when_a_store_is_opened_and_holds_up_no_open_one() {
    let folder = folder();
    in_a_process("meets_a_limit_of_open_files", "ulimit -n 40", folder.path());
}

#[test]
#[ignore = "the other test runs it in a process of its own"]
fn meets_a_limit_of_open_files() {
    let folder = given();
    let path = folder.join("bank.db");
    let store = open(&path);
    try_write(&store, "before").unwrap();
    let mut held = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        held.push(file);
    }
    try_write(&store, "meanwhile").unwrap();
    assert_eq!(read(&store, &alice()).len(), 2);
    for error in [
        SqliteStore::open(folder.join("other.db")).unwrap_err(),
        SqliteReader::open(&path).unwrap_err(),
    ] {
        assert!(matches!(&error, OpenError::Io { .. }), "{error:?}");
        assert!(error.to_string().contains("Too many open files"), "{error}");
    }
    drop(held);
    try_write(&SqliteStore::open(folder.join("other.db")).unwrap(), "other").unwrap();
    assert_eq!(wait(|done| store.position(done)).unwrap().get(), 2);
}

#[test]
fn what_may_not_be_written_is_told_and_left() {
    let folder = folder();
    // (Root may do so all the same, unless it gives that up.)
    let first = "[ \"$(id -u)\" != 0 ] || set -- setpriv --bounding-set=-dac_override,-dac_read_search \"$@\"";
    let may_give_up = Command::new("setpriv")
        .args(["--bounding-set=-dac_override,-dac_read_search", "true"])
        .status();
    if !may_give_up.is_ok_and(|status| status.success()) {
        eprintln!("skipped: `setpriv` is not there, or may not do this");
        return;
    }
    in_a_process("may_not_write", first, folder.path());
}

#[test]
#[ignore = "the other test runs it in a process of its own"]
fn may_not_write() {
    let folder = given();
    let path = folder.join("bank.db");
    let may = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let store = open(&path);
    try_write(&store, "before").unwrap();
    // Who has opened it may go on.
    may(&folder, 0o500);
    may(&path, 0o400);
    try_write(&store, "meanwhile").unwrap();
    assert_eq!(read(&store, &alice()).len(), 2);
    // Also after a failure.
    may(&path, 0o600);
    let tool = rusqlite::Connection::open(&path).unwrap();
    may(&path, 0o400);
    tool.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(try_write(&store, "never").is_err());
    tool.execute_batch("COMMIT").unwrap();
    try_write(&store, "behind").unwrap();
    may(&path, 0o600);
    drop((tool, store));
    let refused = |told: Result<SqliteStore, OpenError>| {
        let error = told.unwrap_err();
        let is_told = matches!(&error, OpenError::Io { error, .. } if error.kind() == io::ErrorKind::PermissionDenied);
        assert!(is_told, "{error}");
    };
    // (What is beside the first one could not be removed, so that one has all that it needs.)
    refused(SqliteStore::open(folder.join("new.db")));
    assert_eq!(read(&open(&path), &alice()).len(), 3);
    may(&folder, 0o700);
    may(&path, 0o400);
    refused(SqliteStore::open(&path));
    let reader = SqliteReader::open(&path).unwrap();
    let found = wait(|done| reader.events(alice(), Seq::ZERO, 10, done)).unwrap();
    assert_eq!(found.len(), 3);
    drop(reader);
    may(&path, 0o600);
    assert_eq!(read(&open(&path), &alice()).len(), 3);
}

/// It is waited for once; then all is refused at once until it has ended.
#[test]
fn a_process_that_writes_all_the_time_is_waited_for_once() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    let store = open(&path);
    try_write(&store, "before").unwrap();
    let tool = rusqlite::Connection::open(&path).unwrap();
    tool.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = std::time::Instant::now();
    for _ in 0..40 {
        assert!(matches!(try_write(&store, "never"), Err(StoreError::Unavailable { .. })));
        assert_eq!(read(&store, &alice()).len(), 1);
    }
    // (Each for itself: 200 s.)
    assert!(begun.elapsed().as_secs() < 100, "{:?}", begun.elapsed());
    tool.execute_batch("COMMIT").unwrap();
    try_write(&store, "behind").unwrap();
    assert_eq!(read(&store, &alice()).len(), 2);
    // Through a shutdown as well.
    tool.execute_batch("BEGIN IMMEDIATE").unwrap();
    store.claim(alice(), Box::new(|told| assert!(told.is_err())));
    wait(|done| store.close(done));
    drop(tool);
    assert!(!names_in(&folder).contains(&"bank.db.lock".to_owned()));
    assert_eq!(read(&open(&path), &alice()).len(), 2);
}

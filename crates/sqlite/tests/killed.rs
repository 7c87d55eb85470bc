//! A process that is killed while it writes: what it has told to be committed is there, once, in
//! both entities. And one that is killed while it puts a backup in the place of the file.
//!
//! (What the system has not written to the disk yet survives that: it is no test of flushes.)

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use coact_persist::{
    Commit, EntityId, Event, EventHash, Seq, Store, StoreOutcome, StoreReader, StoredEvent, wait,
};
use coact_sqlite::{OpenError, SqliteReader, SqliteStore};

/// Names the file for the process that is killed.
const FILE: &str = "COACT_TEST_FILE";

fn accounts() -> [EntityId; 2] {
    ["alice", "bob"].map(|key| EntityId::new("account", key))
}

/// Commits one transfer after the other, and tells each; to be run by the other test.
#[test]
#[ignore = "the other test runs it, and kills it"]
fn writes_until_it_is_killed() {
    let path = std::env::var_os(FILE).expect("the other test says where");
    let store = SqliteStore::open(Path::new(&path)).expect("its lock is free again");
    let [alice, bob] = accounts();
    let mut told = std::io::stdout();
    loop {
        let [from, to] =
            [&alice, &bob].map(|id| wait(|done| store.claim(id.clone(), done)).unwrap());
        let text = from.last.next().to_string();
        let mut commit = Commit::new();
        for (id, claim) in [(&alice, &from), (&bob, &to)] {
            let event = Event::new("moved", 1, text.clone().into_bytes());
            commit.member(id.clone(), claim.epoch, claim.last).event(event, claim.hash);
        }
        match wait(|done| store.commit(commit, done)) {
            StoreOutcome::Committed(_) => writeln!(told, "committed {text}").unwrap(),
            other => panic!("{other:?}"),
        }
    }
}

/// Puts one copy after the other in the place of the file; to be run by the other test.
#[test]
#[ignore = "the other test runs it, and kills it"]
fn restores_until_it_is_killed() {
    let path = std::env::var_os(FILE).expect("the other test says where");
    let path = Path::new(&path);
    let mut told = std::io::stdout();
    loop {
        for copy in COPIES {
            SqliteStore::restore(path.with_file_name(copy), path).unwrap();
            writeln!(told, "restored").unwrap();
        }
    }
}

const COPIES: [&str; 2] = ["short.db", "long.db"];

/// This program, as the one that runs this test.
fn child(test: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(FILE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The one that writes.
fn writer(path: &Path) -> (Child, impl Iterator<Item = u64>) {
    let mut child = child("writes_until_it_is_killed", path);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    (child, lines.filter_map(|line| line.split("committed ").nth(1)?.parse::<u64>().ok()))
}

#[test]
fn one_process_at_a_time_has_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bank.db");
    for _ in 0..3 {
        let (mut child, mut told) = writer(&path);
        told.next().expect("it has written");
        for _ in 0..2 {
            let error = SqliteStore::open(&path).unwrap_err();
            assert!(matches!(&error, OpenError::InUse { path: of } if *of == path), "{error}");
        }
        told.next().expect("it goes on");
        // SIGKILL, on Unix.
        child.kill().unwrap();
        child.wait().unwrap();
        SqliteStore::open(&path).expect("the system has released its lock");
    }
}

#[test]
fn what_was_told_to_be_committed_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bank.db");
    let mut acknowledged = 0;
    for round in 0..8_u64 {
        let (mut child, told) = writer(&path);
        acknowledged = told.take(1 + (round * 37 % 60) as usize).last().expect("it has written");
        child.kill().unwrap();
        child.wait().unwrap();

        let store = SqliteStore::open(&path).expect("the system has released its lock");
        let histories = accounts().map(|id| checked(&store, &id));
        assert_eq!(histories[0], histories[1], "a transfer is in both, or in neither");
        let all = &histories[0];
        assert!(all.len() as u64 >= acknowledged, "{acknowledged} were acknowledged: {all:?}");
        let expected: Vec<String> = (1..=all.len()).map(|n| n.to_string()).collect();
        assert_eq!(*all, expected);
    }
    assert!(acknowledged > 8);
}

#[test]
fn a_restore_is_done_wholly_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (path, wal) = (at("bank.db"), at("bank.db-wal"));
    let [alice, _] = accounts();
    let add = |store: &SqliteStore| {
        let claim = wait(|done| store.claim(alice.clone(), done)).unwrap();
        let mut commit = Commit::new();
        let event = Event::new("moved", 1, claim.last.next().to_string().into_bytes());
        commit.member(alice.clone(), claim.epoch, claim.last).event(event, claim.hash);
        assert!(matches!(wait(|done| store.commit(commit, done)), StoreOutcome::Committed(_)));
    };
    let store = SqliteStore::open(&path).unwrap();
    for (copy, count) in COPIES.into_iter().zip([10, 30]) {
        (0..count).for_each(|_| add(&store));
        SqliteReader::open(&path).unwrap().back_up(at(copy)).unwrap();
    }
    drop(store);
    for round in 0..30 {
        let mut restorer = child("restores_until_it_is_killed", &path);
        let mut lines = BufReader::new(restorer.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("restored")));
        // It goes on meanwhile, so that it is at any point when it is killed.
        let seen = ["bank.db", "bank.db.coact-part", "bank.db.coact-restored"][round % 3];
        while !at(seen).exists() {
            std::thread::yield_now();
        }
        restorer.kill().unwrap();
        restorer.wait().unwrap();

        let store = SqliteStore::open(&path).expect("the system has released its lock");
        let found = checked(&store, &alice).len();
        assert!([10, 40].contains(&found), "{found} in round {round}");
        assert_eq!(SqliteReader::open(&path).unwrap().check().unwrap(), []);
        // The next one is killed with a WAL beside the file.
        add(&store);
        let left = std::fs::read(&wal).unwrap();
        drop(store);
        std::fs::write(&wal, left).unwrap();
    }
}

/// The texts of an entity's events, each of which follows the one before.
fn checked(store: &SqliteStore, id: &EntityId) -> Vec<String> {
    let all: Vec<StoredEvent> =
        wait(|done| store.events(id.clone(), Seq::ZERO, 1_000_000, done)).unwrap();
    let last = all.iter().fold(EventHash::of(id), |hash, stored| {
        let hash = hash.with(stored.seq, &stored.event);
        assert_eq!(hash, stored.hash);
        hash
    });
    assert_eq!(wait(|done| store.claim(id.clone(), done)).unwrap().hash, last);
    all.iter().map(|stored| String::from_utf8(stored.event.payload.to_vec()).unwrap()).collect()
}

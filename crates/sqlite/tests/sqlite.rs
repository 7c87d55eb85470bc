//! The store in a file: the tests of all stores, and what only a file can do.

mod common;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use coact_persist::{
    Commit, CommitRefusal, CommitSettlement, EntityId, Event, LogEntry, LogQuery, NoteKind,
    NoteQuery, Position, Seq, Store, StoreError, StoreOutcome, StoreReader, StoredEvent, Tags,
    conformance, wait,
};
use coact_sqlite::{Irregularity, OpenError, SqliteReader, SqliteStore};
use tempfile::TempDir;

use self::common::{folder, names_in, open, read, write};

#[test]
fn it_passes_the_tests_of_all_stores() {
    let (folder, number) = (folder(), AtomicU32::new(0));
    conformance::all(&|| {
        let name = format!("{}.db", number.fetch_add(1, Ordering::Relaxed));
        Arc::new(open(&folder.path().join(name)))
    });
}

fn read_texts(store: &SqliteStore, entity: &EntityId) -> Vec<String> {
    let text = |stored: &StoredEvent| String::from_utf8(stored.event.payload.to_vec()).unwrap();
    read(store, entity).iter().map(text).collect()
}

#[test]
fn what_was_committed_is_there_when_it_is_opened_again() {
    let folder = folder();
    let (path, alice) = (folder.path().join("bank.db"), EntityId::new("account", "alice"));
    let mut epochs = Vec::new();
    for n in 0..3 {
        let store = open(&path);
        assert_eq!(read(&store, &alice).len(), n);
        assert!(matches!(write(&store, &alice, &n.to_string()), StoreOutcome::Committed(_)));
        epochs.push(wait(|done| store.claim(alice.clone(), done)).unwrap().epoch.get());
    }
    assert_eq!(epochs, [2, 4, 6]);
    assert_eq!(read_texts(&open(&path), &alice), ["0", "1", "2"]);
}

#[test]
fn one_store_at_a_time_has_a_file() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    let first = open(&path);
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    drop(first);
    open(&path);
}

#[test]
fn what_waits_when_it_is_dropped_is_written() {
    let folder = folder();
    let (path, alice) = (folder.path().join("bank.db"), EntityId::new("account", "alice"));
    let store = open(&path);
    let claim = wait(|done| store.claim(alice.clone(), done)).unwrap();
    let told = Arc::new(AtomicU32::new(0));
    let (mut last, mut hash) = (claim.last, claim.hash);
    for n in 0..500 {
        let mut commit = Commit::new();
        let member = commit.member(alice.clone(), claim.epoch, last);
        hash = member.event(Event::new("noted", 1, n.to_string().into_bytes()), hash);
        last = last.next();
        let told = Arc::clone(&told);
        store.commit(
            commit,
            Box::new(move |outcome| {
                assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
                told.fetch_add(1, Ordering::Relaxed);
            }),
        );
    }
    drop(store);
    assert_eq!(told.load(Ordering::Relaxed), 500);
    assert_eq!(read(&open(&path), &alice).len(), 500);
}

#[test]
fn a_refused_commit_fails_no_other_in_its_transaction() {
    let folder = folder();
    let store = open(&folder.path().join("bank.db"));
    let names: Vec<_> = (0..100).map(|n| EntityId::new("account", n.to_string())).collect();
    let claims: Vec<_> =
        names.iter().map(|name| wait(|done| store.claim(name.clone(), done)).unwrap()).collect();
    for name in names.iter().step_by(3) {
        wait(|done| store.claim(name.clone(), done)).unwrap();
    }
    let (tell, told) = std::sync::mpsc::channel();
    for (n, (name, claim)) in names.iter().zip(&claims).enumerate() {
        let mut commit = Commit::new();
        let member = commit.member(name.clone(), claim.epoch, claim.last);
        member.event(Event::new("noted", 1, Vec::new()), claim.hash);
        let tell = tell.clone();
        store.commit(commit, Box::new(move |outcome| tell.send((n, outcome)).unwrap()));
    }
    drop(tell);
    for (n, outcome) in told {
        match outcome {
            StoreOutcome::Committed(_) => assert_ne!(n % 3, 0),
            StoreOutcome::Refused(CommitRefusal::Fenced { entity, .. }) => {
                assert_eq!((n % 3, entity), (0, names[n].clone()))
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(read(&store, &names[n]).len(), usize::from(n % 3 != 0));
    }
}

#[test]
fn a_file_of_something_else_is_refused_and_stays_as_it_is() {
    let folder = folder();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "shopping: milk, eggs, and a good deal more than a hundred bytes of it, so that it could be a header")
        .unwrap();
    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1);")
        .unwrap();
    for path in [&text, &other] {
        let before = fs::read(path).unwrap();
        let error = SqliteStore::open(path).unwrap_err();
        assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
        assert_eq!(fs::read(path).unwrap(), before);
    }
    assert_eq!(names_in(&folder), ["notes.txt", "other.db"]);
}

#[test]
fn the_wal_of_something_else_stays_as_it_is() {
    let (theirs, ours) = (folder(), folder());
    let path = theirs.path().join("other.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1);")
        .unwrap();
    for name in ["other.db", "other.db-wal"] {
        fs::copy(theirs.path().join(name), ours.path().join(name)).unwrap();
    }
    let read =
        || ["other.db", "other.db-wal"].map(|name| fs::read(ours.path().join(name)).unwrap());
    let before = read();
    assert!(!before[1].is_empty());
    let error = SqliteStore::open(ours.path().join("other.db")).unwrap_err();
    assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
    assert_eq!(read(), before);
}

#[test]
fn a_file_of_a_later_version_is_refused() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    drop(open(&path));
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(matches!(error, OpenError::Newer { found: 99, .. }), "{error}");
    assert!(error.to_string().contains("format 99"), "{error}");
}

#[test]
fn tools_read_while_it_is_open() {
    let folder = folder();
    let (path, alice) = (folder.path().join("bank.db"), EntityId::new("account", "alice"));
    let store = open(&path);
    let tool =
        rusqlite::Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
            .unwrap();
    for n in 1..10 {
        write(&store, &alice, "x");
        let count: i64 =
            tool.query_row("SELECT count(*) FROM event", [], |row| row.get(0)).unwrap();
        assert_eq!(count, n);
    }
}

/// A file that an earlier version has written. 1: three accounts of the example `bank`, with
/// snapshots. 2: two accounts with snapshots, of which the first one has a note of each kind, and a
/// state without events.
fn of_version(version: u32, folder: &TempDir) -> std::path::PathBuf {
    let path = folder.path().join("bank.db");
    fs::copy(format!("tests/files/version-{version}.db"), &path).unwrap();
    path
}

fn tagged(reader: &dyn StoreReader, tag: &str) -> Vec<LogEntry> {
    let which = LogQuery::Tag { tag: tag.into(), kind: None };
    wait(|done| reader.log(which, Position::ZERO, 1_000, done)).unwrap()
}

#[test]
fn a_file_of_version_1_goes_on() {
    let folder = folder();
    let path = of_version(1, &folder);
    let account = EntityId::new("bank.account", "1");
    let all = |reader: &dyn StoreReader| {
        let log =
            wait(|done| reader.log("bank.account".into(), Position::ZERO, 1_000, done)).unwrap();
        let listed = wait(|done| reader.entities(None, None, 10, done)).unwrap();
        let kept = wait(|done| reader.snapshots(account.clone(), done)).unwrap();
        let notes = NoteQuery::Of { entity: account.clone(), after: None };
        let notes = wait(|done| reader.notes(notes, 10, done)).unwrap();
        (log, listed, kept, notes)
    };
    let before = all(&SqliteReader::open(&path).expect("it can be read as it is"));
    assert_eq!((before.0.len(), before.1.len(), before.2.len()), (323, 3, 1));
    let store = open(&path);
    assert_eq!(all(&store), before);
    let claim = wait(|done| store.claim(account.clone(), done)).unwrap();
    assert_eq!((claim.last, claim.hash), (before.1[1].last, before.1[1].hash));
    assert_eq!(claim.snapshot.as_ref(), before.2.first());
    let mut commit = Commit::new();
    let member = commit.member(account.clone(), claim.epoch, claim.last);
    member.put_note(NoteKind::Timer, "new".into(), 1, Event::new("new", 1, Vec::new()));
    assert!(matches!(wait(|done| store.commit(commit, done)), StoreOutcome::Committed(_)));
    drop(store);
    let after = all(&open(&path));
    assert_eq!((after.0, after.3.len()), (before.0, 1));
}

#[test]
fn a_file_of_version_2_goes_on() {
    let folder = folder();
    let path = of_version(2, &folder);
    let (account, settings) =
        (EntityId::new("bank.account", "0"), EntityId::new("settings", "alice"));
    let all = |reader: &dyn StoreReader| {
        let log =
            wait(|done| reader.log("bank.account".into(), Position::ZERO, 1_000, done)).unwrap();
        let listed = wait(|done| reader.entities(None, None, 10, done)).unwrap();
        let kept = [&account, &settings]
            .map(|one| wait(|done| reader.snapshots(one.clone(), done)).unwrap());
        let notes = NoteQuery::Of { entity: account.clone(), after: None };
        let notes = wait(|done| reader.notes(notes, 10, done)).unwrap();
        let ranked = NoteKind::ALL.map(|kind| {
            let ranked = NoteQuery::Ranked { kind, after: None, up_to: u64::MAX };
            wait(|done| reader.notes(ranked, 10, done)).unwrap()
        });
        assert_eq!(ranked.concat(), notes);
        (log, listed, kept, notes)
    };
    let reader = SqliteReader::open(&path).expect("it can be read as it is");
    let before = all(&reader);
    assert_eq!((before.0.len(), before.1.len(), before.3.len()), (60, 3, 4));
    assert_eq!(before.2.each_ref().map(Vec::len), [2, 1]);
    assert_eq!((tagged(&reader, "vip"), reader.check().unwrap()), (vec![], vec![]));
    let store = open(&path);
    assert_eq!((all(&store), tagged(&store, "vip")), (before.clone(), vec![]));
    // One that was opened before goes on as well.
    assert_eq!((all(&reader), tagged(&reader, "vip")), (before.clone(), vec![]));
    let now = [&account, &settings].map(|one| wait(|done| store.claim(one.clone(), done)).unwrap());
    assert_eq!(now[1].snapshot.as_ref(), before.2[1].first());
    let mut commit = Commit::new();
    let member = commit.member(account.clone(), now[0].epoch, now[0].last);
    let hash = member.event(Event::new("new", 1, Vec::new()), now[0].hash);
    member.tag(Tags::new(["vip"]));
    member.snapshot(Event::new("new", 1, Vec::new()), hash);
    member.remove_note(NoteKind::Timer, "fee".into());
    let member = commit.member(settings.clone(), now[1].epoch, now[1].last);
    member.replace(Event::new("settings", 2, Vec::new()), now[1].hash);
    assert!(matches!(wait(|done| store.commit(commit, done)), StoreOutcome::Committed(_)));
    drop((store, reader));
    let store = open(&path);
    let after = all(&store);
    assert_eq!((&after.0[..60], after.0.len(), after.3.len()), (&before.0[..], 61, 3));
    assert_eq!(tagged(&store, "vip"), after.0[60..]);
    drop(store);
    assert_eq!(SqliteReader::open(&path).unwrap().check().unwrap(), []);
}

/// Changes of rows that can be read nevertheless.
#[test]
fn what_a_snapshot_and_a_note_say_is_checked() {
    let folder = folder();
    let (path, alice) = (folder.path().join("bank.db"), EntityId::new("account", "alice"));
    let store = open(&path);
    let now = wait(|done| store.claim(alice.clone(), done)).unwrap();
    let mut commit = Commit::new();
    let member = commit.member(alice.clone(), now.epoch, now.last);
    let said = |text: &str| Event::new("said", 1, text.as_bytes().to_vec());
    let hash = member.event(said("once"), now.hash);
    member.snapshot(said("once"), hash);
    member.put_note(NoteKind::Timer, "fee".into(), 7, said("5"));
    member.put_note(NoteKind::DeadLetter, "m".into(), 7, said("6"));
    assert!(matches!(wait(|done| store.commit(commit, done)), StoreOutcome::Committed(_)));
    // (Another entity, whose row the note may be put to.)
    write(&store, &EntityId::new("account", "bob"), "x");
    let change = |sql: &str| {
        let file = rusqlite::Connection::open(&path).unwrap();
        assert_eq!(file.execute(sql, []).unwrap(), 1, "{sql}");
    };
    let snapshot = || wait(|done| store.claim(alice.clone(), done)).unwrap().snapshot.unwrap();
    assert_eq!(snapshot().check(&alice), Ok(()));
    for (damaged, sound) in [
        ("payload = CAST('more' AS BLOB)", "payload = CAST('once' AS BLOB)"),
        ("version = 2", "version = 1"),
        ("name = CAST('sajd' AS BLOB)", "name = CAST('said' AS BLOB)"),
        ("hash = hash + 1", "hash = hash - 1"),
        ("seq = 2", "seq = 1"),
        ("sum = sum + 1", "sum = sum - 1"),
    ] {
        change(&format!("UPDATE snapshot SET {damaged}"));
        let error = snapshot().check(&alice).unwrap_err();
        assert!(
            matches!(&error, StoreError::Corrupt { entity, .. } if *entity == alice),
            "{damaged}: {error}"
        );
        let kept = wait(|done| store.snapshots(alice.clone(), done)).unwrap();
        assert_eq!(kept[0].check(&alice), Err(error));
        change(&format!("UPDATE snapshot SET {sound}"));
        assert_eq!(snapshot().check(&alice), Ok(()));
    }
    let ranked = || {
        let timers = NoteQuery::Ranked { kind: NoteKind::Timer, after: None, up_to: 9 };
        wait(|done| store.notes(timers, 9, done)).map(|notes| notes.len())
    };
    assert_eq!(ranked(), Ok(1));
    let of_timer = "WHERE kind = 4";
    for (damaged, sound) in [
        ("payload = CAST('9' AS BLOB)", "payload = CAST('5' AS BLOB)"),
        ("version = 2", "version = 1"),
        ("version = 1 << 32", "version = 1"),
        ("name = CAST('sajd' AS BLOB)", "name = CAST('said' AS BLOB)"),
        ("rank = 8", "rank = 7"),
        ("rank = -7", "rank = 7"),
        ("key = CAST('fie' AS BLOB)", "key = CAST('fee' AS BLOB)"),
        ("entity = 2", "entity = 1"),
        ("sum = sum + 1", "sum = sum - 1"),
    ] {
        change(&format!("UPDATE note SET {damaged} {of_timer}"));
        let error = ranked().unwrap_err();
        assert!(
            matches!(&error, StoreError::CorruptNote { note, .. } if note.kind == NoteKind::Timer),
            "{damaged}: {error}"
        );
        // Others can be read.
        let which = NoteQuery::Of { entity: alice.clone(), after: None };
        assert_eq!(wait(|done| store.notes(which, 1, done)).map(|notes| notes.len()), Ok(1));
        change(&format!("UPDATE note SET {sound} {of_timer}"));
        assert_eq!(ranked(), Ok(1));
    }
    // One of another kind.
    change("UPDATE note SET kind = 3 WHERE kind = 4");
    let which = NoteQuery::Of { entity: alice.clone(), after: None };
    let error = wait(|done| store.notes(which, 9, done)).unwrap_err();
    let expected = "the note \"fee\" (ClientAnswer) of `account/alice` is damaged: it was changed";
    assert!(error.to_string().starts_with(expected), "{error}");
}

/// In the order of its primary key, so that what comes later in it is not looked at.
#[test]
fn the_log_of_a_tag_is_read_along_its_index() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    drop(open(&path));
    let file = rusqlite::Connection::open(&path).unwrap();
    let plan = |query: &str| -> Vec<String> {
        let mut explained = file.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
        explained.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect()
    };
    let steps = plan(
        "SELECT * FROM tag CROSS JOIN event ON event.entity = tag.entity AND event.seq = tag.seq
         CROSS JOIN entity ON entity.id = event.entity
         WHERE tag.tag = X'00' AND tag.position > 5 AND tag.position <= 9
         ORDER BY tag.position, entity.kind, entity.key, event.seq LIMIT 4",
    );
    assert!(steps[0].contains("PRIMARY KEY (tag=? AND position>? AND position<?)"), "{steps:?}");
    assert!(steps.iter().any(|step| step.contains("LAST 3 TERMS OF ORDER BY")), "{steps:?}");
}

#[test]
fn a_reader_sees_what_an_owner_writes() {
    let folder = folder();
    let (path, alice) = (folder.path().join("bank.db"), EntityId::new("account", "alice"));
    assert!(matches!(SqliteReader::open(&path), Err(OpenError::NotFound { .. })));
    assert!(!path.exists(), "nothing is made");
    let store = open(&path);
    let reader = SqliteReader::open(&path).unwrap();
    for n in 1..=3 {
        assert!(matches!(write(&store, &alice, "x"), StoreOutcome::Committed(_)));
        let read = wait(|done| reader.events(alice.clone(), Seq::ZERO, 10, done)).unwrap();
        assert_eq!(read.len(), n);
    }
    let other = folder.path().join("empty.db");
    fs::write(&other, "").unwrap();
    assert!(matches!(SqliteReader::open(&other), Err(OpenError::NotAStore { .. })));
    fs::write(&other, "no database, but long enough that it is looked at".repeat(20)).unwrap();
    assert!(matches!(SqliteReader::open(&other), Err(OpenError::NotAStore { .. })));
}

#[test]
fn old_decisions_are_forgotten() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    let store = open(&path);
    let (tell, told) = std::sync::mpsc::channel();
    let mut last = None;
    for _ in 0..100_000 {
        let commit = Commit::new();
        last = Some(commit.id());
        let tell = tell.clone();
        store.commit(commit, Box::new(move |outcome| tell.send(outcome).unwrap()));
    }
    drop(tell);
    assert!(told.iter().all(|outcome| matches!(outcome, StoreOutcome::Committed(_))));
    let count = || {
        let file = rusqlite::Connection::open(&path).unwrap();
        file.query_row("SELECT count(*) FROM decision", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let kept = count();
    assert!((1 << 16..80_000).contains(&kept), "{kept}");
    let settled = wait(|done| store.settle(last.unwrap(), done)).unwrap();
    assert_eq!(settled, CommitSettlement::Committed(Position::new(100_000)));
}

/// Neither into the file, nor into its log of what is to be written.
#[test]
fn a_check_writes_nothing() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    let (store, alice) = (open(&path), EntityId::new("account", "alice"));
    write(&store, &alice, "1");
    let now = wait(|done| store.claim(alice.clone(), done)).unwrap();
    let bytes = || {
        let parts = ["", "-wal"].map(|end| folder.path().join(format!("bank.db{end}")));
        parts.map(|part| fs::read(part).unwrap())
    };
    let (before, transactions) = (bytes(), store.transactions());
    let check = |epoch| {
        let mut check = Commit::new();
        check.member(alice.clone(), epoch, now.last).rests_on(now.hash);
        check.make_check();
        wait(|done| store.commit(check, done))
    };
    for _ in 0..3 {
        assert_eq!(check(now.epoch), StoreOutcome::Committed(now.position));
        assert!(matches!(
            check(now.epoch.next()),
            StoreOutcome::Refused(CommitRefusal::Fenced { .. })
        ));
    }
    assert!(bytes() == before, "something was written");
    assert_eq!(store.transactions(), transactions);
}

#[test]
fn what_is_called_with_a_result_may_panic() {
    let folder = folder();
    let (path, alice) = (folder.path().join("bank.db"), EntityId::new("account", "alice"));
    let store = open(&path);
    let (tell, told) = std::sync::mpsc::channel();
    let panics = move || {
        tell.send(()).unwrap();
        panic!("expected: one of the program");
    };
    let (claimed, committed, settled) = (panics.clone(), panics.clone(), panics.clone());
    let (read, logged) = (panics.clone(), panics);
    store.claim(alice.clone(), Box::new(move |_| claimed()));
    store.commit(Commit::new(), Box::new(move |_| committed()));
    store.settle(Commit::new().id(), Box::new(move |_| settled()));
    store.events(alice.clone(), Seq::ZERO, 1, Box::new(move |_| read()));
    store.log("account".into(), Position::ZERO, 1, Box::new(move |_| logged()));
    assert_eq!(told.iter().count(), 5);
    assert!(matches!(write(&store, &alice, "x"), StoreOutcome::Committed(_)));
    assert_eq!(read_texts(&store, &alice), ["x"]);
}

/// All is in the file, whether it was read before or not.
#[test]
fn the_file_has_all_when_the_store_is_dropped() {
    let folder = folder();
    let (path, alice) = (folder.path().join("bank.db"), EntityId::new("account", "alice"));
    for n in 1..4 {
        let store = open(&path);
        if n != 1 {
            read(&store, &alice);
        }
        write(&store, &alice, "x");
        drop(store);
        assert!(!folder.path().join("bank.db-wal").exists());
        let copy = folder.path().join("copy.db");
        fs::copy(&path, &copy).unwrap();
        assert_eq!(read(&open(&copy), &alice).len(), n);
    }
}

#[test]
fn a_frozen_reader_shows_one_moment() {
    let folder = folder();
    let (path, alice) = (folder.path().join("bank.db"), EntityId::new("account", "alice"));
    let store = open(&path);
    write(&store, &alice, "before");
    let (frozen, reader) = (SqliteReader::open(&path).unwrap(), SqliteReader::open(&path).unwrap());
    frozen.freeze().unwrap();
    write(&store, &alice, "behind");
    let count = |reader: &SqliteReader| {
        wait(|done| reader.events(alice.clone(), Seq::ZERO, 10, done)).unwrap().len()
    };
    assert_eq!((count(&frozen), count(&reader)), (1, 2));
    assert_eq!(frozen.check().unwrap(), []);
    assert_eq!(reader.check().unwrap(), []);
}

#[test]
fn what_no_reader_can_see_is_found() {
    let folder = folder();
    let (path, alice) = (folder.path().join("bank.db"), EntityId::new("account", "alice"));
    write(&open(&path), &alice, "once");
    let found = |sql: &str| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute(sql, []).unwrap();
        SqliteReader::open(&path).unwrap().check().unwrap()
    };
    let hidden = Irregularity::Hidden { entity: alice.clone(), last: Seq::new(1) };
    assert_eq!(found("UPDATE entity SET last = 0"), [hidden]);
    let counter = Irregularity::Counter { counted: Some(0), last: 1 };
    assert_eq!(found("UPDATE entity SET last = 1"), []);
    assert_eq!(found("UPDATE counter SET position = 0"), [counter]);
    assert_eq!(found("UPDATE counter SET position = 1"), []);
    let behind = Irregularity::Counter { counted: Some(1), last: 7 };
    assert_eq!(found("INSERT INTO decision VALUES (X'07', 7)"), [behind]);
    assert_eq!(found("DELETE FROM decision WHERE id = X'07'"), []);
    let unknown = Irregularity::UnknownNotes { entity: alice, kind: 9, rows: 1 };
    assert_eq!(
        found(
            "INSERT INTO note (entity, kind, key, rank, name, version, payload) VALUES (1, 9, X'', 0, X'', 1, X'')"
        ),
        [unknown]
    );
    let orphans = Irregularity::Orphans { table: "note", owner: 7, rows: 1 };
    assert_eq!(found("UPDATE note SET entity = 7, kind = 1"), [orphans]);
    assert_eq!(found("DELETE FROM note"), []);
    let stray =
        Irregularity::StrayTag { entity: EntityId::new("account", "alice"), seq: Seq::new(1) };
    assert_eq!(found("INSERT INTO tag VALUES (CAST('x' AS BLOB), 2, 1, 1)"), [stray]);
    assert_eq!(found("UPDATE tag SET position = 1"), []);
    let orphans = Irregularity::Orphans { table: "tag", owner: 7, rows: 1 };
    assert_eq!(found("UPDATE tag SET entity = 7"), [orphans]);
}

/// It says so, and nothing waits.
#[test]
fn a_counter_that_is_damaged_is_told() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    let alice = EntityId::new("account", "alice");
    assert!(matches!(write(&open(&path), &alice, "before"), StoreOutcome::Committed(_)));
    for counter in [i64::MAX, i64::MAX - 1, -1, -2, i64::MIN] {
        let file = rusqlite::Connection::open(&path).unwrap();
        file.execute("UPDATE counter SET position = ?1", [counter]).unwrap();
        drop(file);
        let found = SqliteReader::open(&path).unwrap().check().unwrap();
        assert!(matches!(found[..], [Irregularity::Counter { .. }]), "{found:?}");
        let error = wait(|done| open(&path).claim(alice.clone(), done)).unwrap_err();
        let text = format!("the counter of commits is at {counter}");
        assert!(error.to_string().contains(&text), "{error}");
    }
}

#[test]
fn what_a_tool_has_changed_against_advice_is_seen() {
    let folder = folder();
    let (path, alice) = (folder.path().join("bank.db"), EntityId::new("account", "alice"));
    let store = open(&path);
    let claim = wait(|done| store.claim(alice.clone(), done)).unwrap();
    let commit = |after: Seq| {
        let mut commit = Commit::new();
        let member = commit.member(alice.clone(), claim.epoch, after);
        member.event(Event::new("noted", 1, Vec::new()), claim.hash);
        wait(|done| store.commit(commit, done))
    };
    assert!(matches!(commit(Seq::ZERO), StoreOutcome::Committed(_)));
    let tool = rusqlite::Connection::open(&path).unwrap();
    tool.execute("UPDATE entity SET epoch = epoch + 1", []).unwrap();
    let outcome = commit(Seq::new(1));
    assert!(matches!(outcome, StoreOutcome::Refused(CommitRefusal::Fenced { .. })), "{outcome:?}");
}

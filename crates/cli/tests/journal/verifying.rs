//! `verify`.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;

use crate::world::{Entity, World, coact, deposited, records};

#[test]
fn what_is_sound_is_told_so() {
    let world = World::new();
    let text = coact(&world.path, &["verify"]).well();
    assert_eq!(text, "sound: 4 entities, 8 events, 3 snapshots, 5 notes\n");
    let sums = records(&coact(&world.path, &["verify", "--json"]).well());
    let expected = serde_json::json!({
        "record": "summary", "verdict": "sound", "entities": 4, "events": 8, "snapshots": 3, "notes": 5,
        "findings": 0, "unreadable": 0
    });
    assert_eq!(sums, [expected]);
    let orders = coact(&world.path, &["verify", "--kind", "bank.order"]).well();
    assert_eq!(orders, "sound: 1 entity, 0 events, 1 snapshot, 0 notes\n");
    let empty = World::empty();
    drop(empty.store());
    let text = coact(&empty.path, &["verify"]).well();
    assert_eq!(text, "sound: 0 entities, 0 events, 0 snapshots, 0 notes\n");
}

#[test]
fn a_file_of_version_1_is_sound() {
    let world = World::empty();
    fs::copy("../sqlite/tests/files/version-1.db", &world.path).expect("it can be copied");
    let before = fs::read(&world.path).expect("it can be read");
    let text = coact(&world.path, &["verify"]).well();
    assert_eq!(text, "sound: 3 entities, 323 events, 3 snapshots, 0 notes\n");
    let list = coact(&world.path, &["list"]).well();
    assert!(list.ends_with("3 entities, 323 events, the last one in commit 163\n"), "{list}");
    assert_eq!(fs::read(&world.path).expect("it can be read"), before);
}

#[test]
fn a_file_of_version_2_is_sound() {
    let world = World::empty();
    fs::copy("../sqlite/tests/files/version-2.db", &world.path).expect("it can be copied");
    let text = coact(&world.path, &["verify"]).well();
    assert_eq!(text, "sound: 3 entities, 60 events, 5 snapshots, 4 notes\n");
    // (What has no sum is not checked.)
    world.damage("UPDATE snapshot SET version = 9");
    assert_eq!(coact(&world.path, &["verify"]).well(), text);
    drop(world.store());
    assert_eq!(coact(&world.path, &["verify"]).well(), text);
}

const ALICE: &str = "(SELECT id FROM entity WHERE key = CAST('alice' AS BLOB))";
const BOB: &str = "(SELECT id FROM entity WHERE key = CAST('bob' AS BLOB))";

/// What is found after a change, as code, key and event.
fn found(sql: &str) -> Vec<(String, String, u64)> {
    let world = World::new();
    world.damage(sql);
    let told = coact(&world.path, &["verify", "--json"]);
    assert_eq!((told.status, &*told.err), (1, ""), "{}", told.out);
    let mut all = records(&told.out);
    let sums = all.pop().expect("there is a last line");
    assert_eq!(
        (&sums["verdict"], sums["findings"].as_u64()),
        (&"damaged".into(), Some(all.len() as u64))
    );
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let of = |it: &serde_json::Value| {
        assert_eq!(it["record"], "finding");
        (text(&it["code"]), text(&it["key"]), it["seq"].as_u64().unwrap_or_default())
    };
    all.iter().map(of).collect()
}

#[track_caller]
fn assert_found(sql: &str, expected: &[(&str, &str, u64)]) {
    let found = found(sql);
    let found: Vec<_> = found.iter().map(|(code, key, seq)| (&**code, &**key, *seq)).collect();
    assert_eq!(found, expected, "{sql}");
}

#[test]
fn damage_to_events_is_found_where_it_is() {
    assert_found(
        &format!("UPDATE event SET payload = X'820081192711' WHERE entity = {ALICE} AND seq = 1"),
        &[("event_hash", "alice", 1)],
    );
    assert_found(
        &format!("UPDATE event SET hash = hash + 1 WHERE entity = {ALICE} AND seq = 2"),
        &[("hash_field", "alice", 2)],
    );
    assert_found(
        &format!("DELETE FROM event WHERE entity = {ALICE} AND seq = 2"),
        &[("missing", "alice", 2)],
    );
    assert_found(
        &format!("DELETE FROM event WHERE entity = {ALICE} AND seq = 3"),
        &[("missing", "alice", 3)],
    );
    assert_found(
        &format!("DELETE FROM event WHERE entity = {ALICE} AND seq = 1"),
        &[("missing", "alice", 1)],
    );
    assert_found(
        &format!("UPDATE event SET name = X'ff' WHERE entity = {BOB} AND seq = 5"),
        &[("event_hash", "bob", 5)],
    );
    assert_found(
        &format!("UPDATE event SET position = 1 WHERE entity = {BOB} AND seq = 5"),
        &[("position_order", "bob", 5)],
    );
    // Events of one as those of another.
    assert_found(
        &format!("UPDATE event SET entity = 99 WHERE entity = {ALICE}"),
        &[("orphans", "", 0), ("missing", "alice", 1)],
    );
}

#[test]
fn damage_to_rows_is_found() {
    assert_found(
        "UPDATE entity SET hash = 7 WHERE key = CAST('alice' AS BLOB)",
        &[("entity_row", "alice", 3)],
    );
    assert_found(
        "UPDATE entity SET last = 2 WHERE key = CAST('alice' AS BLOB)",
        &[("entity_row", "alice", 3)],
    );
    assert_found(
        "UPDATE entity SET last = 9 WHERE key = CAST('alice' AS BLOB)",
        &[("missing", "alice", 4)],
    );
    assert_found(
        "UPDATE entity SET last = 0 WHERE key = CAST('alice' AS BLOB)",
        &[("entity_row", "alice", 3)],
    );
    assert_found(
        "UPDATE entity SET key = CAST('alicf' AS BLOB) WHERE key = CAST('alice' AS BLOB)",
        &[&[("event_hash", "alicf", 1)][..], &[("note_sum", "alicf", 0); 5]].concat(),
    );
    assert_found(
        "UPDATE entity SET key = X'ff' WHERE key = CAST('bob' AS BLOB)",
        &[("not_text", "\u{fffd}", 0), ("missing", "\u{fffd}", 1)],
    );
    for epoch in ["0", "-1"] {
        assert_found(
            &format!("UPDATE entity SET epoch = {epoch} WHERE key = CAST('alice' AS BLOB)"),
            &[("epoch", "alice", 0)],
        );
    }
    // A state without events was claimed as well.
    assert_found(
        "UPDATE entity SET epoch = 0 WHERE kind = CAST('bank.order' AS BLOB)",
        &[("epoch", "2026/11/27", 0)],
    );
    assert_found("UPDATE counter SET position = 5", &[("counter", "", 0)]);
    // An event behind the counter, and those of commits that cannot be.
    assert_found(
        &format!("UPDATE event SET position = 99 WHERE entity = {ALICE} AND seq = 3"),
        &[("counter", "", 0)],
    );
    for position in ["0", "-1"] {
        assert_found(
            &format!("UPDATE event SET position = {position} WHERE entity = {ALICE} AND seq = 3"),
            &[("position", "alice", 3)],
        );
        assert_found(
            &format!("UPDATE event SET position = {position} WHERE entity = {BOB} AND seq = 4"),
            &[("position", "bob", 4)],
        );
    }
    assert_found("DELETE FROM counter", &[("counter", "", 0)]);
    assert_found("UPDATE note SET kind = 77 WHERE kind = 4", &[("unknown_notes", "alice", 0)]);
    assert_found("INSERT INTO snapshot VALUES (99, 1, 1, X'', 1, X'', 1)", &[("orphans", "", 0)]);
}

#[test]
fn damage_to_snapshots_is_found() {
    assert_found(
        &format!("UPDATE snapshot SET hash = 7 WHERE entity = {BOB} AND seq = 4"),
        &[("snapshot_hash", "bob", 4)],
    );
    assert_found(
        &format!("UPDATE snapshot SET seq = 8 WHERE entity = {BOB} AND seq = 4"),
        &[("snapshot_ahead", "bob", 8)],
    );
    // The one behind which events were trimmed.
    assert_found(
        &format!("UPDATE snapshot SET hash = 7 WHERE entity = {BOB} AND seq = 2"),
        &[("event_hash", "bob", 3), ("snapshot_sum", "bob", 2)],
    );
    assert_found(&format!("DELETE FROM snapshot WHERE entity = {BOB}"), &[("missing", "bob", 1)]);
    let order = "(SELECT id FROM entity WHERE kind = CAST('bank.order' AS BLOB))";
    assert_found(
        &format!("UPDATE snapshot SET hash = 7 WHERE entity = {order}"),
        &[("state_hash", "2026/11/27", 2)],
    );
    assert_found(
        &format!("DELETE FROM snapshot WHERE entity = {order}"),
        &[("missing", "2026/11/27", 1)],
    );
}

/// What can be read, and is something else than was stored.
#[test]
fn damage_to_contents_is_found() {
    let seven = "X'820718f5'";
    assert_found(
        &format!("UPDATE snapshot SET payload = {seven} WHERE entity = {BOB} AND seq = 4"),
        &[("snapshot_sum", "bob", 4)],
    );
    assert_found(
        &format!("UPDATE snapshot SET version = 1 WHERE entity = {BOB} AND seq = 2"),
        &[("snapshot_sum", "bob", 2)],
    );
    let order = "(SELECT id FROM entity WHERE kind = CAST('bank.order' AS BLOB))";
    assert_found(
        &format!("UPDATE snapshot SET payload = {seven} WHERE entity = {order}"),
        &[("snapshot_sum", "2026/11/27", 2)],
    );
    for (change, kind) in [
        (&format!("payload = {seven}")[..], 1),
        ("rank = rank + 1", 2),
        ("key = X'ff01'", 3),
        ("name = CAST('bank.withdrawn' AS BLOB)", 1),
    ] {
        let change = format!("UPDATE note SET {change} WHERE kind = {kind}");
        assert_found(&change, &[("note_sum", "alice", 0)]);
    }
    assert_found("UPDATE note SET rank = rank + 1", &[("note_sum", "alice", 0); 5]);
    assert_found("UPDATE note SET version = 1 << 40", &[("note_sum", "alice", 0); 5]);
    assert_found("UPDATE snapshot SET version = -1 WHERE seq = 4", &[("snapshot_sum", "bob", 4)]);
    assert_found("INSERT INTO tag VALUES (X'78', 1, 1, 99)", &[("stray_tag", "alice", 99)]);
    assert_found("INSERT INTO tag VALUES (X'78', 9, 1, 1)", &[("stray_tag", "alice", 1)]);
}

/// Damage is named, and keeps no other row from being shown.
#[test]
fn what_is_damaged_is_shown_as_it_is() {
    let world = World::new();
    world.damage(&format!("UPDATE snapshot SET version = 1 WHERE entity = {BOB} AND seq = 4"));
    world.damage("UPDATE note SET rank = 8 WHERE kind = 4 AND rank = 7");
    let told = coact(&world.path, &["verify", "--width", "80"]);
    let expected = [
        "bank.account alice: its timer soon is damaged: it was changed after it was",
        "bank.account bob: snapshot 4 was changed or moved (its check sum is",
        "DAMAGED, 2 findings: 4 entities, 8 events, 3 snapshots, 5 notes",
    ];
    for line in expected {
        assert!(told.out.lines().any(|it| it.starts_with(line)), "{line}: {}", told.out);
    }
    let alice = coact(&world.path, &["show", "bank.account", "alice"]).well();
    let damaged: Vec<_> = alice.lines().filter(|line| line.contains("(damaged: see")).collect();
    assert!(
        matches!(&damaged[..], [line] if line.trim().starts_with("soon (damaged: see `verify`) ")),
        "{alice}"
    );
    assert!(alice.contains("\"monthly fee\""), "{alice}");
    let bob = coact(&world.path, &["show", "bank.account", "bob"]).well();
    assert!(bob.contains("\n  snapshot    up to event 4 (damaged: see `verify`), hash "), "{bob}");
    assert_eq!(bob.matches("damaged").count(), 1, "{bob}");
    let list = coact(&world.path, &["list"]).well();
    assert!(list.contains("bank.account  alice"), "{list}");
    assert!(list.contains("11  4 (damaged)    -"), "{list}");
    assert_eq!(list.matches("damaged").count(), 1, "{list}");
    let all = records(&coact(&world.path, &["export"]).well());
    let damaged: Vec<_> = all.iter().filter(|it| it["damaged"] == true).collect();
    assert_eq!(damaged.len(), 2, "{damaged:?}");
    assert_eq!(damaged[0]["note_key"]["text"], "soon");
    assert_eq!(
        (&damaged[1]["record"], &damaged[1]["seq"]),
        (&"snapshot".into(), &serde_json::json!(4))
    );
    let all = records(&coact(&world.path, &["list", "--json"]).well());
    let damaged = |it: &serde_json::Value| it["snapshot"]["damaged"] == true;
    let damaged: Vec<_> = all.iter().filter(|it| damaged(it)).map(|it| &it["key"]).collect();
    assert_eq!(damaged, ["bob"]);
    let all = records(&coact(&world.path, &["export"]).well());
    assert_eq!(all.last().expect("it is complete")["notes"], 5);
}

/// A message's key is an epoch and a number, whatever became of the message itself.
#[test]
fn damaged_notes_have_the_same_names_as_shown_ones() {
    let world = World::new();
    let key = "X'00000000000000070000000000000009'";
    // (The message is damaged in its key and content, the dead letter in its key.)
    world.damage(&format!("UPDATE note SET key = {key}, payload = X'ff' WHERE kind = 1"));
    world.damage(&format!("UPDATE note SET key = {key} WHERE kind = 2"));
    // A timer's key is a name, even one of 16 bytes that begins with zeros.
    world.damage(&format!("UPDATE note SET key = {key} WHERE kind = 4 AND rank = 7"));
    let told = coact(&world.path, &["verify"]).out;
    let shown = coact(&world.path, &["show", "bank.account", "alice"]).well();
    let damaged = shown.lines().filter_map(|line| line.trim().split_once(" (damaged"));
    let damaged: Vec<_> = damaged.map(|(key, _)| key).collect();
    let timer = r#""\0\0\0\0\0\0\0\u{7}\0\0\0\0\0\0\0\t""#;
    assert_eq!(damaged, ["7.9", "7.9", timer], "{shown}");
    for named in ["outgoing message 7.9 ", "dead letter 7.9 ", &format!("timer {timer} ")] {
        assert_eq!(told.matches(&named).count(), 1, "{named}: {told}");
    }
}

#[test]
fn findings_say_what_they_mean() {
    let world = World::new();
    world.damage(&format!("DELETE FROM event WHERE entity = {ALICE} AND seq = 2"));
    world.damage(&format!("UPDATE event SET payload = X'f6' WHERE entity = {BOB} AND seq = 5"));
    let told = coact(&world.path, &["verify", "--width", "80"]);
    let hash = |which: usize| {
        let words = told.out.split(|c: char| !c.is_ascii_alphanumeric());
        words.filter(|word| word.len() == 16).nth(which).unwrap_or_default().to_owned()
    };
    let expected = format!(
        "\
bank.account alice: event 2 is missing; restore a backup: only a snapshot behind
    the gap can be recovered.
bank.account bob: event 5 was changed or moved (its hash is {},
    and should be {}); restore a backup: the entity is not
    recovered past the event before it.
DAMAGED, 2 findings: 4 entities, 7 events, 3 snapshots, 5 notes
",
        hash(0),
        hash(1)
    );
    assert_eq!((told.status, &*told.out), (1, &*expected));
}

/// Each finding is one sentence: no fact comes twice, and no text of an error has advice of its
/// own.
#[test]
fn findings_do_not_repeat_themselves() {
    let order = "(SELECT id FROM entity WHERE kind = CAST('bank.order' AS BLOB))";
    for sql in [
        &format!("DELETE FROM event WHERE entity = {ALICE}")[..],
        &format!("UPDATE event SET payload = X'f6' WHERE entity = {BOB} AND seq = 4"),
        &format!("UPDATE event SET hash = 1 WHERE entity = {BOB} AND seq = 4"),
        &format!("UPDATE event SET position = 1 WHERE entity = {BOB} AND seq = 5"),
        "UPDATE event SET name = X'ff' WHERE seq = 1",
        "UPDATE entity SET last = last - 1, hash = 7 WHERE last > 1",
        "UPDATE entity SET hash = 7",
        "UPDATE entity SET last = 0",
        "UPDATE entity SET key = X'ff' WHERE id = 1",
        "UPDATE snapshot SET version = 7",
        "UPDATE snapshot SET seq = seq + 4",
        &format!("UPDATE snapshot SET hash = 7 WHERE entity = {order}"),
        "UPDATE note SET rank = rank + 1",
        "UPDATE note SET kind = 77 WHERE kind = 4",
        "UPDATE note SET entity = 77 WHERE kind = 4",
        "INSERT INTO tag VALUES (X'78', 1, 1, 99)",
        "UPDATE entity SET epoch = 0",
        "UPDATE entity SET epoch = -1",
        "UPDATE event SET position = 0",
        "UPDATE counter SET position = 5",
        "DELETE FROM counter",
    ] {
        let world = World::new();
        world.damage(sql);
        let told = coact(&world.path, &["verify"]);
        let mut lines: Vec<_> = told.out.lines().collect();
        assert!(lines.pop().is_some_and(|last| last.starts_with("DAMAGED, ")), "{}", told.out);
        for line in lines {
            assert_eq!(line.matches("; ").count(), 1, "{sql}: {line}");
            assert_eq!(line.matches(". ").count(), 0, "{sql}: {line}");
            for fact in ["changed", "damaged", "is missing", "backup", "recovered", "event before"]
            {
                assert!(line.matches(fact).count() <= 1, "{sql}: {line}");
            }
        }
    }
}

/// Overwrites the page in which a table begins.
fn scribble(path: &Path, table: &str) {
    let connection = Connection::open(path).expect("it can be opened");
    let size: i64 =
        connection.pragma_query_value(None, "page_size", |row| row.get(0)).expect("it has one");
    let query = format!("SELECT rootpage FROM sqlite_schema WHERE name = '{table}'");
    let page: i64 = connection.query_row(&query, [], |row| row.get(0)).expect("it has one");
    drop(connection);
    let mut file = fs::File::options().write(true).open(path).expect("it can be opened");
    file.seek(SeekFrom::Start(((page - 1) * size).cast_unsigned())).expect("it is there");
    file.write_all(&[0x55; 300]).expect("it can be written");
}

#[test]
fn damage_to_the_file_is_found_and_breaks_nothing() {
    for table in ["event", "entity", "snapshot", "note", "counter", "event_by_position"] {
        let world = World::new();
        scribble(&world.path, table);
        let told = coact(&world.path, &["verify"]);
        assert_eq!((told.status, &*told.err), (1, ""), "{table}: {}", told.out);
        assert!(
            told.out.contains("the store: SQLite finds its file damaged ("),
            "{table}: {}",
            told.out
        );
        assert!(told.out.contains("\nDAMAGED, "), "{table}: {}", told.out);
    }
    let world = World::new();
    scribble(&world.path, "event");
    let said = coact(&world.path, &["list"]).refused();
    assert!(said.contains("malformed"), "{said}");
    let export = coact(&world.path, &["export"]);
    assert_eq!(export.status, 2, "{}", export.err);
    assert!(!export.out.contains("\"record\":\"end\""), "{}", export.out);
}

#[test]
fn a_file_that_ends_too_early_is_found() {
    let world = World::new();
    let length = fs::metadata(&world.path).expect("it is there").len();
    for kept in [1, 50, 100, 4_096, length / 2, length - 4_096, length - 1] {
        let part = world.folder.path().join(format!("{kept}.db"));
        let bytes = fs::read(&world.path).expect("it can be read");
        fs::write(&part, &bytes[..usize::try_from(kept).expect("it is small")])
            .expect("it can be written");
        let told = coact(&part, &["verify"]);
        assert_ne!(told.status, 0, "{kept} of {length} bytes: {}", told.out);
        assert!(!told.err.contains("panicked"), "{}", told.err);
    }
}

/// Ends the thread that writes, also if the test fails.
pub struct EndWriter<'a>(pub &'a AtomicBool);

impl Drop for EndWriter<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn it_is_sound_while_its_owner_writes() {
    let world = World::new();
    let store = world.store();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut busy: Vec<_> =
                (0..8).map(|n| Entity::claim(&store, "busy", &n.to_string())).collect();
            let mut n = 0;
            while !ended.load(Ordering::Relaxed) {
                n += 1;
                busy.iter_mut().for_each(|one| one.event(&store, deposited(n)));
            }
        });
        let _end = EndWriter(&ended);
        for _ in 0..5 {
            let text = coact(&world.path, &["verify"]).well();
            assert!(text.starts_with("sound: "), "{text}");
            let all = records(&coact(&world.path, &["export", "--kind", "busy"]).well());
            let (mut last, mut sum) = (0, 0);
            for record in &all {
                match record["record"].as_str() {
                    Some("entity") => sum += record["last"].as_u64().expect("it is a number"),
                    Some("event") => last += 1,
                    _ => {}
                }
            }
            assert_eq!(last, sum, "all is as of one moment");
            coact(&world.path, &["list"]).well();
        }
    });
    drop(store);
    coact(&world.path, &["verify"]).well();
}

/// Other entities may leave notes to one that was never claimed.
#[test]
fn an_entity_of_notes_alone_needs_no_epoch() {
    let world = World::new();
    world.damage("DELETE FROM event WHERE entity = (SELECT id FROM entity WHERE kind = CAST('journal' AS BLOB))");
    world.damage("DELETE FROM tag");
    world.damage(
        "UPDATE entity SET epoch = 0, last = 0, hash = 7 WHERE kind = CAST('journal' AS BLOB)",
    );
    let insert = "INSERT INTO note SELECT id, 4, X'78', 1, X'78', 1, X'', NULL FROM entity";
    world.damage(&format!("{insert} WHERE kind = CAST('journal' AS BLOB)"));
    let text = coact(&world.path, &["verify"]).well();
    assert!(text.starts_with("sound: 4 entities, 6 events"), "{text}");
}

/// A copy that is not in WAL mode cannot be shown as of one moment without holding up its owner.
#[test]
fn it_is_sound_while_the_owner_of_a_copy_writes() {
    let world = World::new();
    let copy = world.folder.path().join("copy.db");
    let connection = Connection::open(&world.path).expect("it can be opened");
    connection.execute("VACUUM INTO ?1", [copy.to_str()]).expect("it can be copied");
    let copy = World { path: copy, folder: world.folder };
    let store = copy.store();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut alice = Entity::claim(&store, "bank.account", "alice");
            (0..500).for_each(|n| alice.event(&store, deposited(n)));
        });
        loop {
            let is_last = writer.is_finished();
            let text = coact(&copy.path, &["verify"]).well();
            assert!(text.starts_with("sound: "), "{text}");
            if is_last {
                break;
            }
        }
    });
}

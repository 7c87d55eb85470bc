//! What is opened, what is refused, and that nothing is changed.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::world::{Entity, World, coact, deposited};

#[test]
fn what_is_no_store_is_refused_with_advice() {
    let world = World::empty();
    let said = coact(&world.path, &["list"]).refused();
    assert!(said.contains("is not there: name the file"), "{said}");
    assert_eq!(world.files(), [], "it was not made");
    let said = coact(world.folder.path(), &["list"]).refused();
    assert!(said.contains("is a folder"), "{said}");

    fs::write(&world.path, "shopping: milk, eggs, and more than the hundred bytes that a header has, so that it could be one ..")
        .expect("it can be written");
    let said = coact(&world.path, &["verify"]).refused();
    assert!(said.contains("is not a store, or damaged: file is not a database"), "{said}");
    fs::write(&world.path, "").expect("it can be written");
    let said = coact(&world.path, &["list"]).refused();
    assert!(said.contains("there is nothing in it"), "{said}");
    assert_eq!(fs::metadata(&world.path).expect("it is there").len(), 0);

    fs::remove_file(&world.path).expect("it is there");
    Connection::open(&world.path)
        .expect("it opens")
        .execute_batch("CREATE TABLE t (x)")
        .expect("it runs");
    let said = coact(&world.path, &["list"]).refused();
    assert!(said.contains("SQLite file of another program"), "{said}");
}

#[test]
fn a_later_version_is_refused() {
    let world = World::new();
    let connection = Connection::open(&world.path).expect("it opens");
    connection.pragma_update(None, "user_version", 99).expect("it can be changed");
    let said = coact(&world.path, &["verify"]).refused();
    assert!(said.contains("format 99") && said.contains("later one"), "{said}");
}

#[test]
fn a_server_that_is_not_there_is_named_and_its_password_not_told() {
    // (Nothing listens to that port.)
    for scheme in ["postgres", "PostgreSQL"] {
        let url = format!("{scheme}://bank:secret@127.0.0.1:1/bank");
        let said = coact(Path::new(&url), &["list"]).refused();
        assert!(said.contains("127.0.0.1:1") && !said.contains("secret"), "{said}");
    }
}

#[test]
fn wrong_words_say_how_it_is_used() {
    let world = World::new();
    for args in
        [&["lst"][..], &[], &["show", "one"], &["show", "\"a\"b\"", "c"], &["list", "--width", "5"]]
    {
        let told = coact(&world.path, args);
        assert_eq!((told.status, &*told.out), (2, ""), "{args:?}");
        assert!(told.err.contains("--help") || told.err.contains("Usage"), "{}", told.err);
    }
    for args in [
        &["--help"][..],
        &["list", "--help"],
        &["show", "--help"],
        &["verify", "--help"],
        &["export", "--help"],
        &["backup", "--help"],
    ] {
        let help = coact(&world.path, args).well();
        assert!(help.contains("\nExamples:\n  coact journal bank.db "), "{help}");
    }
}

const QUERIES: [&[&str]; 4] =
    [&["list"], &["show", "bank.account", "alice"], &["verify"], &["export"]];

/// (SQLite makes an empty `-wal` and a `-shm`, which has no contents: the owner and readers keep
/// apart by them.)
#[test]
fn nothing_is_changed() {
    let world = World::new();
    let before = world.files();
    for query in QUERIES {
        coact(&world.path, query).well();
    }
    let mut after = world.files();
    after.retain(|(name, bytes)| {
        !(name == "bank.db-shm" || name == "bank.db-wal" && bytes.is_empty())
    });
    assert_eq!(after, before);
}

#[test]
fn a_file_that_is_immutable_leaves_no_trace() {
    let world = World::new();
    let odd = world.folder.path().join("a folder?x=%41#1");
    fs::create_dir(&odd).expect("there is room");
    let path = odd.join("bank.db");
    fs::rename(&world.path, &path).expect("it can be moved");
    for query in QUERIES {
        let mut args = vec!["--immutable"];
        args.extend(query);
        coact(&path, &args).well();
    }
    assert_eq!(fs::read_dir(&odd).expect("it is there").count(), 1);
    let said = coact(&odd.join("none.db"), &["--immutable", "list"]).refused();
    assert!(said.contains("is not there"), "{said}");
}

/// As after a crash: what is committed is in the `-wal` only.
fn crashed() -> World {
    let (owned, crashed) = (World::new(), World::empty());
    let store = owned.store();
    Entity::claim(&store, "bank.account", "zoe").event(&store, deposited(1));
    for suffix in ["", "-wal"] {
        let of = |path: &Path| format!("{}{suffix}", path.display());
        fs::copy(of(&owned.path), of(&crashed.path)).expect("it can be copied");
    }
    crashed
}

#[test]
fn a_wal_without_an_owner_is_read() {
    let world = crashed();
    let before = world.files();
    let text = coact(&world.path, &["show", "bank.account", "zoe"]).well();
    assert!(text.contains("last event  1"), "{text}");
    coact(&world.path, &["verify"]).well();
    let mut after = world.files();
    after.retain(|(name, _)| name != "bank.db-shm");
    assert_eq!(after, before);
}

#[test]
fn a_wal_is_not_passed_over_as_immutable() {
    let world = crashed();
    let said = coact(&world.path, &["list", "--immutable"]).refused();
    assert!(said.contains("-wal` has commits"), "{said}");
    fs::remove_file(format!("{}-wal", world.path.display())).expect("it is there");
    let told = coact(&world.path, &["list", "--immutable"]).well();
    assert!(!told.contains("zoe"), "{told}");
}

/// As in a folder that cannot be written, for any user: the file that SQLite wants there cannot be
/// made.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_told_of_with_advice() {
    for world in [World::new(), crashed()] {
        let shared = format!("{}-shm", world.path.display());
        std::os::unix::fs::symlink("/no/such/folder", shared).expect("it can be made");
        let said = coact(&world.path, &["list"]).refused();
        assert!(said.contains("SQLite may not write `bank.db-shm`"), "{said}");
        assert!(said.contains("--immutable"), "{said}");
    }
}

#[test]
fn it_reads_while_the_owner_has_the_file() {
    let world = World::new();
    let store = world.store();
    let mut alice = Entity::claim(&store, "bank.account", "alice");
    for last in 4..7_u64 {
        alice.event(&store, deposited(last));
        let text = coact(&world.path, &["show", "bank.account", "alice"]).well();
        assert!(text.contains(&format!("last event  {last}\n")), "{text}");
    }
    for query in QUERIES {
        coact(&world.path, query).well();
    }
    alice.event(&store, deposited(7));
}

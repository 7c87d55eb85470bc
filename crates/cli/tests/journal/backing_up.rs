//! `backup`.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use coact_sqlite::SqliteStore;

use crate::verifying::EndWriter;
use crate::world::{Entity, World, coact, deposited, records};

#[test]
fn a_copy_has_everything_and_is_a_store() {
    let world = World::new();
    let copy = world.folder.path().join("copy.db");
    let target = copy.to_str().expect("it is UTF-8");
    let before = fs::read(&world.path).expect("it can be read");
    let text = coact(&world.path, &["backup", target]).well();
    assert_eq!(text, format!("`{target}` is a copy: 4 entities, 12 events\n"));
    assert_eq!(fs::read(&world.path).expect("it can be read"), before, "it was only read");
    let beside = world.files().into_iter().filter(|(name, _)| name.starts_with("copy.db"));
    assert_eq!(beside.count(), 1, "there is nothing beside the copy");
    let export = |path: &Path| coact(path, &["export"]).well();
    assert_eq!(export(&copy), export(&world.path));
    SqliteStore::restore(&copy, &world.path).expect("it can be put back");
    assert_eq!(export(&copy), export(&world.path));
}

/// The owner is another process: the tool is one of its own.
#[test]
fn a_copy_made_while_the_owner_writes_is_of_one_moment() {
    let world = World::new();
    let store = world.store();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut busy = Entity::claim(&store, "busy", "one");
            let mut n = 0;
            while !ended.load(Ordering::Relaxed) {
                n += 1;
                busy.event(&store, deposited(n));
            }
        });
        let _end = EndWriter(&ended);
        let mut copied = 0;
        for n in 0..5 {
            let copy = world.folder.path().join(format!("copy-{n}.db"));
            coact(&world.path, &["backup", copy.to_str().expect("it is UTF-8")]).well();
            let text = coact(&copy, &["verify"]).well();
            assert!(text.starts_with("sound: "), "{text}");
            let all = records(&coact(&copy, &["list", "--json"]).well());
            let events = all.last().expect("there is a summary")["events"].as_u64();
            assert!(events >= Some(copied), "{events:?} after {copied}");
            copied = events.expect("it is a number");
        }
        assert!(copied > 12, "the owner has written meanwhile");
    });
}

/// Also what a crash has left in the `-wal`.
#[test]
fn a_copy_has_what_is_in_the_wal() {
    let world = World::new();
    let store = world.store();
    Entity::claim(&store, "bank.account", "zoe").event(&store, deposited(1));
    let copy = world.folder.path().join("copy.db");
    coact(&world.path, &["backup", copy.to_str().expect("it is UTF-8")]).well();
    coact(&copy, &["show", "bank.account", "zoe"]).well();
}

#[test]
fn what_cannot_be_a_copy_is_refused() {
    let world = World::new();
    let there = world.folder.path().join("there.db");
    fs::write(&there, "").expect("there is room");
    for target in [&there, &world.path, &world.folder.path().to_owned()] {
        let before = fs::read(&world.path).expect("it can be read");
        let target = target.to_str().expect("it is UTF-8");
        let said = coact(&world.path, &["backup", target]).refused();
        assert_eq!(said, format!("`{target}` is there already: name another file"));
        assert_eq!(fs::read(&world.path).expect("it can be read"), before);
    }
    assert_eq!(fs::metadata(&there).expect("it is there").len(), 0, "it was not filled");

    let copy = world.folder.path().join("copy.db");
    let target = copy.to_str().expect("it is UTF-8");
    let said = coact(&world.path, &["--immutable", "backup", target]).refused();
    assert!(said.contains("`cp` copies it"), "{said}");
    let said = coact(&world.folder.path().join("none.db"), &["backup", target]).refused();
    assert!(said.contains("is not there"), "{said}");
    // (Nothing listens to that port: it is refused before.)
    let url = Path::new("postgres://bank:secret@127.0.0.1:1/bank");
    let said = coact(url, &["--schema", "two words", "backup", target]).refused();
    assert!(said.contains("`pg_dump --schema='\"two words\"' "), "{said}");
    assert!(!said.contains("secret"), "{said}");
    assert!(!copy.exists());
    let nowhere = world.folder.path().join("no/such/folder.db");
    let said = coact(&world.path, &["backup", nowhere.to_str().expect("UTF-8")]).refused();
    assert!(said.contains("folder.db"), "{said}");
}

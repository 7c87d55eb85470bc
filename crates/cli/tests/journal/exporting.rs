//! `export`.

use std::collections::BTreeMap;
use std::fs;

use coact_persist::{Event, EventHash, Seq, StoreReader, wait};
use serde_json::Value;

use crate::listing::of_any_text;
use crate::world::{World, coact, records};

fn count<'a>(all: &'a [Value], record: &str) -> Vec<&'a Value> {
    all.iter().filter(|it| it["record"] == record).collect()
}

fn bytes(payload: &Value) -> Vec<u8> {
    let hex = payload["hex"].as_str().expect("there is always hex").as_bytes();
    let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).expect("ASCII"), 16);
    hex.chunks(2).map(|two| byte(two).expect("two digits")).collect()
}

fn event(record: &Value) -> Event {
    let name = record["name"].as_str().expect("it has a name");
    let version = record["version"].as_u64().expect("it has a version");
    Event::new(
        name.to_owned(),
        u32::try_from(version).expect("it is small"),
        bytes(&record["payload"]),
    )
}

#[test]
fn everything_is_there_bit_by_bit() {
    for world in [World::new(), of_any_text()] {
        let all = records(&coact(&world.path, &["export"]).well());
        assert_eq!(
            all[0],
            serde_json::json!({"record": "format", "name": "coact-journal", "version": 1})
        );
        let end = serde_json::json!({
            "record": "end", "entities": count(&all, "entity").len(),
            "snapshots": count(&all, "snapshot").len(), "events": count(&all, "event").len(),
            "notes": count(&all, "note").len(),
        });
        assert_eq!(all.last(), Some(&end));
        let store = world.store();
        let listed = wait(|done| store.entities(None, None, 100, done)).expect("it can be read");
        assert_eq!(listed.len(), count(&all, "entity").len());
        for (summary, record) in listed.iter().zip(count(&all, "entity")) {
            assert_eq!(record["key"], summary.id.key());
            assert_eq!(record["kind"], summary.id.kind());
            assert_eq!(record["hash"], summary.hash.to_string());
            let of =
                |it: &&&Value| it["key"] == summary.id.key() && it["kind"] == summary.id.kind();
            let exported = count(&all, "event");
            let mut exported = exported.iter().filter(of);
            for stored in wait(|done| store.events(summary.id.clone(), Seq::ZERO, 100, done))
                .expect("it can be read")
            {
                let exported = exported.next().expect("it is exported");
                assert_eq!(event(exported), stored.event);
                assert_eq!(exported["seq"], stored.seq.get());
                assert_eq!(exported["position"], stored.position.get());
                assert_eq!(exported["hash"], stored.hash.to_string());
            }
            assert!(exported.next().is_none());
            let snapshots = count(&all, "snapshot");
            let snapshots: Vec<_> = snapshots.iter().filter(of).map(|it| event(it)).collect();
            let kept =
                wait(|done| store.snapshots(summary.id.clone(), done)).expect("it can be read");
            assert_eq!(snapshots, kept.iter().map(|it| it.state.clone()).collect::<Vec<_>>());
        }
    }
}

/// What is exported is enough to check it elsewhere.
#[test]
fn hashes_can_be_computed_from_it() {
    let world = World::new();
    let all = records(&coact(&world.path, &["export", "--entity", "bank.account", "alice"]).well());
    assert_eq!(count(&all, "entity").len(), 1);
    let mut hash = EventHash::of(&coact_persist::EntityId::new("bank.account", "alice"));
    for record in count(&all, "event") {
        hash = hash.with(Seq::new(record["seq"].as_u64().expect("a number")), &event(record));
        assert_eq!(record["hash"], hash.to_string());
    }
    assert_eq!(count(&all, "note").len(), 5);
}

#[test]
fn two_exports_are_the_same_bytes() {
    let world = World::new();
    let first = coact(&world.path, &["export"]).well();
    let copy = world.folder.path().join("copy.db");
    let connection = rusqlite::Connection::open(&world.path).expect("it can be opened");
    connection.execute("VACUUM INTO ?1", [copy.to_str()]).expect("it can be copied");
    assert_eq!(coact(&copy, &["export"]).well(), first);
}

#[test]
fn events_can_come_in_the_order_of_commits() {
    let world = World::empty();
    fs::copy("../sqlite/tests/files/version-1.db", &world.path).expect("it can be copied");
    let plain = records(&coact(&world.path, &["export", "--kind", "bank.account"]).well());
    let args = ["export", "--kind", "bank.account", "--by-commit"];
    let ordered = records(&coact(&world.path, &args).well());
    let place = |it: &Value| (it["position"].as_u64(), it["key"].to_string(), it["seq"].as_u64());
    let places: Vec<_> = count(&ordered, "event").into_iter().map(place).collect();
    assert!(places.is_sorted());
    let sorted = |all: &[Value]| {
        let all = count(all, "event").into_iter().map(|it| (place(it), it.clone()));
        all.collect::<BTreeMap<_, _>>()
    };
    assert_eq!(places.len(), 323);
    assert_eq!(sorted(&plain), sorted(&ordered));
    let alone = coact(&world.path, &["export", "--by-commit"]);
    assert_eq!((alone.status, &*alone.out), (2, ""));
}

#[test]
fn a_file_is_written_once() {
    let world = World::new();
    let out = world.folder.path().join("bank.jsonl");
    let args = ["export", "-o", out.to_str().expect("it is UTF-8")];
    assert_eq!(coact(&world.path, &args).well(), "");
    let text = fs::read_to_string(&out).expect("it is there");
    assert_eq!(text, coact(&world.path, &["export"]).well());
    let said = coact(&world.path, &args).refused();
    assert!(said.contains("is there already"), "{said}");
    assert_eq!(fs::read_to_string(&out).expect("it is there"), text);
    let over = coact(&world.path, &["export", "-o", world.path.to_str().expect("UTF-8")]).refused();
    assert!(over.contains("is there already"), "{over}");
    let nowhere = world.folder.path().join("no/such/folder");
    let said = coact(&world.path, &["export", "-o", nowhere.to_str().expect("UTF-8")]).refused();
    assert!(said.contains("cannot be written"), "{said}");
    let said = coact(&world.path, &["export", "--entity", "bank.account", "zoe"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("nothing is stored of bank.account zoe"), "{}", said.err);
}

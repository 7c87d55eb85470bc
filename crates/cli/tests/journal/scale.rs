//! Many entities.

use std::time::{Duration, Instant};

use coact_persist::{EntityId, EventHash, Seq};
use rusqlite::{Connection, params};

use crate::world::{World, coact, deposited};

/// A file with many entities of one event each, written without a store, which would take longer.
fn with(many: u64) -> World {
    let world = World::empty();
    drop(world.store());
    let mut connection = Connection::open(&world.path).expect("it opens");
    connection.pragma_update(None, "synchronous", "OFF").expect("it can be set");
    let transaction = connection.transaction().expect("it begins");
    let event = deposited(1);
    {
        let insert = "INSERT INTO entity VALUES (?1, CAST('bank.account' AS BLOB), ?2, 1, 1, ?3)";
        let mut entity = transaction.prepare(insert).expect("it is SQL");
        let insert = "INSERT INTO event VALUES (?1, 1, ?1, ?2, 1, ?3, ?4)";
        let mut first = transaction.prepare(insert).expect("it is SQL");
        for n in 1..=many {
            let key = format!("{n:08}");
            let id = EntityId::new("bank.account", &*key);
            let hash = EventHash::of(&id).with(Seq::new(1), &event).get().cast_signed();
            let n = n.cast_signed();
            entity.execute(params![n, key.as_bytes(), hash]).expect("it is stored");
            first
                .execute(params![n, event.name.as_bytes(), hash, &*event.payload])
                .expect("it is stored");
        }
    }
    transaction
        .execute("UPDATE counter SET position = ?1", [many.cast_signed()])
        .expect("it is stored");
    transaction.commit().expect("it is stored");
    world
}

fn all_of(many: u64) {
    let world = with(many);
    let timed = |args: &[&str]| {
        let began = Instant::now();
        let text = coact(&world.path, args).well();
        println!("{args:?} of {many} took {:?}", began.elapsed());
        text
    };
    let lines = |text: &str| text.lines().count() as u64;
    assert_eq!(lines(&timed(&["list", "--brief"])), many + 2);
    assert_eq!(lines(&timed(&["list"])), many + 2);
    assert_eq!(lines(&timed(&["list", "--limit", "10"])), 10 + 3);
    assert_eq!(lines(&timed(&["export"])), 2 * many + 2);
    assert!(timed(&["verify"]).starts_with("sound: "));
    timed(&["show", "bank.account", &format!("{:08}", many / 2)]);
    let told = coact(&world.path, &["show", "bank.account", "0000001x"]).refused();
    assert!(told.contains("did you mean bank.account 00000010"), "{told}");
}

#[test]
fn some_thousands_take_little_time() {
    let began = Instant::now();
    all_of(5_000);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

/// `cargo test --release -p coact-cli --test journal -- --ignored --nocapture`
#[test]
#[ignore = "takes a while: run it in release"]
fn a_hundred_thousand_take_seconds() {
    let began = Instant::now();
    all_of(100_000);
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
}

//! Standby servers: alone, beside their primary, and in its place.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use coact_persist::{CommitSettlement, EntityId, StoreError, StoreOutcome};
use coact_postgres::{Builder, ConnectError, PostgresStore};

use crate::bank::{account, claim, commit, committed, settle, step, texts, until_available};
use crate::lost::{goes_on, transfers};
use crate::raw::Raw;
use crate::server::{self, Private};

fn both(first: &Private, second: &Private) -> String {
    format!(
        "postgres://swift@127.0.0.1:{},127.0.0.1:{}/coact?sslmode=disable",
        first.port(),
        second.port()
    )
}

fn at(private: &Private) -> Builder {
    PostgresStore::builder(&private.swift_url(private.port())).schema("coact")
}

/// Has commits wait until a standby has them.
fn wait_for_standby(primary: &Raw) {
    primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
    primary.run("SELECT pg_reload_conf()");
    primary.until("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'");
}

#[test]
fn a_standby_is_no_store_but_can_be_read_and_be_named_beside_its_primary() {
    let Some(server) = server::own() else { return };
    let Some(primary) = server.private() else { return };
    let (store, alice) = (server.store("coact"), account("alice"));
    let held = claim(&store, &alice);
    committed(&store, step(&[(&alice, &held)], "one"));
    drop(store);
    let standby = primary.standby();
    match at(&standby).connect() {
        Err(ConnectError::Unreachable { why, .. }) => {
            assert!(why.contains("does not allow writes"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(texts(&at(&standby).connect_reader().unwrap(), &alice), ["one"]);
    for url in [both(&standby, primary), both(primary, &standby)] {
        let store = PostgresStore::builder(&url).schema("coact").connect().unwrap();
        let held = claim(&store, &alice);
        committed(&store, step(&[(&alice, &held)], "more"));
    }
    assert_eq!(texts(&server.store("coact"), &alice), ["one", "more", "more"]);
}

#[test]
fn a_store_goes_on_with_a_standby_that_is_promoted() {
    let Some(mut server) = server::own() else { return };
    drop(server.store("coact"));
    let Some(primary) = server.private() else { return };
    let standby = primary.standby();
    wait_for_standby(&server.raw("public"));
    let url = both(primary, &standby);
    let names: Vec<[EntityId; 2]> =
        (0..3).map(|writer| ["a", "b"].map(|name| account(format!("{writer}{name}")))).collect();
    let store = PostgresStore::builder(&url).schema("coact").connect().unwrap();
    let (ends, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let stored: Vec<Vec<String>> = thread::scope(|scope| {
        let writers: Vec<_> = names
            .iter()
            .map(|names| scope.spawn(|| transfers(&store, names, &ends, &done)))
            .collect();
        goes_on(&done);
        server.private_mut().stop();
        Raw::connect(&standby.swift_url(standby.port())).run("SELECT pg_promote()");
        goes_on(&done);
        // ORDERING: SeqCst, as it is a test.
        ends.store(true, Ordering::SeqCst);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    // Each that was told is there, also if its outcome was unknown at first; and nothing else.
    let after = at(&standby).connect().unwrap();
    for (names, stored) in names.iter().zip(&stored) {
        for name in names {
            assert_eq!(texts(&after, name), *stored);
        }
    }
}

/// A connection that is ended does not wait for its standby any more, and its commit is there for
/// all who read: but it would be lost with the server.
#[test]
fn a_commit_that_no_standby_has_is_not_settled() {
    let Some(server) = server::own() else { return };
    let Some(primary) = server.private() else { return };
    let short = server.builder("coact").operation_timeout(Duration::from_millis(500));
    let (store, alice) = (short.connect().unwrap(), account("alice"));
    let held = claim(&store, &alice);
    let mut standby = primary.standby();
    wait_for_standby(&server.raw("public"));
    standby.stop();
    let one = step(&[(&alice, &held)], "one");
    let id = one.id();
    let outcome = commit(&store, one);
    assert!(matches!(outcome, StoreOutcome::Unknown(_)), "{outcome:?}");
    // Until it is there for those who read.
    while texts(&store, &alice).is_empty() {
        assert!(settle(&store, id).is_err());
    }
    for _ in 0..2 {
        let settled = settle(&store, id);
        assert!(matches!(settled, Err(StoreError::Unavailable { .. })), "{settled:?}");
    }
    standby.start();
    let settled = until_available(|| settle(&store, id));
    assert!(matches!(settled, CommitSettlement::Committed(_)), "{settled:?}");
    // By now it has it.
    assert_eq!(texts(&at(&standby).connect_reader().unwrap(), &alice), ["one"]);
}

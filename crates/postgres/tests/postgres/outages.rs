//! What ends each wait for a server that hangs, is gone, or refuses; who is told meanwhile; and
//! that a store can be closed, or dropped, through all of it.

use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use coact_persist::{CommitRefusal, Store, StoreError, StoreOutcome, StoreReader, wait};
use coact_postgres::{ConnectError, PostgresStore};

use crate::bank::{
    account, ask, claim, commit, step, texts, try_claim, try_texts, until_available,
};
use crate::proxy::{Door, End, Proxy, Way};
use crate::server::{self, PASSWORD};

/// Far longer than what is told without a wait takes, and shorter than the waits of these tests.
const LONG: Duration = Duration::from_secs(120);

fn soon<T>(answer: &Receiver<T>) -> T {
    answer.recv_timeout(LONG).expect("it is told without an answer of the server")
}

fn why<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> String {
    match answer {
        Err(StoreError::Unavailable { why }) => why,
        other => panic!("{other:?}"),
    }
}

/// At each message of a connection that is made.
#[test]
fn a_server_that_hangs_while_a_store_is_connected_is_told() {
    let Some(server) = server::shared() else { return };
    let Some(private) = server.private() else { return };
    let (schema, proxy) = (server.schema(), Proxy::new(private.port()));
    drop(server.store(&schema));
    let mut failed = 0;
    for after in (0..).step_by(11) {
        proxy.strike(Way::ToClient, after, End::Silence);
        let connected = PostgresStore::builder(&private.swift_url(proxy.port()))
            .schema(&schema)
            .connect_timeout(Duration::from_secs(2))
            .operation_timeout(Duration::from_millis(200))
            .connect();
        let has_struck = proxy.has_struck();
        match connected {
            Ok(_) => {}
            Err(ConnectError::Unreachable { .. }) => failed += 1,
            Err(other) => panic!("{after}: {other}"),
        }
        if !has_struck {
            break;
        }
    }
    assert!(failed > 5, "{failed}");
}

#[test]
fn a_server_that_hangs_takes_no_time_of_the_next_one() {
    let Some(server) = server::shared() else { return };
    let Some(private) = server.private() else { return };
    let proxy = Proxy::new(private.port());
    proxy.set_door(Door::Hung);
    let port = private.port();
    let url = private.swift_url(proxy.port()).replace(
        &format!("127.0.0.1:{}", proxy.port()),
        &format!("127.0.0.1:{},127.0.0.1:{port}", proxy.port()),
    );
    let store = PostgresStore::builder(&url)
        .schema(server.schema())
        .connect_timeout(Duration::from_secs(5))
        .connect()
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(proxy.hung() > 0);
    assert_eq!(claim(&store, &account("alice")).epoch.get(), 1);
}

/// Only the first attempt is waited for: while others are made, all is refused, and the store is
/// closed in the middle of one.
#[test]
fn an_outage_is_told_while_an_attempt_to_connect_hangs() {
    let Some(server) = server::shared() else { return };
    let Some(private) = server.private() else { return };
    let (schema, proxy) = (server.schema(), Proxy::new(private.port()));
    // (None of the attempts ends by itself.)
    let store = PostgresStore::builder(&private.swift_url(proxy.port()))
        .schema(&schema)
        .connect_timeout(LONG * 10)
        .connect()
        .unwrap();
    let alice = account("alice");
    let held = claim(&store, &alice);
    proxy.set_door(Door::Closed);
    let is_cut = |told: Result<_, StoreError>| matches!(told, Err(StoreError::Unavailable { .. }));
    for half in [Way::ToServer, Way::ToServer] {
        proxy.strike(half, 0, End::Before);
        assert!(
            is_cut(try_claim(&store, &alice).map(drop))
                | is_cut(try_texts(&store, &alice).map(drop))
        );
    }
    // Both halves have failed to connect at least once, and then hang.
    while !is_cut(soon(&ask(|done| store.position(done))).map(drop)) {}
    proxy.set_door(Door::Hung);
    while proxy.hung() < 2 {
        thread::yield_now();
    }
    for _ in 0..100 {
        assert!(is_cut(soon(&ask(|done| store.claim(alice.clone(), done))).map(drop)));
        assert!(is_cut(soon(&ask(|done| store.position(done))).map(drop)));
        let told = soon(&ask(|done| store.commit(step(&[(&alice, &held)], "never"), done)));
        assert!(matches!(
            told,
            StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { .. }))
        ));
    }
    assert_eq!(proxy.hung(), 2, "the attempts still hang");
    soon(&ask(|done| store.close(done)));
    drop(store);
    assert!(texts(&server.store(&schema), &alice).is_empty());
}

/// A store makes its tables when it is connected first. When they are gone, what is there then is
/// not for it to decide.
#[test]
fn tables_that_are_gone_are_not_made_again() {
    let Some(server) = server::shared() else { return };
    let (schema, alice) = (server.schema(), account("alice"));
    let store = server.store(&schema);
    let held = claim(&store, &alice);
    commit(&store, step(&[(&alice, &held)], "before"));
    let raw = server.raw("public");
    let name = schema.replace('"', "\"\"");
    let moved = format!("{name} moved");
    raw.run(&format!("ALTER SCHEMA \"{name}\" RENAME TO \"{moved}\""));
    // (The first one fails in the session that there is.)
    let says = |says: &str| {
        while !why(try_claim(&store, &alice)).contains(says) {}
        while !why(try_texts(&store, &alice)).contains(says) {}
    };
    says("there is no such schema");
    raw.run(&format!("CREATE SCHEMA \"{name}\""));
    says("it has no tables");
    raw.run(&format!("DROP SCHEMA \"{name}\"; ALTER SCHEMA \"{moved}\" RENAME TO \"{name}\""));
    until_available(|| try_claim(&store, &alice));
    assert_eq!(until_available(|| try_texts(&store, &alice)), ["before"]);
}

/// What a role's settings say of times is overridden, and what a server does meanwhile is told, and
/// left when it is over.
#[test]
fn what_is_done_to_a_role_and_a_database_is_told_and_left() {
    let Some(server) = server::own() else { return };
    let Some(private) = server.private() else { return };
    let raw = server.raw("public");
    raw.run(&format!("CREATE ROLE clerk LOGIN PASSWORD '{PASSWORD}'"));
    raw.run("CREATE DATABASE ledger OWNER clerk");
    for timeout in ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"] {
        raw.run(&format!("ALTER ROLE clerk SET {timeout} = '1ms'"));
    }
    let store = PostgresStore::connect(&private.url("clerk", "ledger", "127.0.0.1")).unwrap();
    let alice = account("alice");
    let mut count = 0;
    let mut add = || {
        let held = until_available(|| try_claim(&store, &alice));
        let outcome = commit(&store, step(&[(&alice, &held)], "x"));
        assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
        count += 1;
        assert_eq!(until_available(|| try_texts(&store, &alice)).len(), count);
    };
    add();
    let says = |says: &str| {
        while !why(try_claim(&store, &alice)).contains(says) {}
        while !why(try_texts(&store, &alice)).contains(says) {}
    };
    let cut = || {
        raw.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'clerk'")
    };
    // The password is another one.
    raw.run("ALTER ROLE clerk PASSWORD 'another'");
    cut();
    says("does not let the role `clerk` in");
    raw.run(&format!("ALTER ROLE clerk PASSWORD '{PASSWORD}'"));
    add();
    // It may have no connection more.
    raw.run("ALTER ROLE clerk CONNECTION LIMIT 0");
    cut();
    says("too many connections for role");
    raw.run("ALTER ROLE clerk CONNECTION LIMIT -1");
    add();
    // It may not write any more.
    raw.run("ALTER ROLE clerk SET default_transaction_read_only = on");
    cut();
    while !why(try_claim(&store, &alice)).contains("writ") {}
    assert_eq!(until_available(|| try_texts(&store, &alice)).len(), 3);
    raw.run("ALTER ROLE clerk RESET default_transaction_read_only");
    add();
    // The database is gone; and there is another one of that name.
    // (It cannot be renamed while it is used.)
    raw.run("ALTER DATABASE ledger ALLOW_CONNECTIONS false");
    cut();
    says("not currently accepting connections");
    raw.run("ALTER DATABASE ledger RENAME TO archive");
    says("has no database `ledger`");
    raw.run("CREATE DATABASE ledger OWNER clerk");
    says("there is no such schema");
    raw.run("DROP DATABASE ledger WITH (FORCE)");
    raw.run("ALTER DATABASE archive RENAME TO ledger");
    raw.run("ALTER DATABASE ledger ALLOW_CONNECTIONS true");
    add();
    wait(|done| store.close(done));
}

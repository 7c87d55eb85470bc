//! Connections that are lost, servers that end, and what was told of it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use coact_persist::{
    CommitRefusal, CommitSettlement, EntityId, Event, Note, NoteKind, Store, StoreError,
    StoreOutcome,
};
use coact_postgres::{Builder, ConnectError, PostgresStore};

use crate::bank::{
    account, claim, commit, settle, step, texts, truth, try_claim, try_texts, until_available,
};
use crate::proxy::{End, Proxy, Way};
use crate::server::{self, Private, Server};

/// Options for a store whose connections go through a proxy.
fn through(proxy: &Proxy, private: &Private, schema: &str) -> Builder {
    PostgresStore::builder(&private.swift_url(proxy.port())).schema(schema)
}

/// How outcomes were told, and what was true.
#[derive(Default, Debug)]
struct Seen {
    committed: usize,
    refused: usize,
    unknown_committed: usize,
    unknown_aborted: usize,
}

/// How a commit is stored: in one round trip, or in two, as it leaves a note.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Trips {
    One,
    Two,
}

/// Claims two entities, and commits over both, with a store whose connection may end. Checks what
/// was told against what another one reads.
fn one_step(
    (store, trips): (&PostgresStore, Trips),
    other: &PostgresStore,
    round: &str,
    seen: &mut Seen,
) {
    let names = ["a", "b"].map(|name| account(format!("{round}{name}")));
    let [one, two] = names.each_ref().map(|name| until_available(|| try_claim(store, name)));
    let mut both = step(&[(&names[0], &one), (&names[1], &two)], "once");
    if trips == Trips::Two {
        let (entity, kind, value) = (names[0].clone(), NoteKind::Timer, Event::new("n", 1, vec![]));
        both.leave_note(Note { entity, kind, key: "n".into(), rank: 0, value });
    }
    let (id, again) = (both.id(), both.clone());
    let outcome = commit(store, both);
    let is_stored = truth(store, id, &outcome);
    let count = match (&outcome, is_stored) {
        (StoreOutcome::Committed(_), _) => &mut seen.committed,
        (StoreOutcome::Unknown(_), true) => &mut seen.unknown_committed,
        (StoreOutcome::Unknown(_), false) => &mut seen.unknown_aborted,
        (StoreOutcome::Refused(_), _) => &mut seen.refused,
    };
    *count += 1;
    let expected: &[&str] = if is_stored { &["once"] } else { &[] };
    for name in &names {
        assert_eq!(texts(other, name), expected, "{round}: {outcome:?}");
        // Its own reads go on as well.
        let read = until_available(|| try_texts(store, name));
        assert_eq!(read, expected, "{round}: {outcome:?}");
    }
    // It is settled once and for all, if it was; and one that was refused can still be stored.
    match (&outcome, commit(other, again)) {
        (StoreOutcome::Unknown(_), StoreOutcome::Refused(CommitRefusal::Aborted)) => {
            assert!(!is_stored)
        }
        (StoreOutcome::Refused(_) | StoreOutcome::Unknown(_), StoreOutcome::Committed(_))
        | (StoreOutcome::Committed(_), StoreOutcome::Committed(_)) => {}
        (_, other) => panic!("{round}: {outcome:?}, then {other:?}"),
    }
}

/// At each message of the protocol, either way, the connection is cut: all that is told is true,
/// and the store goes on.
#[test]
fn a_connection_that_is_cut_at_any_message_leaves_no_doubt() {
    let Some(server) = server::shared() else { return };
    let Some(private) = server.private() else { return };
    let (schema, proxy) = (server.schema(), Proxy::new(private.port()));
    let other = server.store(&schema);
    let store = through(&proxy, private, &schema).connect().unwrap();
    let mut seen = Seen::default();
    let ends = [End::Before, End::Within];
    for (way, end) in ends.iter().flat_map(|end| [(Way::ToServer, *end), (Way::ToClient, *end)]) {
        for trips in [Trips::One, Trips::Two] {
            let mut after = 0;
            loop {
                proxy.strike(way, after, end);
                let round = format!("{way:?} {end:?} {trips:?} {after} ");
                one_step((&store, trips), &other, &round, &mut seen);
                if !proxy.has_struck() {
                    break;
                }
                after += 1;
            }
            let least = if trips == Trips::One { 20 } else { 30 };
            assert!(after > least, "{way:?} {end:?} {trips:?}: {after} messages");
        }
    }
    let Seen { committed, refused, unknown_committed, unknown_aborted } = seen;
    let each = [committed, refused, unknown_committed, unknown_aborted];
    assert!(each.iter().all(|count| *count > 0), "{seen:?}");
}

/// The same while it connects: it says so, or connects.
#[test]
fn a_connection_that_is_cut_while_it_is_made_is_told() {
    let Some(server) = server::shared() else { return };
    let Some(private) = server.private() else { return };
    let (schema, proxy) = (server.schema(), Proxy::new(private.port()));
    drop(server.store(&schema));
    let steps = if std::env::var_os("COACT_POSTGRES_ALL").is_some() { 1 } else { 7 };
    for way in [Way::ToServer, Way::ToClient] {
        let mut failed = 0;
        for after in (0..).step_by(steps) {
            proxy.strike(way, after, End::Before);
            let connected = through(&proxy, private, &schema).connect();
            let has_struck = proxy.has_struck();
            match connected {
                Ok(_) => {}
                Err(ConnectError::Unreachable { .. }) => {
                    assert!(has_struck);
                    failed += 1;
                }
                Err(other) => panic!("{way:?} {after}: {other}"),
            }
            if !has_struck {
                break;
            }
        }
        assert!(failed * steps > 50, "{way:?}: {failed} of {steps}");
    }
}

/// A peer that is silent is given up in time, and what its server still had under way is undone, or
/// was done.
#[test]
fn a_silent_connection_is_given_up_in_time() {
    let Some(server) = server::shared() else { return };
    let Some(private) = server.private() else { return };
    let (schema, proxy) = (server.schema(), Proxy::new(private.port()));
    let other = server.store(&schema);
    let builder = through(&proxy, private, &schema).connect_timeout(Duration::from_secs(2));
    let store = builder.operation_timeout(Duration::from_millis(300)).connect().unwrap();
    let mut seen = Seen::default();
    // (A commit of one round trip is answered by four messages: one of them must be struck.)
    for (way, trips, stride) in [(Way::ToServer, Trips::Two, 5), (Way::ToClient, Trips::One, 3)] {
        let mut after = 0;
        loop {
            proxy.strike(way, after, End::Silence);
            let begun = Instant::now();
            one_step((&store, trips), &other, &format!("{way:?} {trips:?} {after} "), &mut seen);
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(20), "{way:?} {after}: {took:?}");
            if !proxy.has_struck() {
                break;
            }
            after += stride;
        }
    }
    assert!(seen.refused > 0 && seen.unknown_aborted > 0 && seen.unknown_committed > 0, "{seen:?}");
}

/// While nothing listens, each thing that is asked is refused in time and in order; then it goes on
/// by itself.
#[test]
fn a_server_that_is_away_is_told_in_order() {
    let Some(mut server) = server::own() else { return };
    let store =
        server.builder("coact").connect_timeout(Duration::from_millis(500)).connect().unwrap();
    let alice = account("alice");
    let now = claim(&store, &alice);
    server.private_mut().stop();
    let begun = Instant::now();
    let (tell, told) = std::sync::mpsc::channel();
    for n in 0..50 {
        let tell = tell.clone();
        store.commit(
            step(&[(&alice, &now)], "never"),
            Box::new(move |outcome| tell.send((n, outcome)).unwrap()),
        );
    }
    drop(tell);
    let all: Vec<_> = told.iter().collect();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    for (place, (n, outcome)) in all.iter().enumerate() {
        assert_eq!(place, *n);
        assert!(
            matches!(
                outcome,
                StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { .. }))
            ),
            "{outcome:?}"
        );
    }
    assert!(settle(&store, coact_persist::CommitId::unique()).is_err());
    server.private_mut().start();
    until_available(|| try_claim(&store, &alice));
    // (What reads has a connection of its own.)
    assert_eq!(until_available(|| try_texts(&store, &alice)).len(), 0);
}

/// Moves amounts between two entities of its own until it is told to end. Returns what was told to
/// be stored, or settled as that.
pub fn transfers(
    store: &PostgresStore,
    names: &[EntityId; 2],
    ends: &AtomicBool,
    done: &AtomicUsize,
) -> Vec<String> {
    let mut stored = Vec::new();
    let mut number = 0;
    // ORDERING: SeqCst, as it is a test.
    while !ends.load(Ordering::SeqCst) {
        let [one, two] = names.each_ref().map(|name| until_available(|| try_claim(store, name)));
        number += 1;
        let text = number.to_string();
        let both = step(&[(&names[0], &one), (&names[1], &two)], &text);
        let id = both.id();
        let outcome = commit(store, both);
        if truth(store, id, &outcome) {
            stored.push(text);
        }
        // ORDERING: SeqCst, as it is a test.
        done.fetch_add(1, Ordering::SeqCst);
    }
    stored
}

#[test]
fn what_was_told_to_be_committed_survives_a_server_that_is_killed() {
    let Some(mut server) = server::own() else { return };
    let names: Vec<[EntityId; 2]> =
        (0..3).map(|writer| ["a", "b"].map(|name| account(format!("{writer}{name}")))).collect();
    let store = server.store("coact");
    let (ends, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let stored: Vec<Vec<String>> = thread::scope(|scope| {
        let writers: Vec<_> = names
            .iter()
            .map(|names| scope.spawn(|| transfers(&store, names, &ends, &done)))
            .collect();
        for _ in 0..3 {
            goes_on(&done);
            server.private_mut().stop();
            server.private_mut().start();
        }
        goes_on(&done);
        // ORDERING: SeqCst, as it is a test.
        ends.store(true, Ordering::SeqCst);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    check(&server, &names, &stored);
    assert_eq!(settle(&store, coact_persist::CommitId::unique()), Ok(CommitSettlement::Aborted));
}

/// Waits until some more is done.
pub fn goes_on(done: &AtomicUsize) {
    // ORDERING: SeqCst, as it is a test.
    let before = done.load(Ordering::SeqCst);
    while done.load(Ordering::SeqCst) < before + 40 {
        thread::yield_now();
    }
}

fn check(server: &Server, names: &[[EntityId; 2]], stored: &[Vec<String>]) {
    let again = server.store("coact");
    for (names, stored) in names.iter().zip(stored) {
        for name in names {
            assert_eq!(texts(&again, name), *stored);
        }
    }
    let _: &dyn Store = &again;
}

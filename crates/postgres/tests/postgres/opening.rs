//! How a store is connected, and why it is not.

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use coact_persist::{
    CommitRefusal, EntityId, EventHash, LogQuery, NoteKind, NoteQuery, Position, Seq, Store,
    StoreError, StoreOutcome, StoreReader, Tags, wait,
};
use coact_postgres::{ConnectError, PostgresReader, PostgresStore};

use crate::bank::{
    account, ask, claim, commit, committed, event, settle, step, text, texts, try_claim, try_texts,
};
use crate::server::{self, PASSWORD};

/// The error, which has no password.
fn error<S>(connected: Result<S, ConnectError>) -> ConnectError {
    let Err(error) = connected else { panic!("it is to be refused") };
    let said = format!("{error} {error:?}");
    assert!(!said.contains(PASSWORD) && !said.contains("cret"), "{said}");
    error
}

#[test]
fn what_was_committed_is_there_when_it_is_opened_again() {
    let Some(server) = server::shared() else { return };
    let (schema, alice) = (server.schema(), account("alice"));
    for n in 0..3 {
        let store = server.store(&schema);
        let now = claim(&store, &alice);
        assert_eq!((now.last, now.epoch.get()), (Seq::new(n), n + 1));
        let next = step(&[(&alice, &now)], &n.to_string());
        assert!(matches!(commit(&store, next), StoreOutcome::Committed(_)));
    }
    assert_eq!(texts(&server.store(&schema), &alice), ["0", "1", "2"]);
}

#[test]
fn stores_that_are_made_at_once_make_the_tables_once() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let alice = account("alice");
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| claim(&server.store(&schema), &alice));
        }
    });
    assert_eq!(claim(&server.store(&schema), &alice).epoch.get(), 7);
}

#[test]
fn who_is_not_let_in_is_told_why() {
    let Some(server) = server::shared() else { return };
    let Some(private) = server.private() else { return };
    let port = private.port();
    let wrong =
        error(PostgresStore::connect(&format!("postgres://coact:cret2@127.0.0.1:{port}/coact")));
    assert!(matches!(&wrong, ConnectError::Denied { user, .. } if user == "coact"), "{wrong}");
    let role = error(PostgresStore::connect(&private.url("unknown", "coact", "127.0.0.1")));
    assert!(matches!(&role, ConnectError::Denied { user, .. } if user == "unknown"), "{role}");
    let missing =
        error(PostgresStore::connect(&format!("postgres://coact@127.0.0.1:{port}/coact")));
    assert!(matches!(missing, ConnectError::Denied { .. }), "{missing}");
    // The client gives up by itself, whether it has encrypted the connection or not.
    for mode in ["disable", "prefer", "require"] {
        let url = format!("postgres://coact@127.0.0.1:{port}/coact?sslmode={mode}");
        let missing = error(PostgresStore::connect(&url));
        let ConnectError::Denied { why, .. } = &missing else { panic!("{mode}: {missing}") };
        assert!(why.contains("wants a password"), "{mode}: {why}");
    }
    let url = private.url("coact", "coact", "127.0.0.1");
    let url = format!("{url}?sslmode=disable&channel_binding=require");
    let unbound = error(PostgresStore::connect(&url));
    assert!(matches!(unbound, ConnectError::Denied { .. }), "{unbound}");
    let database = error(PostgresStore::connect(&private.url("coact", "unknown", "127.0.0.1")));
    assert!(
        matches!(&database, ConnectError::NoDatabase { database, .. } if database == "unknown"),
        "{database}"
    );
}

#[test]
fn a_role_that_may_not_make_tables_is_told_so() {
    let Some(server) = server::shared() else { return };
    let Some(private) = server.private() else { return };
    let (raw, schema) = (server.raw("public"), server.schema());
    raw.run(&format!("CREATE ROLE humble LOGIN PASSWORD '{PASSWORD}'"));
    let humble =
        PostgresStore::builder(&private.url("humble", "coact", "127.0.0.1")).schema(&schema);
    let forbidden = error(humble.clone().connect());
    assert!(
        matches!(&forbidden, ConnectError::Forbidden { user, .. } if user == "humble"),
        "{forbidden}"
    );
    // Tables that another role has made, and lets it use, will do.
    claim(&server.store(&schema), &account("alice"));
    let quoted = schema.replace('"', "\"\"");
    raw.run(&format!("GRANT USAGE ON SCHEMA \"{quoted}\" TO humble"));
    raw.run(&format!(
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \"{quoted}\" TO humble"
    ));
    assert_eq!(claim(&humble.connect().unwrap(), &account("alice")).epoch.get(), 2);
}

#[test]
fn a_socket_in_the_file_system_will_do() {
    let Some(server) = server::shared() else { return };
    let Some(private) = server.private() else { return };
    let folder = private.path("").display().to_string();
    let url = format!("postgres://coact@/coact?host={folder}&port={}", private.port());
    let store = PostgresStore::builder(&url).schema(server.schema()).connect().unwrap();
    assert_eq!(claim(&store, &account("alice")).epoch.get(), 1);
}

#[test]
fn a_server_that_is_not_there_or_silent_is_told_in_time() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = |port| format!("postgres://coact:cret@127.0.0.1:{port}/coact");
    let refused = error(PostgresStore::connect(&url(closed.port())));
    assert!(
        matches!(&refused, ConnectError::Unreachable { server, .. } if server.contains(&closed.port().to_string())),
        "{refused}"
    );
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let begun = Instant::now();
    let silent = PostgresStore::builder(&url(silent.local_addr().unwrap().port()))
        .connect_timeout(Duration::from_millis(200))
        .connect();
    assert!(matches!(error(silent), ConnectError::Unreachable { .. }));
    assert!(begun.elapsed() < Duration::from_secs(20));
    let nowhere = error(PostgresReader::connect("postgres://coact:cret@nowhere.invalid/coact"));
    assert!(matches!(nowhere, ConnectError::Unreachable { .. }), "{nowhere}");
}

#[test]
fn a_schema_of_something_else_is_refused_and_stays_as_it_is() {
    let Some(server) = server::shared() else { return };
    for tables in [
        "CREATE TABLE shopping (item TEXT)",
        "CREATE TABLE version (number INT)",
        "CREATE TABLE version (application TEXT, version INT); INSERT INTO version VALUES ('other', 1)",
        "CREATE TABLE version (application TEXT, version INT)",
    ] {
        let schema = server.schema();
        let raw = server.raw(&schema);
        raw.run(&format!("CREATE SCHEMA \"{}\"", schema.replace('"', "\"\"")));
        raw.run(tables);
        let count = "SELECT count(*) FROM pg_tables WHERE schemaname = $1";
        let tables_of = || raw.rows(count, &[&schema])[0].get::<_, i64>(0);
        let before = tables_of();
        let other = error(server.builder(&schema).connect());
        assert!(
            matches!(&other, ConnectError::NotAStore { schema: told, .. } if *told == schema),
            "{other}"
        );
        assert_eq!(tables_of(), before);
    }
    for name in ["", "pg_coact", "with\0nul", &"long".repeat(16)] {
        let error = error(server.builder(name).connect());
        assert!(matches!(error, ConnectError::SchemaName { .. }), "{error}");
    }
}

#[test]
fn a_schema_of_another_version_is_refused() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    drop(server.store(&schema));
    let raw = server.raw(&schema);
    raw.run("UPDATE version SET version = 99");
    for error in
        [error(server.builder(&schema).connect()), error(server.builder(&schema).connect_reader())]
    {
        assert!(matches!(error, ConnectError::Newer { found: 99, .. }), "{error}");
        assert!(error.to_string().contains("format 99"), "{error}");
    }
    raw.run("UPDATE version SET version = 0");
    let older = error(server.builder(&schema).connect_reader());
    assert!(matches!(older, ConnectError::Older { found: 0, .. }), "{older}");
}

/// What a store of version 1 has left in a schema.
const OF_VERSION_1: &str = "
    INSERT INTO kind (name) VALUES ('account');
    INSERT INTO entity (kind, key, epoch, last, hash) VALUES (1, 'alice', 3, 1, $hash);
    INSERT INTO event VALUES (1, 1, 7, 1, 'noted', 1, $hash, '1');
    INSERT INTO snapshot VALUES (1, 1, $hash, 'state', 1, 'after 1');
    INSERT INTO note VALUES (1, 1, 'm', 5, 'noted', 1, 'message');
    UPDATE counter SET position = 7";

#[test]
fn a_schema_of_version_1_is_read_and_goes_on() {
    let Some(server) = server::shared() else { return };
    let (schema, alice) = (server.schema(), account("alice"));
    let raw = server.raw(&schema);
    raw.run(&format!("CREATE SCHEMA \"{}\"", schema.replace('"', "\"\"")));
    raw.run(include_str!("../../src/tables.sql"));
    let hash = EventHash::of(&alice).with(Seq::new(1), &event("1")).get().cast_signed();
    raw.run(&OF_VERSION_1.replace("$hash", &hash.to_string()));
    let tagged = |reader: &dyn StoreReader| {
        let which = LogQuery::Tag { tag: "vip".into(), kind: None };
        let log = wait(|done| reader.log(which, Position::ZERO, 10, done)).unwrap();
        log.iter().map(|entry| text(&entry.stored.event)).collect::<Vec<_>>()
    };
    let all = |reader: &dyn StoreReader| {
        let log = wait(|done| reader.log("account".into(), Position::ZERO, 10, done)).unwrap();
        let notes = NoteQuery::Of { entity: alice.clone(), after: None };
        let notes = wait(|done| reader.notes(notes, 10, done)).unwrap();
        let kept = wait(|done| reader.snapshots(alice.clone(), done)).unwrap();
        let listed = wait(|done| reader.entities(None, None, 10, done)).unwrap();
        (log, notes, kept, listed)
    };
    let reader = server.builder(&schema).connect_reader().unwrap();
    let before = all(&reader);
    assert_eq!((before.0.len(), before.1.len(), before.2.len(), before.3.len()), (1, 1, 1, 1));
    assert_eq!((tagged(&reader), raw.number("SELECT version::int8 FROM version")), (vec![], 1));
    // (Who makes it one of this version has its lock.)
    let store = std::thread::scope(|scope| {
        let stores: Vec<_> = (0..4).map(|_| scope.spawn(|| server.store(&schema))).collect();
        stores.into_iter().map(|store| store.join().unwrap()).next_back().unwrap()
    });
    assert_eq!(raw.number("SELECT version::int8 FROM version"), 2);
    assert_eq!((all(&store), all(&reader)), (before.clone(), before.clone()));
    assert!(before.2[0].sum.is_none());
    let now = claim(&store, &alice);
    assert_eq!((now.epoch.get(), now.hash), (4, before.3[0].hash));
    assert_eq!(now.snapshot.as_ref(), before.2.first());
    let mut next = step(&[(&alice, &now)], "2");
    let member = next.member(alice.clone(), now.epoch, now.last);
    member.tag(Tags::new(["vip"]));
    member.put_note(NoteKind::Outgoing, "m".into(), 6, event("another"));
    assert_eq!(committed(&store, next), Position::new(8));
    assert_eq!(
        (tagged(&store), texts(&store, &alice)),
        (vec!["2".into()], vec!["1".into(), "2".into()])
    );
    // One that was connected before goes on without tags, and sees the rest.
    assert_eq!((tagged(&reader), texts(&reader, &alice)), (vec![], vec!["1".into(), "2".into()]));
    // A store that was does not.
    let counts = raw.client.batch_execute("UPDATE counter SET position = position + 1");
    assert_eq!(raw.wait(counts).unwrap_err().code().unwrap().code(), "42703");
}

#[test]
fn what_a_snapshot_and_a_note_say_is_checked() {
    let Some(server) = server::shared() else { return };
    let (schema, alice) = (server.schema(), account("alice"));
    let (store, raw) = (server.store(&schema), server.raw(&schema));
    let now = claim(&store, &alice);
    let mut commit = step(&[(&alice, &now)], "once");
    let hash = now.hash.with(Seq::new(1), &event("once"));
    let member = commit.member(alice.clone(), now.epoch, now.last);
    member.snapshot(event("once"), hash);
    member.put_note(NoteKind::Timer, "fee".into(), 7, event("5"));
    committed(&store, commit);
    let check = || {
        let snapshot = claim(&store, &alice).snapshot.unwrap();
        let kept = wait(|done| store.snapshots(alice.clone(), done)).unwrap();
        assert_eq!(kept.first(), Some(&snapshot));
        let timers = NoteQuery::Ranked { kind: NoteKind::Timer, after: None, up_to: 9 };
        let notes = wait(|done| store.notes(timers, 9, done));
        (snapshot.check(&alice), notes.map(|notes| notes.len()))
    };
    assert_eq!(check(), (Ok(()), Ok(1)));
    raw.run("UPDATE snapshot SET payload = 'more'; UPDATE note SET rank = 8");
    let (snapshot, notes) = check();
    let (snapshot, notes) = (snapshot.unwrap_err(), notes.unwrap_err());
    assert!(
        matches!(&snapshot, StoreError::Corrupt { entity, .. } if *entity == alice),
        "{snapshot}"
    );
    let StoreError::CorruptNote { note, .. } = notes else { panic!("{notes}") };
    assert_eq!((note.entity, note.kind, note.rank), (alice.clone(), NoteKind::Timer, 8));
    for rank in [i64::MIN, -7] {
        raw.run(&format!("UPDATE note SET rank = {rank}"));
        let StoreError::CorruptNote { note, .. } = check().1.unwrap_err() else { panic!("{rank}") };
        assert_eq!(note.rank.cast_signed(), rank);
    }
    raw.run("UPDATE snapshot SET payload = 'once'; UPDATE note SET rank = 7");
    assert_eq!(check(), (Ok(()), Ok(1)));
    // What is put again has a sum of its own.
    let now = claim(&store, &alice);
    let mut again = step(&[(&alice, &now)], "again");
    let member = again.member(alice.clone(), now.epoch, now.last);
    member.put_note(NoteKind::Timer, "fee".into(), 6, event("7"));
    committed(&store, again);
    assert_eq!(check().1, Ok(1));
}

/// Those who write and read while it is brought up to date are in its way, and are not broken by
/// it.
#[test]
fn a_schema_that_is_used_is_brought_up_to_date() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let raw = server.raw(&schema);
    raw.run(&format!("CREATE SCHEMA \"{}\"", schema.replace('"', "\"\"")));
    raw.run(include_str!("../../src/tables.sql"));
    // It is not the one that the server picks when there is a circle.
    raw.run("SET deadlock_timeout = '1min'; BEGIN; UPDATE counter SET position = position + 1");
    std::thread::scope(|scope| {
        let store = scope.spawn(|| server.store(&schema));
        // (Who waits is connected only now: a transaction sees all activity as of its first look,
        // but locks as they are.)
        raw.until(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'counter'::regclass",
        );
        // A circle.
        raw.run("SELECT * FROM entity; COMMIT");
        claim(&store.join().unwrap(), &account("alice"));
    });
}

#[test]
fn a_reader_reads_and_makes_nothing() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let missing = error(server.builder(&schema).connect_reader());
    assert!(matches!(missing, ConnectError::NotAStore { .. }), "{missing}");
    let raw = server.raw(&schema);
    assert!(raw.rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", &[&schema]).is_empty());
    let (store, alice) = (server.store(&schema), account("alice"));
    let reader = server.builder(&schema).connect_reader().unwrap();
    for n in 1..5 {
        let next = step(&[(&alice, &claim(&store, &alice))], "x");
        assert!(matches!(commit(&store, next), StoreOutcome::Committed(_)));
        assert_eq!(texts(&reader, &alice).len(), n);
    }
    // Not even locks of a writer are in its way.
    raw.run("BEGIN; SELECT * FROM entity FOR UPDATE; UPDATE counter SET last = last + 1");
    assert_eq!(texts(&reader, &alice).len(), 4);
    let listed = wait(|done| reader.entities(None, None, 9, done)).unwrap();
    assert_eq!(listed.iter().map(|one| one.id.clone()).collect::<Vec<EntityId>>(), [alice]);
    assert!(format!("{reader:?}").contains("schema") && !format!("{reader:?}").contains("cret"));
}

/// A handle is left, and still used: there are no connections all the same.
#[test]
fn a_store_that_is_closed_has_no_connection() {
    let Some(server) = server::shared() else { return };
    let (schema, alice) = (server.schema(), account("alice"));
    let name = format!("closed {}", std::process::id());
    let url = server.url();
    let separator = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{separator}application_name={}", name.replace(' ', "%20"));
    let store = PostgresStore::builder(&url).schema(&schema).connect().unwrap();
    let held = claim(&store, &alice);
    let (first, second) = (step(&[(&alice, &held)], "before"), step(&[(&alice, &held)], "late"));
    let raw = server.raw(&schema);
    let count = format!("FROM pg_stat_activity WHERE application_name = '{name}'");
    assert_eq!(raw.number(&format!("SELECT count(*) {count}")), 2);
    let stored = ask(|done| store.commit(first, done));
    let read = ask(|done| store.position(done));
    let closed = ask(|done| store.close(done));
    let late = (
        commit(&store, second.clone()),
        try_claim(&store, &alice).err(),
        settle(&store, second.id()).err(),
        try_texts(&store, &alice).err(),
    );
    let is = || Some(StoreError::Closed);
    let refused = StoreOutcome::Refused(CommitRefusal::Store(StoreError::Closed));
    assert_eq!(late, (refused, is(), is(), is()));
    closed.recv().unwrap();
    // What was asked before was told before.
    assert!(matches!(stored.try_recv().unwrap(), StoreOutcome::Committed(_)));
    assert!(read.try_recv().unwrap().is_ok());
    // (The server ends its processes by itself behind that.)
    raw.until(&format!("SELECT (count(*) = 0)::int4::int8 {count}"));
    wait(|done| store.close(done));
    assert_eq!(texts(&server.store(&schema), &alice), ["before"]);
}

/// It is not known what a schema is whose table is locked, or whose connection is ended meanwhile.
#[test]
fn a_schema_that_is_held_is_not_taken_for_that_of_another_program() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    drop(server.store(&schema));
    let raw = server.raw(&schema);
    raw.run("BEGIN; LOCK TABLE version");
    let short = server.builder(&schema).operation_timeout(Duration::from_millis(300));
    match error(short.connect()) {
        ConnectError::Unreachable { .. } | ConnectError::Server { .. } => {}
        other => panic!("{other}"),
    }
    let ended = thread::scope(|scope| {
        let connecting = scope.spawn(|| server.builder(&schema).connect());
        raw.until_it_is_waited_for();
        raw.run(
            "SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
             WHERE pg_backend_pid() = ANY(pg_blocking_pids(a.pid))",
        );
        error(connecting.join().unwrap())
    });
    assert!(matches!(ended, ConnectError::Unreachable { .. }), "{ended}");
    raw.run("ROLLBACK");
    drop(server.store(&schema));
}

/// A connection that waits for work stays, whatever the settings of the role or the database are.
#[test]
fn a_connection_without_work_is_not_ended() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let raw = server.raw("public");
    // PostgreSQL 13 does not have it.
    if raw.number("SELECT count(*) FROM pg_settings WHERE name = 'idle_session_timeout'") == 0 {
        return;
    }
    drop(server.store(&schema));
    let url = server.url();
    let end = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{end}options=-c%20idle_session_timeout%3D3600000");
    let store = PostgresStore::builder(&url).schema(&schema).connect().unwrap();
    let raw = server.raw(&schema);
    raw.run(
        "CREATE TABLE seen (value text);
         CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO seen VALUES (current_setting('idle_session_timeout')); RETURN NEW; END $$;
         CREATE TRIGGER look BEFORE INSERT ON entity FOR EACH ROW EXECUTE FUNCTION look()",
    );
    claim(&store, &account("alice"));
    let seen: String = raw.rows("SELECT value FROM seen", &[])[0].get(0);
    assert_eq!(seen, "0");
}

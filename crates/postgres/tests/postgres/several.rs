//! Several processes in one database, and transactions that are open at once.

use std::sync::mpsc::TryRecvError;
use std::sync::{Arc, Mutex};
use std::thread;

use coact_persist::{
    Claim, Commit, CommitId, CommitRefusal, CommitSettlement, EntityId, EntitySummary, LogEntry,
    LogQuery, Note, NoteQuery, Position, Seq, Snapshot, Store, StoreCallback, StoreError,
    StoreOutcome, StoreReader, StoredEvent, Tags, conformance, wait,
};
use coact_postgres::PostgresStore;

use crate::bank::{
    account, ask, claim, commit, committed, event, settle, step, text, texts, try_claim,
};
use crate::server;

/// Two stores in one schema, as if two processes took turns.
struct Both {
    stores: [PostgresStore; 2],
    turn: Mutex<usize>,
}

impl Both {
    fn next(&self) -> &PostgresStore {
        let mut turn = self.turn.lock().unwrap();
        *turn += 1;
        &self.stores[*turn % 2]
    }
}

impl StoreReader for Both {
    fn events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        self.next().events(entity, after, most, done);
    }

    fn snapshots(&self, entity: EntityId, done: StoreCallback<Result<Vec<Snapshot>, StoreError>>) {
        self.next().snapshots(entity, done);
    }

    fn notes(
        &self,
        which: NoteQuery,
        most: usize,
        done: StoreCallback<Result<Vec<Note>, StoreError>>,
    ) {
        self.next().notes(which, most, done);
    }

    fn log(
        &self,
        which: LogQuery,
        after: Position,
        most: usize,
        done: StoreCallback<Result<Vec<LogEntry>, StoreError>>,
    ) {
        self.next().log(which, after, most, done);
    }

    fn entities(
        &self,
        kind: Option<Arc<str>>,
        after: Option<EntityId>,
        most: usize,
        done: StoreCallback<Result<Vec<EntitySummary>, StoreError>>,
    ) {
        self.next().entities(kind, after, most, done);
    }

    fn position(&self, done: StoreCallback<Result<Position, StoreError>>) {
        self.next().position(done);
    }
}

impl Store for Both {
    fn claim(&self, entity: EntityId, done: StoreCallback<Result<Claim, StoreError>>) {
        self.next().claim(entity, done);
    }

    fn commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        self.next().commit(commit, done);
    }

    fn settle(&self, commit: CommitId, done: StoreCallback<Result<CommitSettlement, StoreError>>) {
        self.next().settle(commit, done);
    }

    fn close(&self, done: StoreCallback<()>) {
        for store in &self.stores {
            wait(|closed| store.close(closed));
        }
        done(());
    }
}

#[test]
fn two_stores_pass_the_tests_of_all_stores_together() {
    let Some(server) = server::shared() else { return };
    conformance::all_but_order(&|| {
        let schema = server.schema();
        let stores = [server.store(&schema), server.store(&schema)];
        Arc::new(Both { stores, turn: Mutex::new(0) })
    });
}

#[test]
fn the_owner_that_came_later_fences_the_one_before() {
    let Some(server) = server::shared() else { return };
    let (schema, alice) = (server.schema(), account("alice"));
    let [first, second] = [server.store(&schema), server.store(&schema)];
    let old = claim(&first, &alice);
    committed(&first, step(&[(&alice, &old)], "of the first"));
    let new = claim(&second, &alice);
    assert_eq!(new.last, Seq::new(1));
    let late = Claim { last: new.last, hash: new.hash, ..old };
    assert!(matches!(
        commit(&first, step(&[(&alice, &late)], "late")),
        StoreOutcome::Refused(CommitRefusal::Fenced { .. })
    ));
    committed(&second, step(&[(&alice, &new)], "of the second"));
    assert_eq!(texts(&first, &alice), ["of the first", "of the second"]);
}

/// Nor does it wait for one that writes.
#[test]
fn a_check_writes_and_locks_nothing() {
    let Some(server) = server::shared() else { return };
    let (schema, names) = (server.schema(), ["alice", "bob"].map(account));
    let store = server.store(&schema);
    let claims = names.each_ref().map(|name| claim(&store, name));
    let position = committed(&store, step(&[(&names[0], &claims[0])], "1"));
    let claims = names.each_ref().map(|name| claim(&store, name));
    let check = || {
        let mut check = Commit::new();
        for (name, claim) in names.iter().zip(&claims) {
            check.member(name.clone(), claim.epoch, claim.last).rests_on(claim.hash);
        }
        check.make_check();
        commit(&store, check)
    };
    let raw = server.raw(&schema);
    let versions = || -> Vec<String> {
        let text = "SELECT 'e' || ctid || xmin || xmax FROM entity UNION ALL
             SELECT 'c' || ctid || xmin || xmax FROM counter UNION ALL
             SELECT 'd' || ctid || xmin || xmax FROM decision ORDER BY 1";
        raw.rows(text, &[]).iter().map(|row| row.get(0)).collect()
    };
    let before = versions();
    (0..3).for_each(|_| assert_eq!(check(), StoreOutcome::Committed(position)));
    assert_eq!(versions(), before);
    raw.run("BEGIN; SELECT FROM counter FOR UPDATE; SELECT FROM entity FOR UPDATE");
    assert_eq!(check(), StoreOutcome::Committed(position));
    raw.run("ROLLBACK");
    // Another store has the entity: what this one knows of it is not asked.
    let other = server.store(&schema);
    claim(&other, &names[1]);
    assert!(matches!(
        check(),
        StoreOutcome::Refused(CommitRefusal::Fenced { entity, .. }) if entity == names[1]
    ));
}

/// It tells of what that one has stored, so its position is not one from before the wait.
#[test]
fn a_claim_that_waits_for_a_commit_has_its_position() {
    let Some(server) = server::shared() else { return };
    let (schema, alice) = (server.schema(), account("alice"));
    let store = server.store(&schema);
    let first = claim(&store, &alice);
    let position = committed(&store, step(&[(&alice, &first)], "1"));
    // Another process, in the middle of a commit.
    let raw = server.raw(&schema);
    raw.run("BEGIN; UPDATE entity SET last = 2; UPDATE counter SET last = last + 1");
    let told = ask(|done| store.claim(alice, done));
    raw.until_it_is_waited_for();
    raw.run("COMMIT");
    let claimed = told.recv().expect("it is told").expect("the store is there");
    assert_eq!((claimed.last, claimed.position), (Seq::new(2), position.next()));
}

/// Each of two stores commits over the same entities, in the other's order: they refuse each other,
/// and nothing else happens.
#[test]
fn two_stores_that_want_the_same_entities_only_fence_each_other() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let names: Vec<_> = (0..6).map(|n| account(n.to_string())).collect();
    let stored: usize = thread::scope(|scope| {
        let names = &names;
        let server = &server;
        let schema = &schema;
        let writers: Vec<_> = (0..2)
            .map(|writer: usize| {
                scope.spawn(move || {
                    let store = server.store(schema);
                    let mut stored = 0;
                    for round in 0..60 {
                        let mut order: Vec<_> = names.iter().collect();
                        order.rotate_left(round % 6);
                        if writer == 1 {
                            order.reverse();
                        }
                        // All are in flight at once: several commits, with claims of others
                        // between them.
                        let claims: Vec<_> = order
                            .iter()
                            .map(|name| ask(|done| store.claim((*name).clone(), done)))
                            .collect();
                        let claims: Vec<Claim> =
                            claims.into_iter().map(|told| told.recv().unwrap().unwrap()).collect();
                        let outcomes: Vec<_> = (0..3)
                            .map(|pair| {
                                let both = [2 * pair, 2 * pair + 1].map(|n| (order[n], &claims[n]));
                                ask(|done| store.commit(step(&both, "x"), done))
                            })
                            .collect();
                        for outcome in outcomes {
                            match outcome.recv().unwrap() {
                                StoreOutcome::Committed(_) => stored += 2,
                                StoreOutcome::Refused(
                                    CommitRefusal::Fenced { .. } | CommitRefusal::Conflict { .. },
                                ) => {}
                                other => panic!("{other:?}"),
                            }
                        }
                    }
                    stored
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let store = server.store(&schema);
    let all: usize = names.iter().map(|name| texts(&store, name).len()).sum();
    assert_eq!(all, stored);
    assert!(stored > 0);
}

/// What the log of all accounts has, and so that of a tag which all of their events have.
fn log(store: &dyn StoreReader) -> Vec<(u64, String)> {
    let [all, accounts, tagged] = [
        LogQuery::Tag { tag: "even".into(), kind: None },
        LogQuery::Tag { tag: "even".into(), kind: Some("account".into()) },
        LogQuery::Kind("account".into()),
    ]
    .map(|which| wait(|done| store.log(which, Position::ZERO, 100, done)).unwrap());
    assert_eq!((&all, &accounts), (&tagged, &tagged));
    all.iter().map(|entry| (entry.stored.position.get(), text(&entry.stored.event))).collect()
}

fn even(members: &[(&EntityId, &Claim)], text: &str) -> Commit {
    let mut commit = step(members, text);
    for (entity, claim) in members {
        commit.member((*entity).clone(), claim.epoch, claim.last).tag(Tags::new(["even"]));
    }
    commit
}

/// Of two transactions that are open at once, one has its position and has not committed yet: no
/// other gets a later one before it has, so that none who reads the log sees that and misses the
/// former.
#[test]
fn a_position_is_seen_only_when_all_before_it_are() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let (store, other, raw) = (server.store(&schema), server.store(&schema), server.raw(&schema));
    let [alice, bob] = ["alice", "bob"].map(account);
    let (of_alice, of_bob) = (claim(&store, &alice), claim(&other, &bob));
    for ends in ["COMMIT", "ROLLBACK"] {
        let before = log(&store);
        // Another process, which is slow: as far as the end of a store's transaction, for an entity
        // of its own.
        raw.run("BEGIN; UPDATE counter SET last = last + 1");
        raw.run(
            "INSERT INTO event SELECT 1000000, last, last, (SELECT id FROM kind), 'noted', 1, 0, 'slow'
                FROM counter;
             INSERT INTO tag SELECT 'even', last, 1000000, last, (SELECT id FROM kind) FROM counter;
             INSERT INTO entity (id, kind, key, epoch, last, hash) OVERRIDING SYSTEM VALUE
                SELECT 1000000, id, 'slow', 1, 1, 0 FROM kind ON CONFLICT DO NOTHING",
        );
        let now = [claim(&store, &alice), claim(&other, &bob)];
        assert!(now[0].epoch > of_alice.epoch && now[1].epoch > of_bob.epoch, "claims do not wait");
        let first = ask(|done| store.commit(even(&[(&alice, &now[0])], "first"), done));
        raw.until_it_is_waited_for();
        let second = ask(|done| other.commit(even(&[(&bob, &now[1])], "second"), done));
        raw.until("SELECT count(*) - 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
        // Reads go on meanwhile, and see nothing that is later.
        for reader in [&store, &other] {
            assert_eq!(log(reader), before);
        }
        assert_eq!(first.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(second.try_recv(), Err(TryRecvError::Empty));
        raw.run(ends);
        for told in [first, second] {
            assert!(matches!(told.recv().unwrap(), StoreOutcome::Committed(_)));
        }
        let after = log(&store);
        let mut new: Vec<&str> = after[before.len()..].iter().map(|(_, text)| &**text).collect();
        if ends == "COMMIT" {
            assert_eq!(new.remove(0), "slow");
        }
        new.sort_unstable();
        assert_eq!(new, ["first", "second"]);
        assert!(after.is_sorted_by_key(|(position, _)| *position));
    }
}

/// A connection that was lost has a transaction open, which has inserted its decision and may
/// commit yet: what is told by then waits for it, and is the truth.
#[test]
fn settling_waits_for_a_transaction_that_may_commit_yet() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let (store, raw) = (server.store(&schema), server.raw(&schema));
    // With the counter's lock, as stores have it, and without.
    for takes_counter in [true, false] {
        for ends in ["COMMIT", "ROLLBACK"] {
            let id = CommitId::unique();
            let bytes = id.get().to_be_bytes();
            raw.run("BEGIN");
            if takes_counter {
                raw.run("UPDATE counter SET last = last + 1");
            }
            let insert = "INSERT INTO decision (id, position) SELECT $1, last FROM counter RETURNING position";
            let position: i64 = raw.rows(insert, &[&&bytes[..]])[0].get(0);
            let told = ask(|done| store.settle(id, done));
            raw.until_it_is_waited_for();
            assert_eq!(told.try_recv(), Err(TryRecvError::Empty));
            raw.run(ends);
            let expected = if ends == "COMMIT" {
                CommitSettlement::Committed(Position::new(position as u64))
            } else {
                CommitSettlement::Aborted
            };
            assert_eq!(told.recv().unwrap(), Ok(expected));
            assert_eq!(settle(&store, id), Ok(expected));
            // What is settled as aborted does not come yet.
            let late = raw.wait(raw.client.query(insert, &[&&bytes[..]]));
            assert_eq!(late.unwrap_err().code().unwrap().code(), "23505");
        }
    }
}

/// The same with a commit that was submitted to two stores, the first of which is not through yet.
#[test]
fn a_commit_that_comes_on_two_connections_is_stored_once() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let (first, second, raw) = (server.store(&schema), server.store(&schema), server.raw(&schema));
    let alice = account("alice");
    for _ in 0..5 {
        let once = step(&[(&alice, &claim(&first, &alice))], "once");
        raw.run("BEGIN; SELECT * FROM counter FOR UPDATE");
        let same = once.clone();
        let one = ask(|done| first.commit(once, done));
        raw.until_it_is_waited_for();
        let id = same.id();
        let other = ask(|done| second.commit(same, done));
        let settled = ask(|done| second.settle(id, done));
        raw.run("COMMIT");
        let StoreOutcome::Committed(position) = one.recv().unwrap() else {
            panic!("it came first")
        };
        assert_eq!(other.recv().unwrap(), StoreOutcome::Committed(position));
        assert_eq!(settled.recv().unwrap(), Ok(CommitSettlement::Committed(position)));
    }
    assert_eq!(texts(&first, &alice), ["once"; 5]);
}

#[test]
fn a_deadlock_has_the_transaction_tried_again() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let (store, raw) = (server.store(&schema), server.raw(&schema));
    let alice = account("alice");
    let now = claim(&store, &alice);
    // A tool that locks in another order, and is not the one that the server picks.
    raw.run("SET deadlock_timeout = '1min'; BEGIN; SELECT * FROM counter FOR UPDATE");
    let outcome = ask(|done| store.commit(step(&[(&alice, &now)], "once"), done));
    raw.until_it_is_waited_for();
    raw.run("SELECT * FROM entity FOR UPDATE");
    raw.run("COMMIT");
    let outcome = outcome.recv().unwrap();
    assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
    assert_eq!(texts(&store, &alice), ["once"]);
}

#[test]
fn a_serialization_failure_has_the_transaction_tried_again_and_not_for_ever() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let (store, raw) = (server.store(&schema), server.raw(&schema));
    let alice = account("alice");
    raw.run(
        "CREATE SEQUENCE failures;
         CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('failures') % 4 <> 0 THEN
                RAISE EXCEPTION 'on purpose' USING ERRCODE = '40001';
            END IF;
            RETURN NEW;
         END $$;
         CREATE TRIGGER fails BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION fails();",
    );
    for _ in 0..5 {
        committed(&store, step(&[(&alice, &claim(&store, &alice))], "x"));
    }
    assert_eq!(raw.number("SELECT last_value FROM failures"), 20);
    // Without an end.
    raw.run("ALTER SEQUENCE failures INCREMENT BY 4 RESTART WITH 1");
    let refused = commit(&store, step(&[(&alice, &claim(&store, &alice))], "never"));
    assert!(
        matches!(&refused, StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { why })) if why.contains("40001")),
        "{refused:?}"
    );
    raw.run("DROP TRIGGER fails ON event");
    assert!(try_claim(&store, &alice).is_ok());
    assert_eq!(texts(&store, &alice), ["x"; 5]);
}

/// A tool that keeps a lock: what is told is told in time, and what was asked is not done later.
#[test]
fn a_lock_that_is_not_released_is_told() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    // (It holds for what makes the tables as well, which takes as long as the machine is busy.)
    let timeout = std::time::Duration::from_secs(1);
    let store = server.builder(&schema).operation_timeout(timeout).connect().unwrap();
    let (raw, alice) = (server.raw(&schema), account("alice"));
    let now = claim(&store, &alice);
    for locked in ["entity", "counter"] {
        raw.run(&format!("BEGIN; SELECT * FROM {locked} FOR UPDATE"));
        let outcome = commit(&store, step(&[(&alice, &now)], "never"));
        assert!(
            matches!(
                &outcome,
                StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { .. }))
            ),
            "{outcome:?}"
        );
        raw.run("COMMIT");
    }
    let mut notes = Commit::new();
    let member = notes.member(alice.clone(), now.epoch, now.last);
    member.event(event("then"), now.hash);
    committed(&store, notes);
    assert_eq!(texts(&store, &alice), ["then"]);
}

//! What is done in one transaction: each thing as if it were alone, in the order of submission.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Receiver;

use coact_persist::{
    Claim, Commit, CommitId, CommitRefusal, CommitSettlement, EntityId, Epoch, Event, EventHash,
    LogQuery, MemoryStore, NoteKey, NoteKind, NoteQuery, Position, Seq, Store, StoreError,
    StoreOutcome, StoreReader, Tags, wait,
};
use coact_postgres::PostgresStore;

use crate::bank::{account, ask, claim, commit, committed, event, step, texts};
use crate::raw::Raw;
use crate::server;

/// Has the store wait with a first transaction while a number of things are asked, so that they are
/// in one.
fn in_one_transaction<T>(store: &PostgresStore, raw: &Raw, asked: impl FnOnce() -> T) -> T {
    raw.run("BEGIN; SELECT * FROM counter FOR UPDATE");
    let first = ask(|done| store.commit(Commit::new(), done));
    raw.until_it_is_waited_for();
    let all = asked();
    raw.run("COMMIT");
    assert!(matches!(first.recv().unwrap(), StoreOutcome::Committed(_)));
    all
}

#[test]
fn what_waits_when_it_is_dropped_is_written() {
    let Some(server) = server::shared() else { return };
    let (schema, alice) = (server.schema(), account("alice"));
    let store = server.store(&schema);
    let mut now = claim(&store, &alice);
    let told = Arc::new(AtomicU32::new(0));
    for n in 0..500 {
        let next = step(&[(&alice, &now)], &n.to_string());
        now.hash = now.hash.with(now.last.next(), &event(&n.to_string()));
        now.last = now.last.next();
        let told = Arc::clone(&told);
        store.commit(
            next,
            Box::new(move |outcome| {
                assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
                told.fetch_add(1, Ordering::Relaxed);
            }),
        );
    }
    drop(store);
    assert_eq!(told.load(Ordering::Relaxed), 500);
    let expected: Vec<String> = (0..500).map(|n| n.to_string()).collect();
    assert_eq!(texts(&server.store(&schema), &alice), expected);
}

#[test]
fn a_refused_commit_fails_no_other_in_its_transaction() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let (store, raw) = (server.store(&schema), server.raw(&schema));
    let names: Vec<_> = (0..100).map(|n| account(n.to_string())).collect();
    let claims: Vec<_> = names.iter().map(|name| claim(&store, name)).collect();
    for name in names.iter().step_by(3) {
        claim(&store, name);
    }
    let all = in_one_transaction(&store, &raw, || -> Vec<_> {
        let each = names.iter().zip(&claims);
        each.map(|(name, claim)| ask(|done| store.commit(step(&[(name, claim)], "x"), done)))
            .collect()
    });
    for (n, outcome) in all.into_iter().enumerate() {
        match outcome.recv().unwrap() {
            StoreOutcome::Committed(_) => assert_ne!(n % 3, 0),
            StoreOutcome::Refused(CommitRefusal::Fenced { entity, .. }) => {
                assert_eq!((n % 3, entity), (0, names[n].clone()));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(texts(&store, &names[n]).len(), usize::from(n % 3 != 0));
    }
    // All that were stored were one transaction.
    let transactions = raw.number("SELECT count(DISTINCT xmin::text) FROM event");
    assert_eq!(transactions, 1);
}

#[test]
fn what_the_server_does_not_take_fails_alone() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let (store, raw) = (server.store(&schema), server.raw(&schema));
    raw.run("ALTER TABLE event ADD CHECK (octet_length(payload) < 100)");
    let names: Vec<_> = (0..10).map(|n| account(n.to_string())).collect();
    let claims: Vec<_> = names.iter().map(|name| claim(&store, name)).collect();
    let large = "x".repeat(100);
    let all = in_one_transaction(&store, &raw, || -> Vec<_> {
        let each = names.iter().zip(&claims).enumerate();
        each.map(|(n, (name, claim))| {
            let text = if n % 4 == 2 { &large } else { "x" };
            ask(|done| store.commit(step(&[(name, claim)], text), done))
        })
        .collect()
    });
    for (n, outcome) in all.into_iter().enumerate() {
        let outcome = outcome.recv().unwrap();
        let is_large = n % 4 == 2;
        match &outcome {
            StoreOutcome::Committed(_) => assert!(!is_large),
            StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { why })) => {
                assert!(is_large && why.contains("check constraint"), "{why}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(texts(&store, &names[n]).len(), usize::from(!is_large));
    }
}

#[test]
fn a_commit_that_is_too_large_is_refused_before_it_is_sent() {
    let Some(server) = server::shared() else { return };
    let (store, alice) = (server.store(&server.schema()), account("alice"));
    let now = claim(&store, &alice);
    let mut large = Commit::new();
    let (member, value) =
        (large.member(alice.clone(), now.epoch, now.last), Event::new("x", 1, vec![0; 1 << 20]));
    for n in 0..513_u32 {
        let key = NoteKey::new(n.to_be_bytes());
        member.put_note(NoteKind::ClientAnswer, key, 0, value.clone());
    }
    let refused = commit(&store, large);
    assert!(
        matches!(&refused, StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { why })) if why.contains("bytes")),
        "{refused:?}"
    );
    committed(&store, step(&[(&alice, &now)], "x"));
}

#[test]
fn what_panics_when_it_is_told_stops_nothing() {
    let Some(server) = server::shared() else { return };
    let store = server.store(&server.schema());
    store.claim(account("alice"), Box::new(|_| panic!("on purpose")));
    store.events(account("alice"), Seq::ZERO, 1, Box::new(|_| panic!("on purpose")));
    assert_eq!(claim(&store, &account("alice")).epoch, Epoch::new(2));
    assert_eq!(texts(&store, &account("alice")).len(), 0);
}

#[test]
fn the_last_handle_may_be_dropped_where_a_result_is_told() {
    let Some(server) = server::shared() else { return };
    let store = Arc::new(server.store(&server.schema()));
    let (same, (tell, told)) = (Arc::clone(&store), std::sync::mpsc::channel());
    let (go, gone) = std::sync::mpsc::channel::<()>();
    store.claim(
        account("alice"),
        Box::new(move |claimed| {
            let _ = gone.recv();
            drop(same);
            tell.send(claimed.is_ok()).unwrap();
        }),
    );
    drop(store);
    drop(go);
    assert!(told.recv().unwrap());
}

/// Longer than a row of an index, and not to be compressed.
fn long(mut seed: u64, length: usize) -> String {
    (0..length)
        .map(|_| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from(b'!' + (seed >> 33) as u8 % 90)
        })
        .collect()
}

#[test]
fn keys_have_any_length_and_are_ordered_by_their_bytes() {
    let Some(server) = server::shared() else { return };
    let store = server.store(&server.schema());
    let (kind, same) = (long(1, 5_000), long(2, 5_000));
    let keys = [same.clone() + "a", same.clone() + "b", same, long(3, 9_000), String::new()];
    let mut ids: Vec<_> = keys.iter().map(|key| EntityId::new(&*kind, &**key)).collect();
    for id in &ids {
        let now = claim(&store, id);
        let mut next = step(&[(id, &now)], "x");
        for key in &keys {
            next.member(id.clone(), now.epoch, now.last).put_note(
                NoteKind::Timer,
                NoteKey::from(&**key),
                7,
                event("note"),
            );
        }
        committed(&store, next);
    }
    ids.sort();
    let mut listed = Vec::new();
    while let Some(next) =
        wait(|done| store.entities(None, listed.last().cloned(), 1, done)).unwrap().pop()
    {
        listed.push(next.id);
    }
    assert_eq!(listed, ids);
    let mut sorted = keys.to_vec();
    sorted.sort();
    for id in &ids {
        let mut found: Vec<NoteKey> = Vec::new();
        loop {
            let after = found.last().map(|key| (NoteKind::Timer, key.clone()));
            let which = NoteQuery::Of { entity: id.clone(), after };
            let Some(next) = wait(|done| store.notes(which, 1, done)).unwrap().pop() else { break };
            found.push(next.key);
        }
        assert_eq!(found, sorted.iter().map(|key| NoteKey::from(&**key)).collect::<Vec<_>>());
    }
    let (mut ranked, mut after) = (0, None);
    while let Some(next) = {
        let which = NoteQuery::Ranked { kind: NoteKind::Timer, after, up_to: 7 };
        wait(|done| store.notes(which, 1, done)).unwrap().pop()
    } {
        let place = (next.entity.clone(), next.key.clone());
        let (of, key) = (&ids[ranked / keys.len()], &sorted[ranked % keys.len()]);
        assert_eq!(place, (of.clone(), NoteKey::from(&**key)));
        after = Some((next.rank, place.0, place.1));
        ranked += 1;
    }
    assert_eq!(ranked, 25);
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// What is asked of two stores.
enum Asked {
    Claim(EntityId),
    Commit(Commit),
    Settle(CommitId),
}

/// What one has told.
enum Told {
    Claim(Receiver<Result<Claim, StoreError>>),
    Commit(Receiver<StoreOutcome>),
    Settle(Receiver<Result<CommitSettlement, StoreError>>),
}

fn ask_one(store: &dyn Store, asked: &Asked) -> Told {
    match asked {
        Asked::Claim(id) => Told::Claim(ask(|done| store.claim(id.clone(), done))),
        Asked::Commit(commit) => Told::Commit(ask(|done| store.commit(commit.clone(), done))),
        Asked::Settle(id) => Told::Settle(ask(|done| store.settle(*id, done))),
    }
}

impl Told {
    fn text(self) -> String {
        match self {
            Self::Claim(told) => format!("{:?}", told.recv().unwrap()),
            Self::Commit(told) => format!("{:?}", told.recv().unwrap()),
            Self::Settle(told) => format!("{:?}", told.recv().unwrap()),
        }
    }
}

/// A commit over some entities, mostly as they are now.
fn any_commit(
    random: &mut Random,
    names: &[EntityId],
    now: &mut [(Epoch, Seq, EventHash)],
) -> Commit {
    let mut commit = Commit::new();
    for (n, name) in names.iter().enumerate() {
        if random.below(2) == 0 {
            continue;
        }
        let (epoch, last, hash) = &mut now[n];
        let stale = random.below(12);
        let epoch = if stale == 0 { Epoch::new(epoch.get() + 1) } else { *epoch };
        let after = if stale == 1 { last.next() } else { *last };
        let member = commit.member(name.clone(), epoch, after);
        match random.below(12) {
            0 => {
                member.delete();
                (*last, *hash) = (Seq::ZERO, EventHash::of(name));
                continue;
            }
            1 => *hash = member.replace(Event::new("state", 1, vec![n as u8]), *hash),
            _ => {
                for event in 0..random.below(3) {
                    *hash = member.event(Event::new("event", 2, vec![event as u8]), *hash);
                    let has = |at: u32| hash.get() >> at & 1 == 1;
                    let tags = ["x", "y", "z"].into_iter().zip(0..);
                    member.tag(Tags::new(tags.filter(|(_, at)| has(*at)).map(|(tag, _)| tag)));
                    if random.below(4) == 0 {
                        member.snapshot(Event::new("snapshot", 3, vec![event as u8]), *hash);
                    }
                }
            }
        }
        *last = member.last();
        if random.below(4) == 0 {
            member.trim(Seq::new(random.below(last.get() + 2)));
        }
        for _ in 0..random.below(3) {
            let kind = NoteKind::ALL[random.below(2) as usize];
            let key = NoteKey::new([random.below(3) as u8]);
            if random.below(3) == 0 {
                member.remove_note(kind, key);
            } else {
                member.put_note(kind, key, random.below(4), Event::new("note", 4, [1]));
            }
        }
    }
    commit
}

/// All that can be read.
fn contents(store: &dyn Store, names: &[EntityId]) -> String {
    let mut all = format!("{:#?}\n", wait(|done| store.entities(None, None, 99, done)));
    all += &format!(
        "{:#?}\n",
        wait(|done| store.log("account".into(), Position::ZERO, 1 << 20, done))
    );
    for (tag, kind) in [("x", None), ("y", Some("account".into())), ("z", None)] {
        let which = LogQuery::Tag { tag: tag.into(), kind };
        all += &format!("{:#?}\n", wait(|done| store.log(which, Position::ZERO, 1 << 20, done)));
    }
    for name in names {
        all +=
            &format!("{:#?}\n", wait(|done| store.events(name.clone(), Seq::ZERO, 1 << 20, done)));
        all += &format!("{:#?}\n", wait(|done| store.snapshots(name.clone(), done)));
        let notes = NoteQuery::Of { entity: name.clone(), after: None };
        all += &format!("{:#?}\n", wait(|done| store.notes(notes, 99, done)));
    }
    for kind in NoteKind::ALL {
        let notes = NoteQuery::Ranked { kind, after: None, up_to: 2 };
        all += &format!("{:#?}\n", wait(|done| store.notes(notes, 99, done)));
    }
    all
}

/// Whatever is asked, and however much of it is one transaction, it is as with the store in memory.
#[test]
fn one_transaction_does_what_many_would() {
    let Some(server) = server::shared() else { return };
    let names = ["a", "b", "c", "d"].map(account);
    for seed in 0..12 {
        let schema = server.schema();
        let (store, raw, memory) = (server.store(&schema), server.raw(&schema), MemoryStore::new());
        let mut random = Random(seed);
        // (The first commit of each transaction is one of both.)
        let mut now = names.each_ref().map(|name| (Epoch::ZERO, Seq::ZERO, EventHash::of(name)));
        let (mut before, mut stored): (Vec<Commit>, usize) = (Vec::new(), 0);
        for _ in 0..8 {
            committed(&memory, Commit::new());
            let mut all = Vec::new();
            for _ in 0..40 {
                let expected = now;
                let asked = match random.below(20) {
                    0 => {
                        let n = random.below(4) as usize;
                        now[n].0 = now[n].0.next();
                        Asked::Claim(names[n].clone())
                    }
                    1 if !before.is_empty() => {
                        let n = random.below(before.len() as u64) as usize;
                        Asked::Commit(before[n].clone())
                    }
                    2 if !before.is_empty() => {
                        let n = random.below(before.len() as u64) as usize;
                        Asked::Settle(before[n].id())
                    }
                    kind => {
                        let commit = any_commit(&mut random, &names, &mut now);
                        before.push(commit.clone());
                        // Some are settled before they come.
                        if kind == 3 { Asked::Settle(commit.id()) } else { Asked::Commit(commit) }
                    }
                };
                let told = ask_one(&memory, &asked).text();
                let is_stored = told.starts_with("Committed");
                let is_first = matches!(&asked, Asked::Commit(commit) if before.last().is_some_and(|last| last.id() == commit.id()));
                let is_claim = matches!(asked, Asked::Claim(_));
                if !(is_claim || is_stored && is_first) {
                    now = expected;
                }
                stored += usize::from(is_stored);
                all.push((asked, told));
            }
            let told = in_one_transaction(&store, &raw, || -> Vec<Told> {
                all.iter().map(|(asked, _)| ask_one(&store, asked)).collect()
            });
            for (told, (_, expected)) in told.into_iter().zip(&all) {
                assert_eq!(told.text(), *expected, "seed {seed}");
            }
            assert_eq!(contents(&store, &names), contents(&memory, &names), "seed {seed}");
        }
        // Neither few nor all of 320.
        assert!((120..280).contains(&stored), "seed {seed}: {stored}");
        assert_eq!(commit(&store, Commit::new()), commit(&memory, Commit::new()));
    }
}

/// Decisions of the store's own are forgotten by number, others by age.
#[test]
fn decisions_are_forgotten_in_the_end() {
    let Some(server) = server::shared() else { return };
    let schema = server.schema();
    let (store, raw) = (server.store(&schema), server.raw(&schema));
    let decisions = || raw.number("SELECT count(*) FROM decision");
    raw.run(
        "INSERT INTO decision (id, at) VALUES ('old', now() - interval '8 days'), ('new', now() - interval '6 days')",
    );
    drop(store);
    let store = server.store(&schema);
    let aborted = CommitId::unique();
    assert_eq!(wait(|done| store.settle(aborted, done)), Ok(CommitSettlement::Aborted));
    assert_eq!(raw.number("SELECT count(*) FROM decision WHERE id IN ('old', 'new')"), 1);
    let (first, last) = (Commit::new(), Commit::new());
    let (first_id, last_id) = (first.id(), last.id());
    committed(&store, first);
    let all: Vec<_> = (0..25_000).map(|_| ask(|done| store.commit(Commit::new(), done))).collect();
    all.into_iter()
        .for_each(|told| assert!(matches!(told.recv().unwrap(), StoreOutcome::Committed(_))));
    committed(&store, last);
    let kept = decisions();
    assert!((10_000..14_000).contains(&kept), "{kept}");
    let is_kept = |id: CommitId| {
        let id = id.get().to_be_bytes();
        !raw.rows("SELECT 1 FROM decision WHERE id = $1", &[&&id[..]]).is_empty()
    };
    assert_eq!([first_id, last_id, aborted].map(is_kept), [false, true, true]);
}

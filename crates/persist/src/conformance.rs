//! The tests that every store has to pass: call [`all`] with a function that makes an empty one.

use std::collections::HashSet;
use std::sync::{Arc, mpsc};
use std::thread;

use crate::{
    Claim, Commit, CommitRefusal, CommitSettlement, EntityId, EntitySummary, Epoch, Event,
    EventHash, LogEntry, LogQuery, Note, NoteKey, NoteKind, NoteQuery, Position, Seq, Snapshot,
    Store, StoreError, StoreOutcome, StoredEvent, Tags, wait,
};

/// Makes an empty store.
pub type MakeStore<'a> = &'a dyn Fn() -> Arc<dyn Store>;

/// A test, with its name.
pub type ConformanceTest = (&'static str, fn(&dyn Store));

/// Each test.
pub const TESTS: &[ConformanceTest] = &[
    ("events come back as they were written", events_come_back),
    ("events are read in pages", events_are_read_in_pages),
    ("an entity that was never written is empty", what_is_not_there_is_empty),
    ("a claim fences the owner before", a_claim_fences),
    ("a claim tells the position of the last commit", claims_tell_the_position),
    ("a claim is behind the commits of all that it tells", claims_are_behind_commits),
    ("a member that is only read is checked", readers_are_checked),
    ("a check stores nothing", checks_store_nothing),
    ("a check finds another owner, and other events", checks_find_changes),
    ("a check is of one moment", checks_are_of_one_moment),
    ("an entity that was never claimed has epoch 0", never_claimed),
    ("a commit is stored as a whole or not at all", all_or_nothing),
    ("other events than expected are a conflict", conflicts),
    ("as many events of another history are a conflict", other_history),
    ("a commit without members is stored", no_members),
    ("a commit that comes twice is stored once", twice),
    ("commits that come twice among others are stored once", twice_among_others),
    ("what is settled before it comes is aborted", settled_first),
    ("what is settled afterwards is committed", settled_afterwards),
    ("the latest snapshot is told", snapshots),
    ("positions grow", positions_grow),
    ("a log has whole commits in their order", logs),
    ("who follows a log misses nothing", followed_logs),
    ("events come back with their tags", tags_come_back),
    ("the log of a tag has whole commits in their order", tagged_logs),
    ("who follows the log of a tag misses nothing", followed_tags),
    ("tags go with their events", tags_go),
    ("a tag is any text", any_tag),
    ("a state without events is replaced", states),
    ("events that were trimmed are gone", trimmed),
    ("an entity that was deleted begins anew", deleted),
    ("entities are listed", listed),
    ("notes are put, replaced and removed", notes_change),
    ("notes are found by their ranks", ranked_notes),
    ("notes belong to their commit", notes_belong_to_commits),
    ("one commit takes a note", one_takes_a_note),
    ("a note is left to any entity", notes_are_left),
    ("a key of a note is any bytes", any_key),
    ("identities are any text", any_text),
    ("large and empty payloads", payloads),
    ("a store that is closed has told all that was asked before", closed),
    ("ten thousand events in one commit", many_events),
    ("many writers keep a sum", many_writers),
];

/// Each test of the order in which one handle of a store does what it is asked without waiting.
pub const ORDER: &[ConformanceTest] =
    &[("a check sees what was submitted before it", checks_come_behind)];

/// Runs all of them, each with a store of its own.
///
/// # Panics
/// If one fails; the panic says which.
pub fn all(make: MakeStore<'_>) {
    run(make, TESTS);
    run(make, ORDER);
}

/// The same for a store that asks one handle and then another: all but those of the [`ORDER`].
///
/// # Panics
/// If one fails; the panic says which.
pub fn all_but_order(make: MakeStore<'_>) {
    run(make, TESTS);
}

fn run(make: MakeStore<'_>, tests: &[ConformanceTest]) {
    for (name, test) in tests {
        eprintln!("conformance: {name}");
        test(&*make());
    }
}

fn account(key: &str) -> EntityId {
    EntityId::new("account", key)
}

fn claim(store: &dyn Store, entity: &EntityId) -> Claim {
    wait(|done| store.claim(entity.clone(), done)).expect("the store is there")
}

fn commit(store: &dyn Store, commit: Commit) -> StoreOutcome {
    wait(|done| store.commit(commit, done))
}

fn committed(store: &dyn Store, what: Commit) -> Position {
    match commit(store, what) {
        StoreOutcome::Committed(position) => position,
        other => panic!("it is to be committed: {other:?}"),
    }
}

fn refusal(store: &dyn Store, what: Commit) -> CommitRefusal {
    match commit(store, what) {
        StoreOutcome::Refused(refusal) => refusal,
        other => panic!("it is to be refused: {other:?}"),
    }
}

fn events(store: &dyn Store, entity: &EntityId, after: u64, most: usize) -> Vec<StoredEvent> {
    wait(|done| store.events(entity.clone(), Seq::new(after), most, done)).expect("it can be read")
}

fn event(text: &str) -> Event {
    Event::new("noted", 1, text.as_bytes().to_vec())
}

/// A commit of these events to one entity.
fn write(entity: &EntityId, claim: &Claim, texts: &[&str]) -> Commit {
    let mut commit = Commit::new();
    let member = commit.member(entity.clone(), claim.epoch, claim.last);
    texts.iter().fold(claim.hash, |hash, text| member.event(event(text), hash));
    commit
}

fn events_come_back(store: &dyn Store) {
    let alice = account("alice");
    let first = claim(store, &alice);
    let mut both = Commit::new();
    let member = both.member(alice.clone(), first.epoch, first.last);
    let one = member.event(Event::new("opened", 3, vec![0, 255, 1]), first.hash);
    let two = member.event(Event::new("deposited", 1, b"100".to_vec()), one);
    let position = committed(store, both);
    let read = events(store, &alice, 0, 10);
    let expected = [
        (1, Event::new("opened", 3, vec![0, 255, 1]), one),
        (2, Event::new("deposited", 1, b"100".to_vec()), two),
    ];
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(seq, event, hash)| {
            let (seq, tags) = (Seq::new(seq), Tags::NONE);
            StoredEvent { seq, event, hash, position, tags }
        })
        .collect();
    assert_eq!(read, expected);
    let again = claim(store, &alice);
    assert_eq!((again.last, again.hash, again.epoch), (Seq::new(2), two, first.epoch.next()));
}

fn events_are_read_in_pages(store: &dyn Store) {
    let alice = account("alice");
    let texts: Vec<String> = (1..=10).map(|n| n.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    committed(store, write(&alice, &claim(store, &alice), &texts));
    let seqs = |after, most| -> Vec<u64> {
        events(store, &alice, after, most).iter().map(|event| event.seq.get()).collect()
    };
    assert_eq!(seqs(0, 4), [1, 2, 3, 4]);
    assert_eq!(seqs(4, 4), [5, 6, 7, 8]);
    assert_eq!(seqs(8, 4), [9, 10]);
    assert_eq!(seqs(10, 4), [0; 0]);
    assert_eq!(seqs(99, 4), [0; 0]);
    assert_eq!(seqs(3, 0), [0; 0]);
}

fn what_is_not_there_is_empty(store: &dyn Store) {
    let unknown = account("unknown");
    assert_eq!(events(store, &unknown, 0, 10), []);
    let first = claim(store, &unknown);
    let empty = crate::EventHash::of(&unknown);
    let (epoch, last, position) = (Epoch::new(1), Seq::ZERO, Position::ZERO);
    assert_eq!(first, Claim { epoch, last, hash: empty, snapshot: None, position });
}

fn a_claim_fences(store: &dyn Store) {
    let alice = account("alice");
    let old = claim(store, &alice);
    let new = claim(store, &alice);
    let fenced =
        CommitRefusal::Fenced { entity: alice.clone(), epoch: old.epoch, owner: new.epoch };
    assert_eq!(refusal(store, write(&alice, &old, &["late"])), fenced);
    committed(store, write(&alice, &new, &["in time"]));
    assert_eq!(events(store, &alice, 0, 10).len(), 1);
    // Never claimed at all.
    let bob = account("bob");
    let unclaimed = Claim { epoch: Epoch::new(7), ..new };
    assert!(matches!(
        refusal(store, write(&bob, &Claim { last: Seq::ZERO, ..unclaimed }, &["x"])),
        CommitRefusal::Fenced { .. }
    ));
}

fn claims_tell_the_position(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    assert_eq!(claim(store, &alice).position, Position::ZERO);
    let of_bob = claim(store, &bob);
    let first = committed(store, write(&bob, &of_bob, &["of another one"]));
    let now = claim(store, &alice);
    assert_eq!(now.position, first);
    // What is refused, or settled, is none.
    refusal(store, write(&bob, &of_bob, &["again"]));
    assert_eq!(wait(|done| store.settle(Commit::new().id(), done)), Ok(CommitSettlement::Aborted));
    assert_eq!(claim(store, &bob).position, first);
    // Of one with a snapshot, and of a state without events.
    let mut next = write(&alice, &now, &["with a snapshot"]);
    let hash = now.hash.with(now.last.next(), &event("with a snapshot"));
    next.member(alice.clone(), now.epoch, now.last).snapshot(event("the state"), hash);
    let second = committed(store, next);
    let now = claim(store, &alice);
    assert_eq!((now.position, now.snapshot.is_some()), (second, true));
    // A note alone.
    let third = committed(store, note(&alice, &now, &[(NoteKind::ClientAnswer, "k", 1, "x")]));
    assert_eq!(claim(store, &alice).position, third);
    assert_eq!(wait(|done| store.position(done)), Ok(third));
}

/// While others write to the same entity, and to others in the same transactions.
fn claims_are_behind_commits(store: &dyn Store) {
    const ROUNDS: usize = 60;
    let (alice, bob) = (account("alice"), account("bob"));
    thread::scope(|scope| {
        for own in [&alice, &bob] {
            let shared = &alice;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let claims = [own, shared].map(|id| (id, claim(store, id)));
                    for (id, claim) in &claims {
                        // (It may be fenced.)
                        commit(store, write(id, claim, &[&round.to_string()]));
                    }
                }
            });
        }
        for _ in 0..ROUNDS {
            let claimed = claim(store, &alice);
            let all = events(store, &alice, 0, usize::MAX >> 1);
            let seen = all.iter().filter(|event| event.seq <= claimed.last);
            let last = seen.map(|event| event.position).max().unwrap_or_default();
            assert!(last <= claimed.position, "{last} is behind {}", claimed.position);
        }
    });
}

fn readers_are_checked(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let (writes, reads) = (claim(store, &alice), claim(store, &bob));
    let with_reader = || {
        let mut commit = write(&alice, &writes, &["with bob as he was"]);
        commit.member(bob.clone(), reads.epoch, reads.last);
        commit
    };
    committed(store, write(&bob, &reads, &["changed"]));
    assert!(matches!(
        refusal(store, with_reader()),
        CommitRefusal::Conflict { entity, .. } if entity == bob
    ));
    claim(store, &bob);
    assert!(
        matches!(refusal(store, with_reader()), CommitRefusal::Fenced { entity, .. } if entity == bob)
    );
    assert_eq!(events(store, &alice, 0, 10), []);
}

/// A commit that only asks whether these are as their owners know them.
fn check<'a>(members: impl IntoIterator<Item = (&'a EntityId, &'a Claim)>) -> Commit {
    let mut check = Commit::new();
    for (id, claim) in members {
        check.member(id.clone(), claim.epoch, claim.last).rests_on(claim.hash);
    }
    check.make_check();
    check
}

fn checks_store_nothing(store: &dyn Store) {
    let (alice, bob, nobody) = (account("alice"), account("bob"), account("nobody"));
    let (first, of_bob) = (claim(store, &alice), claim(store, &bob));
    // Before there is any commit.
    assert_eq!(committed(store, check([(&alice, &first), (&bob, &of_bob)])), Position::ZERO);
    let position = committed(store, write(&alice, &first, &["1"]));
    let now = Claim { last: Seq::new(1), hash: first.hash.with(Seq::new(1), &event("1")), ..first };
    let listed = list(store, None, None, 10);
    let again = check([(&alice, &now), (&bob, &of_bob)]);
    for _ in 0..3 {
        assert_eq!(committed(store, again.clone()), position);
    }
    // One that was never claimed stays so.
    let (epoch, last, hash) = (Epoch::ZERO, Seq::ZERO, EventHash::of(&nobody));
    let unclaimed = Claim { epoch, last, hash, snapshot: None, position };
    assert_eq!(committed(store, check([(&nobody, &unclaimed), (&alice, &now)])), position);
    assert_eq!(committed(store, check([])), position);
    assert_eq!(list(store, None, None, 10), listed);
    assert_eq!(wait(|done| store.position(done)), Ok(position));
    // It is not remembered: what comes of one says nothing of the next with the same identity.
    let claimed = claim(store, &bob);
    assert_eq!(refusal(store, again), {
        let (entity, epoch, owner) = (bob.clone(), of_bob.epoch, claimed.epoch);
        CommitRefusal::Fenced { entity, epoch, owner }
    });
    assert_eq!((claimed.epoch, claimed.position), (of_bob.epoch.next(), position));
    assert_eq!(claim(store, &nobody).epoch, Epoch::new(1));
    // The next commit has the next position.
    assert_eq!(committed(store, write(&alice, &now, &["2"])), position.next());
}

fn checks_find_changes(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let (old, of_bob) = (claim(store, &alice), claim(store, &bob));
    committed(store, write(&alice, &old, &["1"]));
    // Further events, in the same epoch, and others with the same numbers.
    let stale = refusal(store, check([(&bob, &of_bob), (&alice, &old)]));
    let (expected, found) = (Seq::ZERO, Seq::new(1));
    assert_eq!(stale, CommitRefusal::Conflict { entity: alice.clone(), expected, found });
    let hash = old.hash.with(found, &event("another"));
    let other = Claim { last: found, hash, ..old.clone() };
    let stale = refusal(store, check([(&alice, &other)]));
    assert!(matches!(stale, CommitRefusal::Conflict { .. }), "{stale:?}");
    // Another owner, which has stored nothing yet.
    let hash = old.hash.with(found, &event("1"));
    let now = Claim { last: found, hash, ..old.clone() };
    committed(store, check([(&alice, &now), (&bob, &of_bob)]));
    let new = claim(store, &alice);
    for members in [[(&bob, &of_bob), (&alice, &now)], [(&alice, &now), (&bob, &of_bob)]] {
        let fenced = refusal(store, check(members));
        let (entity, epoch, owner) = (alice.clone(), old.epoch, new.epoch);
        assert_eq!(fenced, CommitRefusal::Fenced { entity, epoch, owner });
    }
    committed(store, check([(&alice, &new), (&bob, &of_bob)]));
    // One that was deleted is as it was made.
    let mut gone = Commit::new();
    gone.member(alice.clone(), new.epoch, new.last).delete();
    committed(store, gone);
    let stale = refusal(store, check([(&alice, &new)]));
    assert!(matches!(stale, CommitRefusal::Conflict { .. }), "{stale:?}");
    let empty = Claim { last: Seq::ZERO, hash: EventHash::of(&alice), ..new };
    committed(store, check([(&alice, &empty)]));
}

/// Without waiting, among commits that pass and commits that are refused.
fn checks_come_behind(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let (first, of_bob) = (claim(store, &alice), claim(store, &bob));
    let one = write(&alice, &first, &["1"]);
    let hash = first.hash.with(Seq::new(1), &event("1"));
    let then = Claim { last: Seq::new(1), hash, ..first.clone() };
    let two = write(&alice, &then, &["2"]);
    let all = vec![
        check([(&alice, &first), (&bob, &of_bob)]),
        one.clone(),
        check([(&alice, &then)]),
        check([(&alice, &first)]),
        // It comes again.
        one,
        check([(&bob, &of_bob), (&alice, &then)]),
        two,
        check([(&alice, &then)]),
        check([(&bob, &of_bob)]),
    ];
    let at = |outcome: &StoreOutcome| match outcome {
        StoreOutcome::Committed(position) => Some(position.get()),
        StoreOutcome::Refused(CommitRefusal::Conflict { .. }) => None,
        other => panic!("{other:?}"),
    };
    let told: Vec<_> = at_once(store, all).iter().map(at).collect();
    // (The last one has no member in common with the commits, and may come before them.)
    let (last, told) = told.split_last().expect("there are some");
    assert_eq!(told, [Some(0), Some(1), Some(1), None, Some(1), Some(1), Some(2), None]);
    assert!(last.is_some());
    // Alone, and with a claim.
    let (tell, told) = std::sync::mpsc::channel();
    store.claim(alice.clone(), Box::new(move |claim| drop(tell.send(claim))));
    let fenced = at_once(store, vec![check([(&alice, &then)]), check([(&bob, &of_bob)])]);
    let claimed = told.recv().expect("it is told").expect("it is claimed");
    assert_eq!((claimed.last, claimed.position), (Seq::new(2), Position::new(2)));
    assert!(matches!(fenced[0], StoreOutcome::Refused(CommitRefusal::Fenced { .. })), "{fenced:?}");
    assert_eq!(fenced[1], StoreOutcome::Committed(Position::new(2)));
}

/// Another owner takes both entities, one after the other, again and again. Whatever passes was so
/// at one moment: so that of the second is never older than that of the first, which is taken
/// first.
fn checks_are_of_one_moment(store: &dyn Store) {
    const ROUNDS: u64 = 60;
    let (alice, bob) = (account("alice"), account("bob"));
    let (first, second) = (claim(store, &alice), claim(store, &bob));
    let at = |claim: &Claim, epoch| Claim { epoch: Epoch::new(epoch), ..claim.clone() };
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 1..ROUNDS {
                claim(store, &alice);
                claim(store, &bob);
            }
        });
        let (mut known, mut last) = ((1, 1), (1, 1));
        while last != (ROUNDS, ROUNDS) {
            // (The last one never is.)
            for epochs in [known, (known.0, known.1 + 1)] {
                let both = [at(&first, epochs.0), at(&second, epochs.1)];
                match commit(store, check([(&alice, &both[0]), (&bob, &both[1])])) {
                    StoreOutcome::Committed(position) => {
                        assert_eq!(position, Position::ZERO);
                        assert!(epochs.1 == epochs.0 || epochs.1 + 1 == epochs.0, "{epochs:?}");
                        assert!(epochs >= last, "{epochs:?} behind {last:?}");
                        last = epochs;
                    }
                    StoreOutcome::Refused(CommitRefusal::Fenced { entity, owner, .. })
                        if entity == alice =>
                    {
                        known.0 = owner.get();
                    }
                    StoreOutcome::Refused(CommitRefusal::Fenced { owner, .. }) => {
                        known.1 = owner.get()
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    });
}

fn never_claimed(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let (epoch, last, hash) = (Epoch::ZERO, Seq::ZERO, EventHash::of(&alice));
    let position = Position::ZERO;
    let unclaimed = Claim { epoch, last, hash, snapshot: None, position };
    let mut both = write(&alice, &unclaimed, &["1", "2"]);
    both.member(bob.clone(), epoch, last);
    committed(store, both);
    let now = claim(store, &alice);
    assert_eq!(
        (now.epoch, now.last, events(store, &alice, 0, 9).len()),
        (Epoch::new(1), Seq::new(2), 2)
    );
    // Now it has an owner, and events.
    let late = write(&alice, &unclaimed, &["late"]);
    assert!(matches!(refusal(store, late), CommitRefusal::Fenced { .. }));
    assert_eq!(claim(store, &bob).epoch, Epoch::new(1));
}

fn all_or_nothing(store: &dyn Store) {
    let names = ["a", "b", "c"].map(account);
    let claims = names.each_ref().map(|name| claim(store, name));
    let over_all = |texts: [&str; 3]| {
        let mut commit = Commit::new();
        for ((name, claim), text) in names.iter().zip(&claims).zip(texts) {
            commit.member(name.clone(), claim.epoch, claim.last).event(event(text), claim.hash);
        }
        commit
    };
    let before = over_all(["1", "2", "3"]);
    // The last of them has another owner.
    let owner = claim(store, &names[2]);
    refusal(store, before);
    assert!(names.iter().all(|name| events(store, name, 0, 10).is_empty()));
    let mut good = Commit::new();
    for (name, claim) in names.iter().zip([&claims[0], &claims[1], &owner]) {
        good.member(name.clone(), claim.epoch, claim.last).event(event("x"), claim.hash);
    }
    let position = committed(store, good);
    for name in &names {
        let all = events(store, name, 0, 10);
        assert_eq!((all.len(), all[0].position), (1, position));
    }
}

fn conflicts(store: &dyn Store) {
    let alice = account("alice");
    let owner = claim(store, &alice);
    committed(store, write(&alice, &owner, &["1", "2"]));
    let again = refusal(store, write(&alice, &owner, &["1"]));
    let (expected, found) = (Seq::ZERO, Seq::new(2));
    assert_eq!(again, CommitRefusal::Conflict { entity: alice.clone(), expected, found });
    let ahead = Claim { last: Seq::new(5), ..owner };
    assert!(matches!(
        refusal(store, write(&alice, &ahead, &["6"])),
        CommitRefusal::Conflict { .. }
    ));
    assert_eq!(events(store, &alice, 0, 10).len(), 2);
}

/// As many events, but others: what was decided behind a deletion that was never stored.
fn other_history(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let (claimed, of_bob) = (claim(store, &alice), claim(store, &bob));
    committed(store, write(&alice, &claimed, &["1", "2"]));
    let there = claim(store, &alice);
    let hash = EventHash::of(&alice).with(Seq::new(1), &event("a"));
    let hash = hash.with(Seq::new(2), &event("b"));
    let as_many = Claim { hash, ..there.clone() };
    let stale = refusal(store, write(&alice, &as_many, &["c"]));
    assert!(matches!(stale, CommitRefusal::Conflict { .. }), "{stale:?}");
    // So is one that only rests on it, or replaces it.
    let mut reads = write(&bob, &of_bob, &["1"]);
    reads.member(alice.clone(), as_many.epoch, as_many.last).rests_on(as_many.hash);
    assert!(matches!(refusal(store, reads), CommitRefusal::Conflict { .. }));
    let mut reads = write(&bob, &of_bob, &["1"]);
    reads.member(alice.clone(), there.epoch, there.last).rests_on(there.hash);
    committed(store, reads);
    committed(store, write(&alice, &there, &["3"]));
    assert_eq!(events(store, &alice, 0, 9).len(), 3);
}

fn no_members(store: &dyn Store) {
    let empty = Commit::new();
    let id = empty.id();
    let position = committed(store, empty);
    assert_eq!(wait(|done| store.settle(id, done)), Ok(CommitSettlement::Committed(position)));
}

fn twice(store: &dyn Store) {
    let alice = account("alice");
    let once = write(&alice, &claim(store, &alice), &["once"]);
    let position = committed(store, once.clone());
    assert_eq!(committed(store, once), position);
    assert_eq!(events(store, &alice, 0, 10).len(), 1);
}

/// Those that change nothing as well, which do not find other events when they come again. In one
/// transaction, and in two.
fn twice_among_others(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let (owner, of_bob) = (claim(store, &alice), claim(store, &bob));
    let once = write(&alice, &owner, &["once"]);
    let mut looks = Commit::new();
    looks.member(bob.clone(), of_bob.epoch, of_bob.last);
    let mut seen = Vec::new();
    for round in 0..2 {
        let others = ["one", "two"].map(|key| account(&format!("{key} {round}")));
        let [one, two] = others.each_ref().map(|id| write(id, &claim(store, id), &["other"]));
        let all = [&once, &looks, &one, &once, &looks, &two].map(Clone::clone);
        let outcomes = at_once(store, all.to_vec());
        let positions: Vec<Position> = outcomes
            .into_iter()
            .map(|outcome| match outcome {
                StoreOutcome::Committed(position) => position,
                other => panic!("it is to be committed: {other:?}"),
            })
            .collect();
        assert_eq!(positions[0], positions[3]);
        assert_eq!(positions[1], positions[4]);
        // (They have no member in common, so either may be the first.)
        assert_ne!(positions[2], positions[5]);
        seen.push((positions[0], positions[1]));
        others.iter().for_each(|id| assert_eq!(events(store, id, 0, 10).len(), 1));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(events(store, &alice, 0, 10).len(), 1);
    // Each has a position of its own, which is that of its events.
    let logged = log(store, "account", Position::ZERO, 100);
    let mut positions: Vec<_> = logged.iter().map(|entry| entry.stored.position).collect();
    assert!(positions.contains(&seen[0].0));
    positions.dedup();
    assert_eq!(positions.len(), 5);
}

/// What has come of commits that are submitted one after the other, without waiting.
fn at_once(store: &dyn Store, all: Vec<Commit>) -> Vec<StoreOutcome> {
    let told: Vec<_> = all
        .into_iter()
        .map(|commit| {
            let (tell, told) = std::sync::mpsc::channel();
            store.commit(commit, Box::new(move |outcome| drop(tell.send(outcome))));
            told
        })
        .collect();
    told.into_iter().map(|told| told.recv().expect("each outcome is told")).collect()
}

fn settled_first(store: &dyn Store) {
    let alice = account("alice");
    let owner = claim(store, &alice);
    let late = write(&alice, &owner, &["late"]);
    let id = late.id();
    for _ in 0..2 {
        assert_eq!(wait(|done| store.settle(id, done)), Ok(CommitSettlement::Aborted));
    }
    assert_eq!(refusal(store, late), CommitRefusal::Aborted);
    assert_eq!(events(store, &alice, 0, 10), []);
    // Nothing else is concerned.
    committed(store, write(&alice, &owner, &["another"]));
}

fn settled_afterwards(store: &dyn Store) {
    let alice = account("alice");
    let good = write(&alice, &claim(store, &alice), &["good"]);
    let id = good.id();
    let position = committed(store, good);
    for _ in 0..2 {
        assert_eq!(wait(|done| store.settle(id, done)), Ok(CommitSettlement::Committed(position)));
    }
}

fn snapshots(store: &dyn Store) {
    let alice = account("alice");
    let owner = claim(store, &alice);
    let mut first = Commit::new();
    let member = first.member(alice.clone(), owner.epoch, owner.last);
    let hash = member.event(event("1"), owner.hash);
    let hash = member.event(event("2"), hash);
    member.snapshot(Event::new("account", 2, b"two".to_vec()), hash);
    committed(store, first);
    let again = claim(store, &alice);
    let snapshot = again.snapshot.clone().expect("it was written");
    // (With its sum.)
    let state = Event::new("account", 2, b"two".to_vec());
    assert_eq!(snapshot, Snapshot::new(Seq::new(2), hash, state));
    // One alone, for events that are there.
    let mut alone = Commit::new();
    alone
        .member(alice.clone(), again.epoch, again.last)
        .snapshot(Event::new("account", 3, b"newer".to_vec()), again.hash);
    committed(store, alone);
    let last = claim(store, &alice).snapshot.expect("it was written");
    assert_eq!((last.seq, last.state.version), (Seq::new(2), 3));
    assert_eq!(events(store, &alice, 0, 10).len(), 2);
}

fn kept(store: &dyn Store, entity: &EntityId) -> Vec<Snapshot> {
    wait(|done| store.snapshots(entity.clone(), done)).expect("it can be read")
}

fn states(store: &dyn Store) {
    let alice = account("alice");
    let mut now = claim(store, &alice);
    for n in 1..=3 {
        let mut next = Commit::new();
        let member = next.member(alice.clone(), now.epoch, now.last);
        let hash = member.replace(Event::new("state", n, vec![n as u8]), now.hash);
        assert_eq!(member.last(), now.last.next());
        committed(store, next);
        let stale = refusal(store, {
            let mut stale = Commit::new();
            stale.member(alice.clone(), now.epoch, now.last).replace(event("stale"), now.hash);
            stale
        });
        assert!(matches!(stale, CommitRefusal::Conflict { .. }), "{stale:?}");
        now = claim(store, &alice);
        assert_eq!((now.last, now.hash), (Seq::new(n.into()), hash));
        let state = Event::new("state", n, vec![n as u8]);
        let only = Snapshot::new(now.last, hash, state);
        assert_eq!((now.snapshot.as_ref(), kept(store, &alice)), (Some(&only), vec![only.clone()]));
    }
    assert_eq!(events(store, &alice, 0, 10), []);
    assert_eq!(log(store, "account", Position::ZERO, 10), []);
}

fn trimmed(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let (first, other) = (claim(store, &alice), claim(store, &bob));
    let mut both = write(&alice, &first, &["1", "2", "3"]);
    both.member(bob.clone(), other.epoch, other.last).event(event("of bob"), other.hash);
    committed(store, both);
    for (text, last) in [("4", 2), ("5", 2), ("6", 3)] {
        let now = claim(store, &alice);
        let mut next = write(&alice, &now, &[text]);
        let hash = now.hash.with(now.last.next(), &event(text));
        let member = next.member(alice.clone(), now.epoch, now.last);
        member.snapshot(event(text), hash);
        member.trim(Seq::new(last));
        committed(store, next);
        let now = claim(store, &alice);
        let left = events(store, &alice, 0, 10);
        let seqs: Vec<_> = left.iter().map(|event| event.seq.get()).collect();
        assert_eq!(seqs, (last + 1..=now.last.get()).collect::<Vec<_>>());
        assert_eq!((events(store, &alice, 4, 10), now.hash), (left_behind(&left, 4), hash));
        assert_eq!(now.snapshot.map(|snapshot| snapshot.seq), Some(now.last));
    }
    assert_eq!(
        texts(&log(store, "account", Position::ZERO, 10)),
        ["account/bob: of bob", "account/alice: 4", "account/alice: 5", "account/alice: 6"]
    );
    let seqs: Vec<_> = kept(store, &alice).iter().map(|snapshot| snapshot.seq.get()).collect();
    assert_eq!(seqs, [6, 5], "the two latest are kept");
}

fn left_behind(events: &[StoredEvent], after: u64) -> Vec<StoredEvent> {
    events.iter().filter(|event| event.seq.get() > after).cloned().collect()
}

fn deleted(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let now = claim(store, &alice);
    let mut first = write(&alice, &now, &["1", "2"]);
    let member = first.member(alice.clone(), now.epoch, now.last);
    member.snapshot(event("two"), now.hash);
    member.put_note(NoteKind::Timer, "tick".into(), 5, event("tick"));
    member.put_note(NoteKind::Outgoing, "m".into(), 5, event("message"));
    member.put_note(NoteKind::DeadLetter, "m".into(), 5, event("message"));
    let other = claim(store, &bob);
    let member = first.member(bob.clone(), other.epoch, other.last);
    member.event(event("of bob"), other.hash);
    member.put_note(NoteKind::Timer, "tick".into(), 5, event("of bob"));
    committed(store, first);
    let (late, now) = (now, claim(store, &alice));
    let mut gone = Commit::new();
    gone.member(alice.clone(), now.epoch, now.last).delete();
    committed(store, gone);

    assert_eq!((events(store, &alice, 0, 10), kept(store, &alice)), (vec![], vec![]));
    assert_eq!(texts(&log(store, "account", Position::ZERO, 10)), ["account/bob: of bob"]);
    let timers = NoteQuery::Ranked { kind: NoteKind::Timer, after: None, up_to: 9 };
    assert_eq!(said(&notes(store, timers, 10)), ["account/bob tick 5: of bob"]);
    let outgoing = NoteQuery::Of { entity: alice.clone(), after: None };
    assert_eq!(said(&notes(store, outgoing, 10)), ["account/alice m 5: message"]);
    let listed: Vec<_> = list(store, None, None, 10).into_iter().map(|one| one.last).collect();
    assert_eq!(listed, [Seq::ZERO, Seq::new(1)], "a message of alice is left");
    // Earlier owners stay fenced.
    let as_late = Claim { last: Seq::ZERO, hash: EventHash::of(&alice), ..late };
    assert!(matches!(
        refusal(store, write(&alice, &as_late, &["x"])),
        CommitRefusal::Fenced { .. }
    ));
    let anew = claim(store, &alice);
    assert_eq!(anew.epoch, now.epoch.next());
    assert_eq!((anew.last, anew.hash, &anew.snapshot), (Seq::ZERO, EventHash::of(&alice), &None));
    committed(store, write(&alice, &anew, &["anew"]));
    let all = events(store, &alice, 0, 10);
    assert_eq!((all.len(), all[0].seq, &all[0].event), (1, Seq::new(1), &event("anew")));
}

fn list(
    store: &dyn Store,
    kind: Option<&str>,
    after: Option<&EntityId>,
    most: usize,
) -> Vec<EntitySummary> {
    let (kind, after) = (kind.map(Into::into), after.cloned());
    wait(|done| store.entities(kind, after, most, done)).expect("it can be read")
}

fn listed(store: &dyn Store) {
    let ids = [("a", "1"), ("a", "2"), ("b", ""), ("b", "10"), ("b", "9"), ("bb", "1")];
    let ids = ids.map(|(kind, key)| EntityId::new(kind, key));
    for id in ids.iter().rev() {
        committed(store, write(id, &claim(store, id), &["1", "2"]));
    }
    // It was never written.
    claim(store, &EntityId::new("b", "nothing"));
    // Of this one there is but a note, for a while.
    let noted = EntityId::new("b", "noted");
    let now = claim(store, &noted);
    committed(store, note(&noted, &now, &[(NoteKind::Timer, "t", 1, "x")]));
    let last = list(store, Some("b"), Some(&ids[4]), 100).pop().expect("it is there");
    assert_eq!((last.id, last.last), (noted.clone(), Seq::ZERO));
    let mut gone = Commit::new();
    gone.member(noted, now.epoch, now.last).remove_note(NoteKind::Timer, "t".into());
    committed(store, gone);
    let all = list(store, None, None, 100);
    assert_eq!(all.iter().map(|one| one.id.clone()).collect::<Vec<_>>(), ids);
    let last = events(store, &ids[2], 1, 1).pop().expect("it was written");
    let (epoch, last, hash) = (Epoch::new(1), Seq::new(2), last.hash);
    assert_eq!(all[2], EntitySummary { id: ids[2].clone(), epoch, last, hash });
    assert_eq!(list(store, Some("b"), None, 100), all[2..5]);
    assert_eq!(list(store, Some("nothing"), None, 100), []);
    assert_eq!(list(store, None, Some(&ids[1]), 2), all[2..4]);
    assert_eq!(list(store, Some("b"), Some(&ids[3]), 2), all[4..5]);
    assert_eq!(list(store, Some("b"), Some(&ids[0]), 1), all[2..3]);
    assert_eq!(list(store, Some("b"), Some(&ids[5]), 1), []);
    assert_eq!(list(store, None, None, 0), []);
}

fn notes(store: &dyn Store, which: NoteQuery, most: usize) -> Vec<Note> {
    wait(|done| store.notes(which, most, done)).expect("it can be read")
}

fn said(notes: &[Note]) -> Vec<String> {
    let say = |note: &Note| {
        let [key, value] = [note.key.as_bytes(), &note.value.payload];
        let [key, value] = [key, value].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        format!("{} {key} {}: {value}", note.entity, note.rank)
    };
    notes.iter().map(say).collect()
}

/// A commit of notes alone.
fn note(entity: &EntityId, claim: &Claim, notes: &[(NoteKind, &str, u64, &str)]) -> Commit {
    let mut commit = Commit::new();
    let member = commit.member(entity.clone(), claim.epoch, claim.last);
    for (kind, key, rank, text) in notes {
        member.put_note(*kind, (*key).into(), *rank, event(text));
    }
    commit
}

fn notes_change(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let (now, other) = (claim(store, &alice), claim(store, &bob));
    let (timer, outgoing) = (NoteKind::Timer, NoteKind::Outgoing);
    let of_alice = [(timer, "b", 1, "x"), (outgoing, "c", 2, "y"), (timer, "a", 3, "z")];
    committed(store, note(&alice, &now, &of_alice));
    committed(store, note(&bob, &other, &[(timer, "a", 4, "of bob")]));
    let of = |after| notes(store, NoteQuery::Of { entity: alice.clone(), after }, 2);
    assert_eq!(said(&of(None)), ["account/alice c 2: y", "account/alice a 3: z"]);
    assert_eq!(said(&of(Some((timer, "a".into())))), ["account/alice b 1: x"]);
    assert_eq!(of(Some((timer, "b".into()))), []);
    let one = |key: &str| {
        let which = NoteQuery::One { entity: alice.clone(), kind: timer, key: key.into() };
        notes(store, which, 5)
    };
    assert_eq!(said(&one("b")), ["account/alice b 1: x"]);
    assert_eq!(one("c"), []);
    let found = one("b").pop().expect("it is there");
    assert_eq!((found.kind, found.value), (timer, event("x")));

    let mut both = note(&alice, &now, &[(timer, "b", 9, "first"), (timer, "b", 7, "second")]);
    let member = both.member(alice.clone(), now.epoch, now.last);
    member.remove_note(timer, "a".into());
    member.remove_note(timer, "never there".into());
    committed(store, both);
    assert_eq!(said(&of(None)), ["account/alice c 2: y", "account/alice b 7: second"]);
    // They are not events.
    let unchanged = claim(store, &alice);
    assert_eq!((unchanged.last, unchanged.hash), (now.last, now.hash));
    assert_eq!(events(store, &alice, 0, 10), []);
}

fn ranked_notes(store: &dyn Store) {
    let [alice, bob, other] = [account("alice"), account("bob"), EntityId::new("another", "alice")];
    let (timer, outgoing) = (NoteKind::Timer, NoteKind::Outgoing);
    let most = i64::MAX as u64;
    let of_bob = [(timer, "b", 1, "1"), (timer, "a", 5, "2"), (timer, "z", most, "3")];
    committed(store, note(&bob, &claim(store, &bob), &of_bob));
    let of_alice = [(timer, "d", 5, "4"), (timer, "c", 5, "5"), (outgoing, "a", 1, "6")];
    committed(store, note(&alice, &claim(store, &alice), &of_alice));
    committed(store, note(&other, &claim(store, &other), &[(timer, "x", 5, "7")]));
    let ranked = |kind, after: Option<&Note>, up_to, most| {
        let after = after.map(|note| (note.rank, note.entity.clone(), note.key.clone()));
        notes(store, NoteQuery::Ranked { kind, after, up_to }, most)
    };
    let all = ranked(timer, None, u64::MAX, 10);
    let expected = [
        "account/bob b 1: 1",
        "account/alice c 5: 5",
        "account/alice d 5: 4",
        "account/bob a 5: 2",
        "another/alice x 5: 7",
    ];
    assert_eq!(said(&all[..5]), expected);
    assert_eq!((all.len(), all[5].rank), (6, most));
    assert_eq!(ranked(timer, None, 5, 10), all[..5]);
    assert_eq!(ranked(timer, None, 4, 10), all[..1]);
    assert_eq!(ranked(timer, None, 0, 10), []);
    assert_eq!(ranked(timer, Some(&all[1]), 5, 2), all[2..4]);
    assert_eq!(ranked(timer, Some(&all[3]), u64::MAX, 10), all[4..]);
    // Ranks that none can have are in front.
    let damaged = Note { rank: u64::MAX, ..all[5].clone() };
    assert_eq!(ranked(timer, Some(&damaged), u64::MAX, 10), all);
    assert_eq!(said(&ranked(outgoing, None, 9, 10)), ["account/alice a 1: 6"]);
    assert_eq!(ranked(NoteKind::ClientAnswer, None, 9, 10), []);
    // A note that was replaced is found by its new rank alone.
    let now = claim(store, &bob);
    committed(store, note(&bob, &now, &[(timer, "b", 6, "later")]));
    assert_eq!(ranked(timer, None, 4, 10), []);
    assert_eq!(said(&ranked(timer, Some(&all[4]), 6, 10)), ["account/bob b 6: later"]);
}

fn notes_belong_to_commits(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let (old, other) = (claim(store, &alice), claim(store, &bob));
    let timer = NoteKind::Timer;
    let of =
        |entity: &EntityId| notes(store, NoteQuery::Of { entity: entity.clone(), after: None }, 9);
    let mut both = note(&bob, &other, &[(timer, "a", 1, "of both")]);
    both.member(alice.clone(), old.epoch, old.last).put_note(
        timer,
        "a".into(),
        1,
        event("of both"),
    );
    let late = both.clone();
    committed(store, both);
    // It comes twice.
    let mut gone = Commit::new();
    gone.member(bob.clone(), other.epoch, other.last).remove_note(timer, "a".into());
    committed(store, gone);
    committed(store, late);
    assert_eq!((said(&of(&alice)), of(&bob)), (vec!["account/alice a 1: of both".into()], vec![]));
    // The other member has another owner.
    claim(store, &alice);
    let mut torn = note(&bob, &other, &[(timer, "b", 1, "torn")]);
    torn.member(alice.clone(), old.epoch, old.last).remove_note(timer, "a".into());
    assert!(matches!(refusal(store, torn), CommitRefusal::Fenced { .. }));
    assert_eq!((of(&alice).len(), of(&bob).len()), (1, 0));
}

fn one_takes_a_note(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let (now, other) = (claim(store, &alice), claim(store, &bob));
    committed(store, note(&alice, &now, &[(NoteKind::Outgoing, "m", 7, "message")]));
    let id = |rank| {
        let (entity, key) = (alice.clone(), "m".into());
        crate::NoteId { entity, kind: NoteKind::Outgoing, key, rank }
    };
    // Of whom alice is now does not matter.
    claim(store, &alice);
    let receive = |claim: &Claim, rank| {
        let mut commit = write(&bob, claim, &["received"]);
        commit.take_note(id(rank));
        commit
    };
    let wrong = refusal(store, receive(&other, 8));
    assert_eq!(wrong, CommitRefusal::Gone(id(8)));
    let first = receive(&other, 7);
    committed(store, first.clone());
    let now = claim(store, &bob);
    assert_eq!(refusal(store, receive(&now, 7)), CommitRefusal::Gone(id(7)));
    // The same commit once more is none.
    committed(store, first);
    assert_eq!(events(store, &bob, 0, 10).len(), 1);
    assert_eq!(notes(store, NoteQuery::Of { entity: alice.clone(), after: None }, 9), []);
    // What is taken is put again by the same commit.
    let now = claim(store, &alice);
    committed(store, note(&alice, &now, &[(NoteKind::Outgoing, "m", 7, "again")]));
    let mut both = note(&alice, &now, &[(NoteKind::Outgoing, "m", 9, "later")]);
    both.take_note(id(7));
    committed(store, both);
    let left = notes(store, NoteQuery::Of { entity: alice, after: None }, 9);
    assert_eq!(said(&left), ["account/alice m 9: later"]);
}

fn notes_are_left(store: &dyn Store) {
    let alice = account("alice");
    let now = claim(store, &alice);
    let leave = |entity: &EntityId, text: &str| {
        let (entity, value) = (entity.clone(), event(text));
        let mut commit = Commit::new();
        let (kind, key) = (NoteKind::DeadLetter, "m".into());
        commit.leave_note(Note { entity, kind, key, rank: 3, value });
        commit
    };
    committed(store, leave(&alice, "first"));
    committed(store, leave(&alice, "second"));
    committed(store, leave(&account("unknown"), "lost"));
    let all = NoteQuery::Ranked { kind: NoteKind::DeadLetter, after: None, up_to: 9 };
    assert_eq!(said(&notes(store, all, 9)), ["account/alice m 3: second"]);
    committed(store, write(&alice, &now, &["its owner has noticed nothing"]));
}

fn any_key(store: &dyn Store) {
    let alice = account("alice");
    let now = claim(store, &alice);
    let mut keys: Vec<Vec<u8>> =
        vec![vec![], vec![0], vec![0, 0], vec![0xff], vec![0xff, 0], vec![0x7f; 2_000]];
    let mut commit = Commit::new();
    let member = commit.member(alice.clone(), now.epoch, now.last);
    for key in &keys {
        let value = Event::new("key", u32::MAX, key.clone());
        member.put_note(NoteKind::DeadLetter, NoteKey::new(key.clone()), 0, value);
    }
    committed(store, commit);
    keys.sort();
    let found = notes(store, NoteQuery::Of { entity: alice, after: None }, 100);
    let found: Vec<_> = found
        .iter()
        .map(|note| {
            assert_eq!(note.key.as_bytes(), &*note.value.payload);
            note.key.as_bytes().to_vec()
        })
        .collect();
    assert_eq!(found, keys);
}

fn positions_grow(store: &dyn Store) {
    let alice = account("alice");
    let mut seen = Vec::new();
    let last = || wait(|done| store.position(done));
    assert_eq!(last(), Ok(Position::ZERO));
    for _ in 0..20 {
        let owner = claim(store, &alice);
        seen.push(committed(store, write(&alice, &owner, &["x"])));
        assert_eq!(last().as_ref(), Ok(seen.last().expect("there is one")));
    }
    assert!(seen.is_sorted_by(|one, next| one < next), "{seen:?}");
    for behind in [20, i64::MAX as u64, 1 << 63, u64::MAX] {
        assert_eq!(log(store, "account", Position::new(behind), 10), []);
        assert_eq!(events(store, &alice, behind, 10), []);
    }
}

fn any_text(store: &dyn Store) {
    let odd = ["", " ", "a/b", "%_'\"\\", "\u{0}", "ä\u{301}", "🦀", &"long".repeat(500)];
    let all: Vec<_> =
        odd.iter().flat_map(|kind| odd.iter().map(|key| EntityId::new(*kind, *key))).collect();
    for id in &all {
        committed(store, write(id, &claim(store, id), &[&id.to_string()]));
    }
    for id in &all {
        let read = events(store, id, 0, 10);
        assert_eq!(read.len(), 1, "{id:?}");
        assert_eq!(*read[0].event.payload, *id.to_string().as_bytes());
    }
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), odd.len() * odd.len());
}

fn payloads(store: &dyn Store) {
    let alice = account("alice");
    let owner = claim(store, &alice);
    let large: Vec<u8> = (0..1 << 20).map(|n: u32| (n * 7) as u8).collect();
    let mut both = Commit::new();
    let member = both.member(alice.clone(), owner.epoch, owner.last);
    let hash = member.event(Event::new("large", u32::MAX, large.clone()), owner.hash);
    member.event(Event::new("", 0, Vec::new()), hash);
    committed(store, both);
    let read = events(store, &alice, 0, 10);
    assert_eq!(*read[0].event.payload, *large);
    assert_eq!((&*read[1].event.name, read[1].event.payload.len()), ("", 0));
}

fn closed(store: &dyn Store) {
    let (tell, told) = mpsc::channel();
    for n in 0..50 {
        let mut commit = Commit::new();
        let id = account(&format!("closed {n}"));
        let member = commit.member(id.clone(), Epoch::ZERO, Seq::ZERO);
        member.event(event("before"), EventHash::of(&id));
        let tell = tell.clone();
        store.commit(commit, Box::new(move |outcome| tell.send(outcome).unwrap()));
    }
    wait(|done| store.close(done));
    // Whatever was told is there by now.
    let before: Vec<StoreOutcome> = told.try_iter().collect();
    assert_eq!(before.len(), 50);
    for outcome in before {
        assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
    }
    // What is asked later is refused, or done by a store that has nothing to release; but told.
    match commit(store, Commit::new()) {
        StoreOutcome::Committed(_)
        | StoreOutcome::Refused(CommitRefusal::Store(StoreError::Closed)) => {}
        other => panic!("{other:?}"),
    }
    match wait(|done| store.claim(account("late"), done)) {
        Ok(_) | Err(StoreError::Closed) => {}
        other => panic!("{other:?}"),
    }
    match wait(|done| store.position(done)) {
        Ok(_) | Err(StoreError::Closed) => {}
        other => panic!("{other:?}"),
    }
    wait(|done| store.close(done));
}

fn many_events(store: &dyn Store) {
    let alice = account("alice");
    let owner = claim(store, &alice);
    let mut commit = Commit::new();
    let member = commit.member(alice.clone(), owner.epoch, owner.last);
    (0..10_000).fold(owner.hash, |hash, n: u32| member.event(event(&n.to_string()), hash));
    committed(store, commit);
    let (mut after, mut hash) = (0, owner.hash);
    loop {
        let page = events(store, &alice, after, 777);
        let Some(last) = page.last() else { break };
        after = last.seq.get();
        for stored in &page {
            hash = hash.with(stored.seq, &stored.event);
            assert_eq!(hash, stored.hash);
        }
    }
    assert_eq!((after, claim(store, &alice).hash), (10_000, hash));
}

fn log(store: &dyn Store, kind: &str, after: Position, most: usize) -> Vec<LogEntry> {
    read_log(store, kind.into(), after, most)
}

fn read_log(store: &dyn Store, which: LogQuery, after: Position, most: usize) -> Vec<LogEntry> {
    wait(|done| store.log(which, after, most, done)).expect("it can be read")
}

/// The events that have a tag, of entities of a kind, or of all.
fn tagged(
    store: &dyn Store,
    tag: &str,
    kind: Option<&str>,
    after: Position,
    most: usize,
) -> Vec<LogEntry> {
    let (tag, kind) = (tag.into(), kind.map(Into::into));
    read_log(store, LogQuery::Tag { tag, kind }, after, most)
}

/// A commit of events, each with its tags (between spaces).
fn write_tagged(entity: &EntityId, claim: &Claim, all: &[(&str, &str)]) -> Commit {
    let mut commit = Commit::new();
    add_tagged(&mut commit, entity, claim, all);
    commit
}

fn add_tagged(commit: &mut Commit, entity: &EntityId, claim: &Claim, all: &[(&str, &str)]) {
    let member = commit.member(entity.clone(), claim.epoch, claim.last);
    all.iter().fold(claim.hash, |hash, (text, tags)| {
        let hash = member.event(event(text), hash);
        member.tag(Tags::new(tags.split_whitespace()));
        hash
    });
}

fn tags_come_back(store: &dyn Store) {
    let alice = account("alice");
    let now = claim(store, &alice);
    committed(store, write_tagged(&alice, &now, &[("1", "b a"), ("2", ""), ("3", "c")]));
    let now = claim(store, &alice);
    let mut again = write_tagged(&alice, &now, &[("4", "a"), ("5", "a b")]);
    // The last word.
    again.member(alice.clone(), now.epoch, now.last).tag(Tags::new(["d", "c", "d"]));
    committed(store, again);
    let all = events(store, &alice, 0, 10);
    let tags: Vec<_> = all.iter().map(|stored| stored.tags.join(" ")).collect();
    assert_eq!(tags, ["a b", "", "c", "a", "c d"]);
    assert_eq!(events(store, &alice, 2, 2), all[2..4]);
    // A log has them as well, of whatever it is.
    let entries = log(store, "account", Position::ZERO, 10);
    assert_eq!(entries.into_iter().map(|entry| entry.stored).collect::<Vec<_>>(), all);
    let with_a = tagged(store, "a", None, Position::ZERO, 10);
    let stored: Vec<_> = with_a.into_iter().map(|entry| entry.stored).collect();
    assert_eq!(stored, [all[0].clone(), all[3].clone()]);
    // They are not part of what is hashed.
    let plain = [("1", 1), ("2", 2), ("3", 3), ("4", 4), ("5", 5)];
    let hash = plain
        .iter()
        .fold(EventHash::of(&alice), |hash, (text, seq)| hash.with(Seq::new(*seq), &event(text)));
    assert_eq!(claim(store, &alice).hash, hash);
}

fn tagged_logs(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let other = EntityId::new("a kind that comes first", "zoe");
    let [of_alice, of_bob, of_other] = [&alice, &bob, &other].map(|one| claim(store, one));
    assert_eq!(tagged(store, "eu", None, Position::ZERO, 10), []);
    let mut first = write_tagged(&bob, &of_bob, &[("1", "eu vip"), ("2", ""), ("3", "eu")]);
    add_tagged(&mut first, &alice, &of_alice, &[("4", "us eu")]);
    add_tagged(&mut first, &other, &of_other, &[("5", "eu"), ("6", "us")]);
    let first = committed(store, first);
    let (now, then) = (claim(store, &alice), claim(store, &other));
    let second = committed(store, write_tagged(&alice, &now, &[("7", "us")]));
    let third = committed(store, write_tagged(&other, &then, &[("8", "eu"), ("9", "eu vip")]));

    let all = tagged(store, "eu", None, Position::ZERO, 10);
    let zoe = "a kind that comes first/zoe";
    let [five, eight, nine] = ["5", "8", "9"].map(|text| format!("{zoe}: {text}"));
    let of_first = [&*five, "account/alice: 4", "account/bob: 1", "account/bob: 3"];
    assert_eq!(texts(&all), [&of_first[..], &[&*eight, &*nine]].concat());
    let positions: Vec<_> = all.iter().map(|entry| entry.stored.position).collect();
    assert_eq!(positions, [first, first, first, first, third, third]);
    // No commit is torn.
    let from = |after, most| tagged(store, "eu", None, after, most);
    for most in 0..=4 {
        assert_eq!(from(Position::ZERO, most), all[..4]);
    }
    assert_eq!((from(Position::ZERO, 5), from(first, 1)), (all.clone(), all[4..].to_vec()));
    assert_eq!((from(second, 9), from(third, 9)), (all[4..].to_vec(), vec![]));
    // Of one kind.
    let accounts = |after, most| tagged(store, "eu", Some("account"), after, most);
    assert_eq!(accounts(Position::ZERO, 10), all[1..4]);
    assert_eq!((accounts(Position::ZERO, 1), accounts(first, 1)), (all[1..4].to_vec(), vec![]));
    assert_eq!(texts(&tagged(store, "vip", Some(other.kind()), Position::ZERO, 9)), [nine]);
    assert_eq!(texts(&tagged(store, "vip", None, Position::ZERO, 1)), ["account/bob: 1"]);
    // Others are none, nor are beginnings.
    for tag in ["", "e", "eu ", "EU", "eux", &"x".repeat(5_000)] {
        assert_eq!(tagged(store, tag, None, Position::ZERO, 10), []);
    }
    assert_eq!(tagged(store, "eu", Some("nothing"), Position::ZERO, 10), []);
}

/// While others write, pages are read from behind the last position that was seen.
fn followed_tags(store: &dyn Store) {
    const WRITERS: usize = 3;
    const COMMITS: usize = 60;
    let is_tagged = |writer: usize, round: usize| !(writer + round).is_multiple_of(3);
    let followed = thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let entity = EntityId::new(format!("kind {writer}"), "one");
                let mut now = claim(store, &entity);
                for round in 0..COMMITS {
                    let texts: Vec<_> = (0..=round % 3).map(|n| format!("{round}.{n}")).collect();
                    let tag = if is_tagged(writer, round) { "even more" } else { "" };
                    let all: Vec<_> = texts.iter().map(|text| (&**text, tag)).collect();
                    committed(store, write_tagged(&entity, &now, &all));
                    now.hash = texts.iter().fold(now.hash, |hash, text| {
                        now.last = now.last.next();
                        hash.with(now.last, &event(text))
                    });
                }
            });
        }
        let each = (0..WRITERS).flat_map(|writer| (0..COMMITS).map(move |round| (writer, round)));
        let meant = each.filter(|(writer, round)| is_tagged(*writer, *round));
        let all: usize = meant.map(|(_, round)| 1 + round % 3).sum();
        let mut followed: Vec<LogEntry> = Vec::new();
        while followed.len() < all {
            let after = followed.last().map_or(Position::ZERO, |last| last.stored.position);
            followed.extend(tagged(store, "more", None, after, 4));
        }
        followed
    });
    assert_eq!(followed, tagged(store, "even", None, Position::ZERO, usize::MAX >> 1));
    assert!(followed.is_sorted_by_key(|entry| entry.stored.position));
    for writer in 0..WRITERS {
        let kind = format!("kind {writer}");
        let of_kind = tagged(store, "more", Some(&kind), Position::ZERO, usize::MAX >> 1);
        let own = followed.iter().filter(|entry| entry.entity.kind() == kind);
        assert_eq!(of_kind, own.cloned().collect::<Vec<_>>());
        assert!(of_kind.is_sorted_by_key(|entry| entry.stored.seq));
    }
}

fn tags_go(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let (now, other) = (claim(store, &alice), claim(store, &bob));
    let mut both = write_tagged(&alice, &now, &[("1", "x"), ("2", "x y"), ("3", "x")]);
    add_tagged(&mut both, &bob, &other, &[("of bob", "x")]);
    let again = both.clone();
    committed(store, both);
    // It comes twice, and one is refused.
    committed(store, again);
    let stale = refusal(store, write_tagged(&alice, &now, &[("stale", "x")]));
    assert!(matches!(stale, CommitRefusal::Conflict { .. }), "{stale:?}");
    let with = |tag| texts(&tagged(store, tag, None, Position::ZERO, 10));
    let [one, two, three] = [1, 2, 3].map(|n| format!("account/alice: {n}"));
    assert_eq!(with("x"), [one, two.clone(), three.clone(), "account/bob: of bob".into()]);
    // They are trimmed with their events, also such as come with that.
    let now = claim(store, &alice);
    let mut trims = write_tagged(&alice, &now, &[("4", "x")]);
    trims.member(alice.clone(), now.epoch, now.last).trim(Seq::new(1));
    committed(store, trims);
    let four = "account/alice: 4".to_owned();
    assert_eq!(with("x"), [two.clone(), three, "account/bob: of bob".into(), four]);
    assert_eq!(with("y"), [two]);
    let now = claim(store, &alice);
    let mut all = write_tagged(&alice, &now, &[("5", "x"), ("6", "x")]);
    all.member(alice.clone(), now.epoch, now.last).trim(Seq::new(5));
    committed(store, all);
    assert_eq!(
        (with("x"), with("y")),
        (vec!["account/bob: of bob".into(), "account/alice: 6".into()], vec![])
    );
    // And deleted: what comes then has tags of its own.
    let now = claim(store, &alice);
    let mut gone = Commit::new();
    gone.member(alice.clone(), now.epoch, now.last).delete();
    committed(store, gone);
    assert_eq!(with("x"), ["account/bob: of bob"]);
    let anew = claim(store, &alice);
    committed(store, write_tagged(&alice, &anew, &[("anew", "y"), ("again", "")]));
    assert_eq!(
        (with("x"), with("y")),
        (vec!["account/bob: of bob".into()], vec!["account/alice: anew".into()])
    );
    let tags: Vec<_> = events(store, &alice, 0, 9).iter().map(|it| it.tags.join(" ")).collect();
    assert_eq!(tags, ["y", ""]);
}

fn any_tag(store: &dyn Store) {
    let longest = "ä".repeat(Tags::LONGEST / 2);
    let odd =
        [" ", ",", "a/b", "%_'\"\\{}", "\u{0}", "\u{0}\u{0}", "ä\u{301}", "🦀", "null", &longest];
    let alice = account("alice");
    let now = claim(store, &alice);
    let mut commit = Commit::new();
    let member = commit.member(alice.clone(), now.epoch, now.last);
    let hash = member.event(event("all"), now.hash);
    member.tag(Tags::new(odd));
    member.event(event("most"), hash);
    let many = Tags::new((0..Tags::MOST).map(|n| n.to_string()));
    member.tag(many.clone());
    committed(store, commit);
    let read = events(store, &alice, 0, 10);
    assert_eq!((&read[0].tags, &read[1].tags), (&Tags::new(odd), &many));
    for tag in odd {
        assert_eq!(texts(&tagged(store, tag, None, Position::ZERO, 9)), ["account/alice: all"]);
    }
}

fn texts(entries: &[LogEntry]) -> Vec<String> {
    let text = |entry: &LogEntry| {
        let payload = String::from_utf8_lossy(&entry.stored.event.payload).into_owned();
        format!("{}: {payload}", entry.entity)
    };
    entries.iter().map(text).collect()
}

fn logs(store: &dyn Store) {
    let (alice, bob) = (account("alice"), account("bob"));
    let other = EntityId::new("other", "alice");
    let claims = [&alice, &bob, &other].map(|entity| claim(store, entity));
    assert_eq!(log(store, "account", Position::ZERO, 10), []);
    let mut first = Commit::new();
    let member = first.member(bob.clone(), claims[1].epoch, Seq::ZERO);
    let before = member.event(event("1"), claims[1].hash);
    member.event(event("2"), before);
    first.member(alice.clone(), claims[0].epoch, Seq::ZERO).event(event("3"), claims[0].hash);
    let first = committed(store, first);
    let mut second = Commit::new();
    second.member(other.clone(), claims[2].epoch, Seq::ZERO).event(event("4"), claims[2].hash);
    let second = committed(store, second);
    let mut third = Commit::new();
    let now = claim(store, &alice);
    third.member(alice.clone(), now.epoch, now.last).event(event("5"), now.hash);
    let third = committed(store, third);

    let all = log(store, "account", Position::ZERO, 10);
    assert_eq!(
        texts(&all),
        ["account/alice: 3", "account/bob: 1", "account/bob: 2", "account/alice: 5"]
    );
    let positions: Vec<_> = all.iter().map(|entry| entry.stored.position).collect();
    assert_eq!(positions, [first, first, first, third]);
    let alone = wait(|done| store.events(bob, Seq::ZERO, 10, done)).expect("it can be read");
    assert_eq!([&all[1].stored, &all[2].stored], [&alone[0], &alone[1]]);
    // The first commit is not torn.
    assert_eq!(log(store, "account", Position::ZERO, 1), all[..3]);
    assert_eq!(log(store, "account", Position::ZERO, 3), all[..3]);
    assert_eq!(log(store, "account", Position::ZERO, 4), all);
    assert_eq!(log(store, "account", first, 1), all[3..]);
    assert_eq!(log(store, "account", second, 10), all[3..]);
    assert_eq!(log(store, "account", third, 10), []);
    assert_eq!(texts(&log(store, "other", Position::ZERO, 10)), ["other/alice: 4"]);
    assert_eq!(log(store, "nothing", Position::ZERO, 10), []);
}

/// While others write, pages are read from behind the last position that was seen.
fn followed_logs(store: &dyn Store) {
    const WRITERS: usize = 3;
    const COMMITS: usize = 60;
    let followed = thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let entity = account(&writer.to_string());
                let mut now = claim(store, &entity);
                for round in 0..COMMITS {
                    let mut next = Commit::new();
                    let member = next.member(entity.clone(), now.epoch, now.last);
                    for part in 0..=round % 3 {
                        now.hash = member.event(event(&format!("{round}.{part}")), now.hash);
                        now.last = now.last.next();
                    }
                    committed(store, next);
                }
            });
        }
        let mut followed: Vec<LogEntry> = Vec::new();
        let all = WRITERS * (0..COMMITS).map(|round| 1 + round % 3).sum::<usize>();
        while followed.len() < all {
            let after = followed.last().map_or(Position::ZERO, |last| last.stored.position);
            followed.extend(log(store, "account", after, 4));
        }
        followed
    });
    assert_eq!(followed, log(store, "account", Position::ZERO, usize::MAX >> 1));
    assert!(followed.is_sorted_by_key(|entry| entry.stored.position));
    for writer in 0..WRITERS {
        let entity = account(&writer.to_string());
        let own: Vec<_> = followed.iter().filter(|entry| entry.entity == entity).collect();
        let seqs: Vec<_> = own.iter().map(|entry| entry.stored.seq.get()).collect();
        assert_eq!(seqs, (1..=own.len() as u64).collect::<Vec<_>>());
    }
}

/// Several threads move amounts among accounts, and claim them from each other all the time: what
/// was told to be committed is there, once, and in both accounts.
fn many_writers(store: &dyn Store) {
    const ACCOUNTS: usize = 4;
    const WRITERS: usize = 4;
    // Behind those that all want, two for each writer alone, which it always gets.
    let names: Vec<_> = (0..ACCOUNTS + 2 * WRITERS).map(|n| account(&n.to_string())).collect();
    let committed = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let names = &names;
                scope.spawn(move || {
                    let mut told = Vec::new();
                    for round in 0..50 {
                        let (from, to) = if round % 5 == 0 {
                            (ACCOUNTS + 2 * writer, ACCOUNTS + 2 * writer + 1)
                        } else {
                            ((writer + round) % ACCOUNTS, (writer * 3 + round * 5 + 1) % ACCOUNTS)
                        };
                        if from == to {
                            continue;
                        }
                        let (from, to) = (&names[from], &names[to]);
                        let (one, other) = (claim(store, from), claim(store, to));
                        let text = format!("{writer}.{round}");
                        let mut both = Commit::new();
                        both.member(from.clone(), one.epoch, one.last)
                            .event(event(&format!("-{text}")), one.hash);
                        both.member(to.clone(), other.epoch, other.last)
                            .event(event(&format!("+{text}")), other.hash);
                        match commit(store, both) {
                            StoreOutcome::Committed(position) => told.push((position, text)),
                            StoreOutcome::Refused(
                                CommitRefusal::Fenced { .. } | CommitRefusal::Conflict { .. },
                            ) => {}
                            other => panic!("{other:?}"),
                        }
                    }
                    told
                })
            })
            .collect();
        let told = writers.into_iter().map(|writer| writer.join().expect("it does not panic"));
        told.flatten().collect::<Vec<_>>()
    });
    let mut found: Vec<(Position, String)> = Vec::new();
    for name in &names {
        let all = events(store, name, 0, usize::MAX >> 1);
        let seqs: Vec<u64> = all.iter().map(|event| event.seq.get()).collect();
        assert_eq!(seqs, (1..=all.len() as u64).collect::<Vec<_>>(), "there are no gaps");
        all.iter().fold(crate::EventHash::of(name), |hash, stored| {
            let hash = hash.with(stored.seq, &stored.event);
            assert_eq!(hash, stored.hash, "each follows the one before");
            hash
        });
        found.extend(all.iter().map(|stored| {
            let text = String::from_utf8_lossy(&stored.event.payload).into_owned();
            (stored.position, text)
        }));
    }
    let mut expected: Vec<_> = committed
        .iter()
        .flat_map(|(position, text)| {
            [(*position, format!("-{text}")), (*position, format!("+{text}"))]
        })
        .collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert!(expected.len() >= 2 * 10 * WRITERS, "those that a writer alone wants got through");
}

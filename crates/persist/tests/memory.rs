//! The store in memory, and what it does when it is told to fail.

use std::sync::Arc;

use coact_persist::{
    Commit, CommitRefusal, CommitSettlement, EntityId, Event, InTransit, MemoryStore, Seq, Store,
    StoreError, StoreFault, StoreOperation, StoreOutcome, StoreReader, conformance, wait,
};

#[test]
fn it_passes_the_tests_of_all_stores() {
    conformance::all(&|| Arc::new(MemoryStore::new()));
}

/// A store with an entity, and a commit of one event to that.
fn one_commit() -> (MemoryStore, EntityId, Commit) {
    let (store, alice) = (MemoryStore::new(), EntityId::new("account", "alice"));
    let claim = wait(|done| store.claim(alice.clone(), done)).unwrap();
    let mut commit = Commit::new();
    commit
        .member(alice.clone(), claim.epoch, claim.last)
        .event(Event::new("deposited", 1, b"1".to_vec()), claim.hash);
    (store, alice, commit)
}

fn count(store: &MemoryStore, entity: &EntityId) -> usize {
    wait(|done| store.events(entity.clone(), Seq::ZERO, 10, done)).unwrap().len()
}

#[test]
fn one_that_is_not_available_says_so_and_does_nothing() {
    let (store, alice, commit) = one_commit();
    store.fail(|_| StoreFault::Unavailable);
    let id = commit.id();
    let outcome = wait(|done| store.commit(commit.clone(), done));
    assert!(matches!(
        outcome,
        StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { .. }))
    ));
    assert!(wait(|done| store.claim(alice.clone(), done)).is_err());
    assert!(wait(|done| store.events(alice.clone(), Seq::ZERO, 1, done)).is_err());
    assert!(wait(|done| store.settle(id, done)).is_err());
    store.heal();
    assert_eq!(count(&store, &alice), 0);
    assert!(matches!(wait(|done| store.commit(commit, done)), StoreOutcome::Committed(_)));
}

#[test]
fn a_lost_answer_is_settled_as_committed() {
    let (store, alice, commit) = one_commit();
    store.fail(|operation| match operation {
        StoreOperation::Commit(_) => StoreFault::AnswerLost,
        _ => StoreFault::None,
    });
    let id = commit.id();
    assert!(matches!(wait(|done| store.commit(commit, done)), StoreOutcome::Unknown(_)));
    assert!(matches!(wait(|done| store.settle(id, done)), Ok(CommitSettlement::Committed(_))));
    assert_eq!(count(&store, &alice), 1);
}

/// "Not found" is not "aborted": the commit may still come.
#[test]
fn what_is_settled_while_it_is_on_its_way_does_not_happen() {
    for settles in [true, false] {
        let (store, alice, commit) = one_commit();
        let held = InTransit::new();
        let hold = held.clone();
        store.fail(move |operation| match operation {
            StoreOperation::Commit(_) => StoreFault::InTransit(hold.clone()),
            _ => StoreFault::None,
        });
        let id = commit.id();
        assert!(matches!(wait(|done| store.commit(commit, done)), StoreOutcome::Unknown(_)));
        if settles {
            assert_eq!(wait(|done| store.settle(id, done)), Ok(CommitSettlement::Aborted));
            assert_eq!(held.let_through(&store), [StoreOutcome::Refused(CommitRefusal::Aborted)]);
        } else {
            assert!(matches!(held.let_through(&store)[..], [StoreOutcome::Committed(_)]));
        }
        assert_eq!(count(&store, &alice), usize::from(!settles));
        assert_eq!(held.let_through(&store), []);
    }
}

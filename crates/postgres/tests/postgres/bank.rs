//! What the tests ask of stores.

use std::sync::mpsc::{Receiver, channel};

use coact_persist::{
    Claim, Commit, CommitId, CommitRefusal, CommitSettlement, EntityId, Event, Position, Seq,
    Store, StoreError, StoreOutcome, StoreReader, wait,
};

pub fn account(key: impl Into<String>) -> EntityId {
    EntityId::new("account", key.into())
}

pub fn event(text: &str) -> Event {
    Event::new("noted", 1, text.as_bytes().to_vec())
}

pub fn claim(store: &dyn Store, entity: &EntityId) -> Claim {
    try_claim(store, entity).expect("the store is there")
}

pub fn try_claim(store: &dyn Store, entity: &EntityId) -> Result<Claim, StoreError> {
    wait(|done| store.claim(entity.clone(), done))
}

/// One event for each of these entities.
pub fn step(members: &[(&EntityId, &Claim)], text: &str) -> Commit {
    let mut commit = Commit::new();
    for (entity, claim) in members {
        let member = commit.member((*entity).clone(), claim.epoch, claim.last);
        member.event(event(text), claim.hash);
    }
    commit
}

pub fn commit(store: &dyn Store, commit: Commit) -> StoreOutcome {
    wait(|done| store.commit(commit, done))
}

pub fn committed(store: &dyn Store, what: Commit) -> Position {
    match commit(store, what) {
        StoreOutcome::Committed(position) => position,
        other => panic!("it is to be committed: {other:?}"),
    }
}

pub fn settle(store: &dyn Store, id: CommitId) -> Result<CommitSettlement, StoreError> {
    wait(|done| store.settle(id, done))
}

pub fn texts(store: &dyn StoreReader, entity: &EntityId) -> Vec<String> {
    try_texts(store, entity).expect("it can be read")
}

pub fn try_texts(store: &dyn StoreReader, entity: &EntityId) -> Result<Vec<String>, StoreError> {
    let read = wait(|done| store.events(entity.clone(), Seq::ZERO, 1_000_000, done))?;
    Ok(read.iter().map(|stored| text(&stored.event)).collect())
}

pub fn text(event: &Event) -> String {
    String::from_utf8_lossy(&event.payload).into_owned()
}

/// What is asked, and not waited for.
pub fn ask<T: Send + 'static>(
    operation: impl FnOnce(coact_persist::StoreCallback<T>),
) -> Receiver<T> {
    let (tell, told) = channel();
    operation(Box::new(move |result| drop(tell.send(result))));
    told
}

/// Asks again while the store says that it is not available. Fails if it does not go on by itself.
pub fn until_available<T>(mut ask: impl FnMut() -> Result<T, StoreError>) -> T {
    let begun = std::time::Instant::now();
    loop {
        match ask() {
            Ok(done) => return done,
            Err(StoreError::Unavailable { why }) => {
                assert!(begun.elapsed().as_secs() < 60, "it does not go on by itself: {why}");
                // It refuses at once while it connects: who asks again at once, as no journal does,
                // takes the processors from that.
                std::thread::park_timeout(std::time::Duration::from_millis(5));
            }
            Err(other) => panic!("{other}"),
        }
    }
}

/// Whether a commit has happened, after all.
pub fn truth(store: &dyn Store, id: CommitId, outcome: &StoreOutcome) -> bool {
    match outcome {
        StoreOutcome::Committed(_) => true,
        StoreOutcome::Unknown(_) => {
            matches!(until_available(|| settle(store, id)), CommitSettlement::Committed(_))
        }
        StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { .. })) => false,
        StoreOutcome::Refused(other) => panic!("{other}"),
    }
}

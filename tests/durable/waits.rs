//! Waits for a store that cannot be reached, or does not answer: who gets an error, and what ends
//! the wait.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact::Broken;
use coact::actor::AskError;
use coact::durable::store::{Claim, Note, NoteQuery, StoreCallback, StoreFault, StoreOperation};
use coact::durable::{Durable, EntityId, Journal, MemoryStore, Once, Store, StoreError, pipelined};
use coact::prelude::*;
use coact_tests::everywhere;

use crate::bank::{Account, Balance, Changed, Deposit, account, found};
use crate::failures::{is_unavailable, pass};
use crate::layers::{Layer, Told, Work, layer};
use crate::slow::Slow;

/// A journal with little patience, which recovers two entities at once.
fn impatient(store: impl Store) -> Journal {
    Journal::builder(store).patience(Duration::from_millis(30)).recoveries(2).build()
}

#[track_caller]
fn is_told<T: std::fmt::Debug>(told: Result<T, AskError>) {
    match told {
        Err(AskError::NotCommitted(why)) => assert!(is_unavailable(&why), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// Asks again until the store is back.
fn ask_again(journal: &Journal, key: &str) -> i64 {
    loop {
        match account(journal, key).ask(Deposit(1)).wait() {
            Ok(balance) => return balance,
            Err(AskError::NotCommitted(why)) => assert!(is_unavailable(&why), "{why}"),
            Err(other) => panic!("{other:?}"),
        }
        pass(Duration::from_millis(10));
    }
}

const KEYS: usize = 12;

fn keys() -> impl Iterator<Item = String> {
    (0..KEYS).map(|key| key.to_string())
}

/// More entities than may be recovered at once.
#[test]
fn e10_recoveries_that_wait_for_their_turn_learn_of_an_outage() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = impatient(store.clone());
        store.fail(|_| StoreFault::Unavailable);
        let all: Vec<_> = keys().map(|key| account(&journal, &key)).collect();
        let asked: Vec<_> = all.iter().map(|one| one.ask(Deposit(1))).collect();
        let called: Vec<_> = all.iter().map(|one| call(one, |one| one.balance)).collect();
        asked.into_iter().for_each(|asked| is_told(asked.wait()));
        for called in called {
            match called.wait() {
                Err(Broken::NotCommitted(why)) => assert!(is_unavailable(&why), "{why}"),
                other => panic!("{other:?}"),
            }
        }
        store.heal();
        keys().for_each(|key| assert_eq!(ask_again(&journal, &key), 1));
    });
}

/// A store in memory that holds back the answers of claims.
#[derive(Clone, Default)]
struct Silent {
    store: MemoryStore,
    claims: Arc<Mutex<Option<Vec<OpenClaim>>>>,
}

type OpenClaim = (EntityId, StoreCallback<Result<Claim, StoreError>>);

impl Silent {
    fn new() -> Self {
        Self { claims: Arc::new(Mutex::new(Some(Vec::new()))), ..Self::default() }
    }

    fn answer(&self) {
        let claims = self.claims.lock().unwrap().take();
        claims.into_iter().flatten().for_each(|(entity, done)| self.store.claim(entity, done));
    }
}

layer!(Silent);

impl Layer for Silent {
    fn pass(&self, work: Work) {
        work(&self.store);
    }

    fn take_claim(&self, entity: EntityId, done: StoreCallback<Result<Claim, StoreError>>) {
        if let Some(claims) = &mut *self.claims.lock().unwrap() {
            return claims.push((entity, done));
        }
        self.store.claim(entity, done);
    }
}

/// It hangs, and fails in no other way.
#[test]
fn e10_a_store_that_does_not_answer_a_recovery_cannot_be_reached() {
    everywhere(|| {
        let store = Silent::new();
        let journal = impatient(store.clone());
        let all: Vec<_> = keys().map(|key| account(&journal, &key)).collect();
        let asked: Vec<_> = all.iter().map(|one| one.ask(Deposit(1))).collect();
        asked.into_iter().for_each(|asked| is_told(asked.wait()));
        store.answer();
        keys().for_each(|key| assert_eq!(ask_again(&journal, &key), 1));
    });
}

/// In virtual time, so that each answer comes in time: only the queue is long.
#[test]
fn e10_a_long_queue_of_recoveries_is_no_outage() {
    coact::sim::Sim::new().config(coact::sim::Config::new().runs(10)).check(|| {
        let slow = Slow::new(&MemoryStore::new(), 10_000, 1);
        let journal = impatient(slow);
        let all: Vec<_> = (0..60).map(|key| account(&journal, &key.to_string())).collect();
        let asked: Vec<_> = all.iter().map(|one| one.ask(Deposit(1))).collect();
        asked.into_iter().for_each(|asked| assert_eq!(asked.wait(), Ok(1)));
    });
}

/// One that was found while no recovery is open is forgotten: it may be over.
#[test]
fn e10_an_outage_that_is_over_is_not_told() {
    coact::sim::Sim::new().config(coact::sim::Config::new().runs(10)).check(|| {
        let store = MemoryStore::new();
        let journal = impatient(Slow::new(&store, 100, 1));
        store.fail(|_| StoreFault::Unavailable);
        let all: Vec<_> = keys().map(|key| account(&journal, &key)).collect();
        let asked: Vec<_> = all.iter().map(|one| one.ask(Deposit(1))).collect();
        asked.into_iter().for_each(|asked| is_told(asked.wait()));
        all.iter().for_each(|one| one.stop().unwrap());
        all.into_iter().for_each(|one| drop(one.ended().wait()));
        store.heal();
        let all: Vec<_> = keys().map(|key| account(&journal, &key)).collect();
        let asked: Vec<_> = all.iter().map(|one| one.ask(Deposit(1))).collect();
        asked.into_iter().for_each(|asked| assert_eq!(asked.wait(), Ok(1)));
    });
}

/// What cannot be written can be read: on a full disk.
#[test]
fn e10_what_is_read_meanwhile_ends_no_outage_of_claims() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = impatient(store.clone());
        assert_eq!(account(&journal, "0").ask(Deposit(1)).wait(), Ok(1));
        store.fail(|operation| match operation {
            StoreOperation::Claim(_) | StoreOperation::Commit(_) => StoreFault::Unavailable,
            _ => StoreFault::None,
        });
        let all: Vec<_> = keys().skip(1).map(|key| account(&journal, &key)).collect();
        let asked: Vec<_> = all.iter().map(|one| one.ask(Deposit(1))).collect();
        assert_eq!(journal.keys::<Account>(None, 9).wait().unwrap().unwrap().len(), 1);
        asked.into_iter().for_each(|asked| is_told(asked.wait()));
        store.heal();
    });
}

/// The program ends in order while the store is down: `everywhere` waits until nothing is left to
/// do.
#[test]
fn e24_what_is_not_wanted_any_more_does_not_wait_for_the_store() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = impatient(store.clone());
        assert_eq!(account(&journal, "0").ask(Deposit(1)).wait(), Ok(1));
        store.fail(|_| StoreFault::Unavailable);
        let all: Vec<_> = keys().map(|key| account(&journal, &key)).collect();
        // Some is told, and some is not waited for.
        for one in &all[..KEYS / 2] {
            is_told(one.ask(Deposit(1)).wait());
        }
        all.iter().for_each(|one| when(one, |one| one.persist(Changed { by: 1 })));
        drop((all, journal));
    });
}

/// A wait of a former owner does not delay the next one.
#[test]
fn e24_an_actor_that_is_stopped_leaves_its_entity_while_the_store_is_down() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = impatient(store.clone());
        store.fail(|_| StoreFault::Unavailable);
        for _ in 0..3 {
            let alice = account(&journal, "alice");
            is_told(alice.ask(Balance).wait());
            alice.stop().unwrap();
            alice.ended().wait().unwrap();
        }
        store.heal();
        assert_eq!(ask_again(&journal, "alice"), 1);
        assert_eq!(found(&store, "alice").changes, [1]);
    });
}

/// It waits for the store, and ends with an error when the journal is gone.
#[test]
fn e24_resume_ends_when_its_journal_is_gone() {
    everywhere(|| {
        let store = MemoryStore::new();
        store.fail(|_| StoreFault::Unavailable);
        let journal = impatient(store);
        let resumed = journal.resume();
        drop(journal);
        let resumed = resumed.wait().unwrap();
        assert!(matches!(resumed, Err(StoreError::Unavailable { .. })), "{resumed:?}");
    });
}

/// Decisions behind a commit of unknown outcome wait for it, and everything else fails.
#[test]
fn e10_what_is_not_decided_on_is_told_while_an_outcome_is_unknown() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = impatient(store.clone());
        let [alice, bob] = ["alice", "bob"].map(|key| account(&journal, key));
        assert_eq!(call((&alice, &bob), |_| ()).wait(), Ok(()));
        for is_pipelined in [false, true] {
            let was_asked = AtomicBool::new(false);
            store.fail(move |operation| match operation {
                StoreOperation::Commit(_) if !was_asked.swap(true, SeqCst) => {
                    StoreFault::AnswerLost
                }
                StoreOperation::Settle(_) => StoreFault::Unavailable,
                _ => StoreFault::None,
            });
            let before = found_balance(&alice);
            let unknown = if is_pipelined {
                let both = call(pipelined((&alice, &bob)), |(alice, bob)| {
                    alice.persist(Changed { by: 1 });
                    bob.persist(Changed { by: 1 });
                });
                Unknown::Called(both)
            } else {
                Unknown::Asked(alice.ask(Deposit(1)))
            };
            // Behaviours wait until it is known, and are not decided on before.
            let called = call(&alice, |alice| alice.persist(Changed { by: 100 }));
            match called.wait() {
                Err(Broken::NotCommitted(why)) => assert!(is_unavailable(&why), "{why}"),
                other => panic!("{other:?}"),
            }
            // From then on, commands are not, either.
            is_told(alice.ask(Deposit(100)).wait());
            store.heal();
            match unknown {
                Unknown::Asked(asked) => assert_eq!(asked.wait(), Ok(before + 1)),
                Unknown::Called(called) => assert_eq!(called.wait(), Ok(())),
            }
            assert_eq!(alice.ask(Balance).wait(), Ok(before + 1));
        }
        assert_eq!(found(&store, "alice").changes, [1, 1]);
    });
}

enum Unknown {
    Asked(Ask<i64>),
    Called(Promise<()>),
}

fn found_balance(account: &Addr<Durable<Account>>) -> i64 {
    account.ask(Balance).wait().unwrap()
}

/// A store in memory that answers nothing about notes, as long as it is there.
#[derive(Clone, Default)]
pub struct Speechless(pub MemoryStore, pub Arc<Mutex<Vec<Told<Vec<Note>>>>>);

layer!(Speechless);

impl Layer for Speechless {
    fn pass(&self, work: Work) {
        work(&self.0);
    }

    fn read_notes(&self, _: NoteQuery, _: usize, done: Told<Vec<Note>>) {
        self.1.lock().unwrap().push(done);
    }
}

#[test]
fn e10_a_key_that_the_store_does_not_answer_for_is_not_waited_for_longer_than_the_patience() {
    everywhere(|| {
        let store = Speechless::default();
        let alice = account(&impatient(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        is_told(alice.ask(Once::new("a", Deposit(10))).wait());
        // Others do not wait for it.
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(2));
    });
}

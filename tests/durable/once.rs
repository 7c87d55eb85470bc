//! Commands with keys of their clients.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact::actor::AskError;
use coact::durable::store::{NoteKind, NoteQuery, StoreFault, StoreOperation, StoreReader, wait};
use coact::durable::{IdempotencyKeyReused, Journal, MemoryStore, Once};
use coact::prelude::*;
use coact_tests::{Dice, Faults, everywhere, everywhere_with_faults, runtime};

use crate::failures::pass;
use crate::histories::seeds;

use crate::bank::{Account, Balance, Deposit, account, found};
use crate::manual::Manual;
use crate::slow::Slow;

fn answers(store: &MemoryStore) -> usize {
    let which = NoteQuery::Ranked { kind: NoteKind::ClientAnswer, after: None, up_to: u64::MAX };
    wait(|done| store.notes(which, 1_000_000, done)).unwrap().len()
}

#[test]
fn e18_the_same_key_has_the_same_answer() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 200, 1));
        let alice = account(&journal, "alice");
        // All at once: the second comes while the first is pending.
        let asked: Vec<_> = [("a", 1), ("b", 10), ("a", 1), ("a", 1), ("b", 10)]
            .map(|(key, by)| alice.ask(Once::new(key, Deposit(by))))
            .into();
        let told: Vec<_> = asked.into_iter().map(|asked| asked.wait().unwrap()).collect();
        assert_eq!(told, [1, 11, 1, 1, 11]);
        assert_eq!(alice.ask(Deposit(100)).wait(), Ok(111));
        assert_eq!(alice.ask(Once::new("a", Deposit(1))).wait(), Ok(1));
        // Another entity has keys of its own, and so has a later process the same.
        let bob = account(&journal, "bob");
        assert_eq!(bob.ask(Once::new("a", Deposit(7))).wait(), Ok(7));
        let later = account(&Journal::new(store.clone()), "alice");
        assert_eq!(later.ask(Once::new("b", Deposit(10))).wait(), Ok(11));
        assert_eq!(later.ask(Balance).wait(), Ok(111));
        assert_eq!(answers(&store), 3);
    });
}

/// Commands are sent again until they are answered, through all failures of a store.
#[test]
fn e18_what_is_sent_again_is_decided_on_once() {
    everywhere_with_faults(|_| {
        for seed in seeds(3) {
            let store = MemoryStore::new();
            let dice = Arc::new(Mutex::new(Dice::new(seed)));
            store.fail(move |operation| {
                let face = dice.lock().unwrap().below(5);
                match (operation, face) {
                    (StoreOperation::Commit(_), 0) => StoreFault::Unavailable,
                    (StoreOperation::Commit(_), 1) => StoreFault::AnswerLost,
                    (StoreOperation::Notes(_), 2) => StoreFault::Unavailable,
                    _ => StoreFault::None,
                }
            });
            let journal = Journal::new(store.clone());
            let alice = account(&journal, "alice");
            let mut open: Vec<_> = (0..20).collect();
            let mut answers = [None; 20];
            while !open.is_empty() {
                let ask = |n: &i64| {
                    let key = n.to_string();
                    (*n, alice.ask(Once::new(key, Deposit(1 << n))))
                };
                let asked: Vec<_> = open.iter().chain(&open).map(ask).collect();
                for (n, asked) in asked {
                    let Ok(answer) = asked.wait() else { continue };
                    let before = answers[n as usize].replace(answer);
                    if before.is_some_and(|before| before != answer) {
                        let is = found(&store, "alice").changes;
                        panic!("{seed}: key {n} was told {before:?}, then {answer}: {is:?}");
                    }
                }
                open.retain(|n| answers[*n as usize].is_none());
            }
            store.heal();
            let all = found(&store, "alice");
            assert_eq!(all.balance, (1 << 20) - 1);
            // Each has told what was so when it was decided.
            let mut sums: Vec<_> = answers.iter().map(|answer| answer.unwrap()).collect();
            sums.sort_unstable();
            let running = all.changes.iter().scan(0, |sum, by| {
                *sum += by;
                Some(*sum)
            });
            assert_eq!(sums, running.collect::<Vec<_>>());
        }
    });
}

/// The answer is stored at the very moment in which a command looks for it among those that are
/// not.
#[test]
fn e18_an_answer_that_is_just_stored_is_not_missed() {
    const KEYS: i64 = 4_000;
    let runtime = runtime(2, &Faults::new());
    let _entered = runtime.enter();
    let store = MemoryStore::new();
    let alice = account(&Journal::new(Slow::new(&store, 3, 1)), "alice");
    for key in 0..KEYS {
        let ask = || alice.ask(Once::new(key.to_string(), Deposit(1)));
        let asked: Vec<_> = (0..6).map(|_| ask()).collect();
        asked.into_iter().for_each(|asked| assert_eq!(asked.wait(), Ok(key + 1)));
    }
}

/// The commit has nothing but the answer, and others are stored behind it.
#[test]
fn e18_an_answer_that_is_refused_is_not_told_to_who_asks_again() {
    everywhere(|| {
        let store = Manual::default();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        store.hold();
        let first = alice.ask(Once::new("k", Balance));
        let deposit = alice.ask(Deposit(5));
        let again = alice.ask(Once::new("k", Balance));
        let far = store.clone();
        let last = call(coact::durable::pipelined(&alice), move |_| far.refuse_first());
        assert!(first.wait().is_err() && again.wait().is_err() && last.wait().is_err());
        let is = if deposit.wait().is_ok() { 6 } else { 1 };
        assert_eq!(alice.ask(Once::new("k", Balance)).wait(), Ok(is));
        assert_eq!(alice.ask(Once::new("k", Balance)).wait(), Ok(is));
    });
}

#[test]
fn e18_a_key_is_for_one_command() {
    everywhere_with_faults(|_| {
        let alice = account(&Journal::new(MemoryStore::new()), "alice");
        assert_eq!(alice.ask(Once::new("a", Deposit(1))).wait(), Ok(1));
        let other = alice.ask(Once::new("a", Rename("x".into()))).wait();
        let Err(AskError::NotCommitted(why)) = other else { panic!("{other:?}") };
        assert!(why.why::<IdempotencyKeyReused>().is_some(), "{why}");
        assert_eq!(alice.ask(Balance).wait(), Ok(1));
        assert_eq!(alice.ask(Once::new("a", Deposit(1))).wait(), Ok(1));
        // The answer could be one to this: it is, and nothing is decided.
        assert_eq!(alice.ask(Once::new("a", Deposit(5))).wait(), Ok(1));
        assert_eq!(alice.ask(Deposit(2)).wait(), Ok(3));
        assert_eq!(alice.ask(Once::new("a", Balance)).wait(), Ok(1));
    });
}

#[derive(Message)]
#[message(reply = String)]
struct Rename(String);

impl coact::durable::Decide<Rename> for Account {
    fn decide(_: &mut coact::durable::Durable<Self>, Rename(name): Rename) -> String {
        name
    }
}

#[test]
fn old_answers_are_forgotten() {
    let runtime = runtime(2, &Faults::new());
    runtime.run(|| {
        let store = MemoryStore::new();
        let journal = Journal::builder(store.clone()).answers_for(Duration::from_millis(1)).build();
        let alice = account(&journal, "alice");
        for _ in 0..4 {
            let asked: Vec<_> =
                (0..1_024).map(|n| alice.ask(Once::new(format!("{n}"), Deposit(0)))).collect();
            asked.into_iter().for_each(|asked| assert!(asked.wait().is_ok()));
            pass(Duration::from_millis(5));
        }
        // (Keys came again, so they took the places of their own.)
        assert!(answers(&store) <= 1_024);
        let asked: Vec<_> =
            (0..1_024).map(|n| alice.ask(Once::new(format!("new {n}"), Deposit(0)))).collect();
        asked.into_iter().for_each(|asked| assert!(asked.wait().is_ok()));
        while answers(&store) > 1_024 {
            drop(alice.ask(Balance).wait());
        }
    });
}

#[test]
fn a_command_with_a_key_is_asked_and_not_called() {
    everywhere_with_faults(|_| {
        let alice = account(&Journal::new(MemoryStore::new()), "alice");
        let called =
            call(&alice, |alice| coact::durable::Decide::decide(alice, Once::new("a", Deposit(1))));
        let why = called.wait().unwrap_err().to_string();
        assert!(why.contains("without being asked"), "{why}");
        assert_eq!(alice.ask(Balance).wait(), Ok(0));
    });
}

/// An answer that is stored, or pending, when the entity is deleted.
#[test]
fn e15_an_entity_that_is_deleted_forgets_its_answers_at_once() {
    everywhere(|| {
        let store = Manual::default();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Once::new("old", Deposit(1))).wait(), Ok(1));
        store.hold();
        let on_its_way = alice.ask(Once::new("new", Deposit(2)));
        let deleted = call(coact::durable::pipelined(&alice), |alice| alice.delete());
        let again: Vec<_> =
            ["old", "new", "old", "new"].map(|key| alice.ask(Once::new(key, Deposit(10)))).into();
        let far = store.clone();
        let last = call(coact::durable::pipelined(&alice), move |_| far.release());
        assert_eq!(on_its_way.wait(), Ok(3));
        assert_eq!((deleted.wait(), last.wait()), (Ok(()), Ok(())));
        let again: Vec<_> = again.into_iter().map(|asked| asked.wait().unwrap()).collect();
        assert_eq!(again, [10, 20, 10, 20]);
        assert_eq!(alice.ask(Once::new("new", Deposit(10))).wait(), Ok(20));
        assert_eq!(answers(&store.1), 2);
    });
}

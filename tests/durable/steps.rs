//! Behaviours over durable actors: one step for all members, or none.

use std::sync::Arc;

use coact::behaviour::{Batch, Refusal, scope};
use coact::cown::read_all;
use coact::durable::{DifferentStores, Journal, MemoryStore};
use coact::prelude::*;
use coact::{Broken, call_here, try_call, when_here, when_or_else};
use coact_tests::{Dice, Log, everywhere, everywhere_with_faults};

use crate::bank::{Addresses, Balance, Changed, Deposit, account, found};
use crate::slow::Slow;

#[test]
fn e3_a_step_over_several_is_stored_as_one() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 300, 1));
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        alice.send(Deposit(100)).unwrap();
        let moved = call((&alice, &bob), |(alice, bob)| {
            alice.persist(Changed { by: -30 });
            bob.persist(Changed { by: 30 });
            (alice.balance, bob.balance)
        });
        assert_eq!(moved.wait(), Ok((70, 30)));
        assert_eq!((found(&store, "alice").balance, found(&store, "bob").balance), (70, 30));
    });
}

#[test]
fn e2_what_comes_behind_a_step_sees_it_only_when_it_is_stored() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 300, 2));
        let alice = account(&journal, "alice");
        let log = Log::new();
        for n in 1..=5 {
            alice.send(Deposit(1)).unwrap();
            when(&alice, |alice| alice.persist(Changed { by: 1 }));
            let (log, id) = (log.clone(), coact::durable::EntityId::new("bank.account", "alice"));
            let store = store.clone();
            when(&alice, move |alice| {
                let events = coact::durable::store::wait(|done| {
                    coact::durable::store::StoreReader::events(
                        &store,
                        id,
                        coact::durable::Seq::ZERO,
                        100,
                        done,
                    );
                });
                log.push((alice.balance, events.unwrap().len() as i64, 2 * n));
            });
        }
        call(&alice, |_| ()).wait().unwrap();
        let seen = log.take();
        assert_eq!(seen.len(), 5);
        seen.iter()
            .for_each(|(balance, stored, right)| assert_eq!((balance, stored), (right, right)));
    });
}

#[test]
fn e3_all_forms_of_behaviours_store_what_they_decide() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 300, 3));
        let all: Addresses = ["a", "b", "c"].map(|key| account(&journal, key)).into();
        let (a, b) = (&all[0], &all[1]);
        when(a, |a| a.persist(Changed { by: 1 }));
        when_or_else(a, |a| a.persist(Changed { by: 2 }), |why| panic!("{why}"));
        assert!(
            coact::try_when([a, b], |all| all
                .into_iter()
                .for_each(|one| one.persist(Changed { by: 3 })))
            .is_ok()
        );
        assert_eq!(
            try_call(a, |a| {
                a.persist(Changed { by: 4 });
                a.balance
            })
            .unwrap()
            .wait(),
            Ok(10)
        );
        when(&all, |all| all.into_iter().for_each(|one| one.persist(Changed { by: 5 })));
        Batch::new()
            .when(a, |a| a.persist(Changed { by: 6 }))
            .when((a, b), |(a, b)| {
                a.persist(Changed { by: 7 });
                b.persist(Changed { by: 7 })
            })
            .spawn();
        when_here(a, |a| a.persist(Changed { by: 8 }));
        assert_eq!(
            call_here((a, b), |(a, b)| {
                a.persist(Changed { by: 9 });
                b.balance
            })
            .wait(),
            Ok(15)
        );
        let chained = call(b, |b| b.balance).then(a, |a, b| {
            a.persist(Changed { by: b.unwrap() });
            a.balance
        });
        assert_eq!(chained.wait(), Ok(60));
        let sum = call(read_all(&all), |all| all.iter().map(|one| one.balance).sum::<i64>());
        assert_eq!(sum.wait(), Ok(60 + 15 + 5));
        assert_eq!(found(&store, "a").changes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 15]);
        assert_eq!(found(&store, "b").changes, [3, 5, 7]);
        assert_eq!(found(&store, "c").changes, [5]);
    });
}

/// It decides at once if it can, and is a step like others from there on.
#[test]
fn e3_when_here_decides_at_once_and_waits_for_nothing() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 300, 9));
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        call((&alice, &bob), |_| ()).wait().unwrap();
        // (The end of a behaviour is told after it has left.)
        let (log, told) = (Log::new(), Log::new());
        let far = log.clone();
        told.push(when_here((&alice, &bob), move |(alice, bob)| {
            far.push(alice.balance);
            alice.persist(Changed { by: 1 });
            bob.persist(Changed { by: 2 });
        }));
        let was_here = log.len() == 1;
        // It has the members until it is stored.
        let far = log.clone();
        told.push(when_here(&alice, move |alice| far.push(alice.balance)));
        assert_eq!(
            call((&alice, &bob), |(alice, bob)| (alice.balance, bob.balance)).wait(),
            Ok((1, 2))
        );
        assert_eq!(log.take(), [0, 1]);
        let told = told.take();
        assert!(!told[0] || was_here, "it says that it has run");
        assert_eq!(found(&store, "alice").changes, [1]);
    });
}

#[test]
fn e3_when_here_decides_on_the_calling_thread() {
    coact_tests::check(|| {
        let alice = account(&Journal::new(MemoryStore::new()), "alice");
        while !when_here(&alice, |alice| alice.persist(Changed { by: 1 })) {
            call(&alice, |_| ()).wait().unwrap();
        }
        let here = std::thread::current().id();
        let thread = Log::new();
        let far = thread.clone();
        call(&alice, |_| ()).wait().unwrap();
        if when_here(&alice, move |_| far.push(std::thread::current().id())) {
            assert_eq!(thread.take(), [here]);
        }
    });
}

#[test]
fn e3_a_scope_lends_to_a_step_and_waits_until_it_is_stored() {
    coact_tests::check(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 300, 4));
        let alice = account(&journal, "alice");
        let (by, mut seen) = (vec![1, 2, 3], 0);
        scope(|scope| {
            scope.when(&alice, |alice| {
                by.iter().for_each(|by| alice.persist(Changed { by: *by }));
                seen = alice.balance;
            });
        });
        assert_eq!((seen, found(&store, "alice").changes), (6, by));
    });
}

#[test]
fn e9_members_that_are_not_durable_are_changed_on_commit() {
    everywhere(|| {
        let journal = Journal::new(Slow::new(&MemoryStore::new(), 300, 5));
        let (alice, rate, told) = (account(&journal, "alice"), Cown::new(3), Cown::new(Vec::new()));
        let far = told.clone();
        when((&alice, rate.read()), move |(alice, rate)| {
            alice.persist(Changed { by: 10 * rate });
            let balance = alice.balance;
            alice.on_commit(move || when(&far, move |told| told.push(balance)));
        });
        assert_eq!(call(&alice, |alice| alice.balance).wait(), Ok(30));
        // Spawned before the step's end, so before this.
        assert_eq!(call(&told, |told| told.clone()).wait(), Ok(vec![30]));
    });
}

#[test]
fn e9_a_closure_that_spawns_by_itself_is_refused() {
    everywhere_with_faults(|_| {
        let alice = account(&Journal::new(MemoryStore::new()), "alice");
        let other = Cown::new(0);
        let refused = call(&alice, move |alice| {
            alice.persist(Changed { by: 1 });
            when(&other, |n| *n += 1);
        });
        let refused = refused.wait();
        let Err(Broken::Panicked(why)) = refused else { panic!("{refused:?}") };
        assert!(why.contains("on_commit"), "{why}");
        assert_eq!(call(&alice, |alice| alice.balance).wait(), Ok(0));
    });
}

#[test]
fn e11_a_closure_that_panics_stores_nothing_of_any_member() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 300, 6));
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        alice.send(Deposit(1)).unwrap();
        let failed = call((&alice, &bob), |(alice, bob)| {
            alice.persist(Changed { by: 10 });
            bob.persist(Changed { by: 10 });
            panic!("half way");
        });
        let next = call((&alice, &bob), |(alice, bob)| (alice.balance, bob.balance));
        assert_eq!(failed.wait(), Err(Broken::Panicked("half way".into())));
        assert_eq!(next.wait(), Ok((1, 0)));
        assert_eq!((found(&store, "alice").balance, found(&store, "bob").balance), (1, 0));
    });
}

#[test]
fn e3_members_of_two_stores_are_refused() {
    everywhere_with_faults(|_| {
        let (one, other) = (Journal::new(MemoryStore::new()), Journal::new(MemoryStore::new()));
        let (alice, bob) = (account(&one, "alice"), account(&other, "bob"));
        let refused = call((&alice, &bob), |(alice, bob)| {
            alice.persist(Changed { by: 1 });
            bob.persist(Changed { by: 1 });
        });
        match refused.wait() {
            Err(Broken::NotCommitted(why)) => {
                assert_eq!(why.why::<DifferentStores>(), Some(&DifferentStores))
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(
            call((&alice, &bob), |(alice, bob)| (alice.balance, bob.balance)).wait(),
            Ok((0, 0))
        );
        assert!(matches!(
            coact::try_when((&alice, &alice), |_| ()).unwrap_err().refusal,
            Refusal::Overlap(_)
        ));
    });
}

/// States can be exchanged by safe code alone, since a closure gets two of one type.
#[test]
fn e1_histories_cannot_be_exchanged() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone());
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        alice.ask(Deposit(1)).wait().unwrap();
        let swapped = call((&alice, &bob), |(alice, bob)| {
            std::mem::swap(alice, bob);
            alice.persist(Changed { by: 5 });
        });
        let swapped = swapped.wait();
        let Err(Broken::Panicked(why)) = swapped else { panic!("{swapped:?}") };
        assert!(why.contains("exchanged"), "{why}");
        assert_eq!((alice.ask(Balance).wait(), bob.ask(Balance).wait()), (Ok(1), Ok(0)));
        assert_eq!((found(&store, "alice").balance, found(&store, "bob").balance), (1, 0));
    });
}

/// Transfers among accounts, commands among them, and readers: no money comes or goes, in memory or
/// in the store.
#[test]
fn e3_random_steps_keep_the_sum() {
    const ACCOUNTS: usize = 6;
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 100, 7));
        let keys: Arc<Vec<String>> = Arc::new((0..ACCOUNTS).map(|n| n.to_string()).collect());
        let all: Addresses = keys.iter().map(|key| account(&journal, key)).collect();
        all.iter().for_each(|one| one.send(Deposit(100)).unwrap());
        let mut dice = Dice::new(8);
        for _ in 0..60 {
            let (from, to) = (dice.below(ACCOUNTS), dice.below(ACCOUNTS));
            if from == to {
                let sum =
                    call(read_all(&all), |all| all.iter().map(|one| one.balance).sum::<i64>());
                finally_is(sum, 100 * ACCOUNTS as i64);
                continue;
            }
            let by = dice.below(50) as i64;
            when((&all[from], &all[to]), move |(from, to)| {
                if from.balance >= by {
                    from.persist(Changed { by: -by });
                    to.persist(Changed { by });
                }
            });
        }
        let balances =
            call(&all, |all| all.iter().map(|one| one.balance).collect::<Vec<_>>()).wait().unwrap();
        assert_eq!(balances.iter().sum::<i64>(), 100 * ACCOUNTS as i64);
        for (key, balance) in keys.iter().zip(balances) {
            let stored = found(&store, key);
            assert_eq!((stored.balance, stored.changes.iter().sum::<i64>()), (balance, balance));
            assert!(balance >= 0);
        }
    });
}

fn finally_is(sum: Promise<i64>, right: i64) {
    coact_tests::finally(move || assert_eq!(sum.wait(), Ok(right)));
}

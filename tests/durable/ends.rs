//! Ends: of actors, of addresses, of runtimes.

use std::time::Duration;

use coact::Broken;
use coact::actor::{AskError, ExitReason};
use coact::durable::{Durable, Journal, MemoryStore, pipelined};
use coact::prelude::*;
use coact::supervise::{Supervisor, permanent};
use coact_tests::{Faults, everywhere, everywhere_with_faults, runtime};

use crate::bank::{Account, Balance, Changed, Deposit, account, found};
use crate::manual::Manual;
use crate::slow::Slow;

/// The next actor of an entity waits for the one before, which handles what was sent to it.
#[test]
fn e4_commands_of_addresses_that_are_gone_come_before_those_of_the_next() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 200, 1));
        let mut asked = Vec::new();
        for n in 1..=8 {
            let alice = account(&journal, "alice");
            asked.push(alice.ask(Deposit(n)));
            when(&alice, |alice| alice.persist(Changed { by: 0 }));
        }
        let mut sum = 0;
        for (n, asked) in (1..).zip(asked) {
            sum += n;
            assert_eq!(asked.wait(), Ok(sum));
        }
        let all = call(&account(&journal, "alice"), |alice| alice.changes.clone());
        assert_eq!(all.wait(), Ok((1..=8).flat_map(|n| [n, 0]).collect()));
    });
}

/// A fresh address belongs to an actor that takes messages, even if the last
/// address before has just been dropped.
#[test]
fn e4_addresses_of_a_moment_are_good() {
    everywhere(|| {
        let journal = Journal::new(MemoryStore::new());
        let mut told = Vec::new();
        for n in 1..=60 {
            assert_eq!(account(&journal, "alice").ask(Deposit(1)).wait(), Ok(2 * n - 1));
            told.push(call(&account(&journal, "alice"), |alice| alice.persist(Changed { by: 1 })));
        }
        told.into_iter().for_each(|told| assert_eq!(told.wait(), Ok(())));
    });
}

/// The same by several threads.
#[test]
fn e4_addresses_of_a_moment_are_good_on_many_threads() {
    let journal = Journal::new(MemoryStore::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..400 {
                    assert!(account(&journal, "alice").ask(Deposit(1)).wait().is_ok());
                }
            });
        }
    });
    assert_eq!(account(&journal, "alice").ask(Balance).wait(), Ok(1_200));
}

#[test]
fn e4_addresses_of_a_moment_are_good_on_simulated_threads() {
    coact::sim::Sim::new().config(coact::sim::Config::new().runs(60)).check(|| {
        let journal = Journal::new(MemoryStore::new());
        let far = journal.clone();
        let other = coact::sim::thread(move || {
            (0..3).for_each(|_| assert!(account(&far, "alice").ask(Deposit(1)).wait().is_ok()));
        });
        (0..3).for_each(|_| assert!(account(&journal, "alice").ask(Deposit(1)).wait().is_ok()));
        other.wait().unwrap();
        assert_eq!(account(&journal, "alice").ask(Balance).wait(), Ok(6));
    });
}

#[test]
fn e8_one_journal_has_one_actor_for_an_entity() {
    everywhere(|| {
        let journal = Journal::new(MemoryStore::new());
        let all: Vec<_> = (0..3).map(|_| account(&journal, "alice")).collect();
        assert!(all.iter().all(|address| address.id() == all[0].id()));
        assert_ne!(account(&journal, "bob").id(), all[0].id());
    });
}

/// Whether it is dropped or closed, the journal releases the actors that it kept in the same order.
#[test]
fn p10_the_end_of_a_journal_is_the_same_in_each_run() {
    for is_closed in [false, true] {
        let config = coact::sim::Config::new().runs(20);
        coact::sim::Sim::new().config(config).check_determinism(move || {
            let journal = Journal::new(MemoryStore::new());
            for key in ["alice", "bob", "carol", "dave"] {
                drop(account(&journal, key).ask(Deposit(1)));
            }
            if is_closed {
                let _ = journal.close(Duration::from_secs(1)).wait();
            }
        });
    }
}

#[test]
fn e4_what_is_on_its_way_when_an_actor_ends_is_answered() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 200, 2));
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let asked = alice.ask(Deposit(1));
        alice.drain().unwrap();
        assert_eq!(asked.wait(), Ok(2));
        assert_eq!(alice.ended().wait(), Ok(ExitReason::Shutdown));
        assert_eq!(account(&journal, "alice").ask(Balance).wait(), Ok(2));
    });
}

#[test]
fn e11_a_restart_recovers_what_is_stored() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 200, 3));
        let supervisor = Supervisor::dynamic().spawn();
        let far = journal.clone();
        let child = permanent(move || far.durable::<Account>("alice"));
        let alice = supervisor.start_child(child).wait().unwrap();
        let before: Vec<_> = (1..=3).map(|n| alice.ask(Deposit(n))).collect();
        alice.restart().unwrap();
        let after = alice.ask(Deposit(4));
        let told: Vec<_> = before.into_iter().chain([after]).map(|asked| asked.wait()).collect();
        assert_eq!(told, [Ok(1), Ok(3), Ok(6), Ok(10)]);
        let panicked = call(&alice, |alice| {
            alice.persist(Changed { by: 100 });
            panic!("half way");
        });
        assert!(panicked.wait().is_err());
        assert_eq!(alice.ask(Balance).wait(), Ok(10));
        assert_eq!(found(&store, "alice").changes, [1, 2, 3, 4]);
    });
}

#[test]
fn e12_a_shutdown_waits_for_what_is_on_its_way() {
    for _ in 0..20 {
        let store = MemoryStore::new();
        let runtime = runtime(2, &Faults::new());
        let (asked, called) = {
            let _entered = runtime.enter();
            let alice = account(&Journal::new(Slow::new(&store, 2_000, 4)), "alice");
            let asked: Vec<_> = (0..10).map(|_| alice.ask(Deposit(1))).collect();
            let changes = |alice: &mut Durable<Account>| alice.persist(Changed { by: 1 });
            let mut called = vec![call(&alice, changes)];
            called.extend((0..5).map(|_| call(pipelined(&alice), changes)));
            (asked, called)
        };
        let report = runtime.shutdown(Duration::from_secs(60));
        assert!(report.is_complete(), "{report:?}");
        let told: Vec<_> = asked.into_iter().map(|asked| asked.wait()).collect();
        let called: Vec<_> = called.into_iter().map(|called| called.wait()).collect();
        let stored = told.iter().filter(|told| told.is_ok()).count() as i64
            + called.iter().filter(|told| told.is_ok()).count() as i64;
        let again = coact_tests::runtime(1, &Faults::new());
        assert_eq!(again.run(|| found(&store, "alice").balance), stored);
    }
}

/// A journal outlives a runtime.
#[test]
fn e12_a_journal_serves_one_runtime_after_the_other() {
    let store = MemoryStore::new();
    let journal = Journal::new(store.clone());
    for n in 1..=5 {
        let runtime = runtime(2, &Faults::new());
        assert_eq!(runtime.run(|| account(&journal, "alice").ask(Deposit(1)).wait()), Ok(n));
    }
}

/// The store does not answer, and the runtime does not wait forever: every wait ends.
#[test]
fn e12_what_is_not_known_at_the_deadline_is_told_to_be_cancelled() {
    let store = Manual::default();
    let ended = runtime(2, &Faults::new());
    let (asked, called) = {
        let _entered = ended.enter();
        let journal = Journal::new(store.clone());
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        call((&alice, &bob), |_| ()).wait().unwrap();
        store.hold();
        let asked = [alice.ask(Deposit(1)), alice.ask(Balance)];
        let both = call(pipelined((&alice, &bob)), |(alice, bob)| {
            alice.persist(Changed { by: 1 });
            bob.persist(Changed { by: 1 });
        });
        let called = [both, call(pipelined((alice.read(), &bob)), |_| ())];
        while store.len() < 2 {
            std::thread::yield_now();
        }
        (asked, called)
    };
    assert!(!ended.shutdown(Duration::from_millis(50)).is_complete());
    asked.into_iter().for_each(|asked| assert_eq!(asked.wait(), Err(AskError::Cancelled)));
    called.into_iter().for_each(|called| assert_eq!(called.wait(), Err(Broken::Cancelled)));
    // It may be stored all the same.
    store.release();
    let again = runtime(1, &Faults::new());
    assert_eq!(again.run(|| found(&store.1, "alice").balance), 2);
}

//! Failures of a store, and what the program learns of them.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use coact::Broken;
use coact::actor::AskError;
use coact::durable::store::{
    Commit, InTransit, StoreCallback, StoreFault, StoreOperation, StoreOutcome,
};
use coact::durable::{CommitRefusal, Journal, MemoryStore, NotCommitted, Store, StoreError};
use coact::prelude::*;
use coact_tests::{everywhere, everywhere_with_faults};

use crate::bank::{Balance, Changed, Deposit, account, found};
use crate::layers::{Layer, Work, layer};
use crate::slow::Slow;

pub fn is_unavailable(why: &NotCommitted) -> bool {
    let by_refusal =
        matches!(why.why(), Some(CommitRefusal::Store(StoreError::Unavailable { .. })));
    by_refusal || matches!(why.why(), Some(StoreError::Unavailable { .. }))
}

/// Makes the next commits fail like this.
fn fail_commits(store: &MemoryStore, times: u32, fault: StoreFault) {
    let left = AtomicU32::new(times);
    store.fail(move |operation| match operation {
        StoreOperation::Commit(_)
            if left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() =>
        {
            fault.clone()
        }
        _ => StoreFault::None,
    });
}

#[test]
fn e5_what_the_store_refuses_has_not_happened() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 200, 1));
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        assert_eq!(bob.ask(Deposit(1)).wait(), Ok(1));
        fail_commits(&store, 1, StoreFault::Unavailable);
        let refused = call((&alice, &bob), |(alice, bob)| {
            alice.persist(Changed { by: -1 });
            bob.persist(Changed { by: 1 });
        });
        let next = call((&alice, &bob), |(alice, bob)| (alice.balance, bob.balance));
        match refused.wait() {
            Err(Broken::NotCommitted(why)) => assert!(is_unavailable(&why), "{why}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(next.wait(), Ok((1, 1)));
        assert_eq!((found(&store, "alice").balance, found(&store, "bob").balance), (1, 1));
    });
}

/// Commands are decided on states that are not stored yet: if one is refused, so are those behind
/// it.
#[test]
fn e5_commands_behind_one_that_is_refused_have_not_happened_either() {
    everywhere(|| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(Slow::new(&store, 200, 2)), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        fail_commits(&store, 1, StoreFault::Unavailable);
        let asked: Vec<_> = (0..6).map(|_| alice.ask(Deposit(10))).collect();
        let told: Vec<_> = asked.into_iter().map(Ask::wait).collect();
        let kept = told.iter().filter(|told| told.is_ok()).count() as i64;
        assert!(
            matches!(&told[0], Err(AskError::NotCommitted(why)) if is_unavailable(why)),
            "{told:?}"
        );
        // What was decided behind the refusal was decided on what is stored.
        assert_eq!(alice.ask(Balance).wait(), Ok(1 + 10 * kept));
        for (n, told) in (1..).zip(told.iter().filter_map(|told| told.as_ref().ok())) {
            assert_eq!(*told, 1 + 10 * n);
        }
        assert_eq!(found(&store, "alice").balance, 1 + 10 * kept);
    });
}

#[test]
fn e6_a_lost_answer_is_settled_and_told_as_it_is() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 200, 3));
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        fail_commits(&store, 2, StoreFault::AnswerLost);
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let moved = call((&alice, &bob), |(alice, bob)| {
            alice.persist(Changed { by: -1 });
            bob.persist(Changed { by: 1 });
        });
        assert_eq!(moved.wait(), Ok(()));
        assert_eq!((found(&store, "alice").balance, found(&store, "bob").balance), (0, 1));
    });
}

/// A commit that is still in transit may come after its members were told that it has not happened:
/// it does not.
#[test]
fn e6_a_commit_that_is_on_its_way_when_it_is_settled_comes_too_late() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 200, 4));
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        assert_eq!(alice.ask(Deposit(5)).wait(), Ok(5));
        let held = InTransit::new();
        fail_commits(&store, 1, StoreFault::InTransit(held.clone()));
        let moved = call((&alice, &bob), |(alice, bob)| {
            alice.persist(Changed { by: -1 });
            bob.persist(Changed { by: 1 });
        });
        let behind = call((&alice, &bob), |(alice, bob)| (alice.balance, bob.balance));
        match moved.wait() {
            Err(Broken::NotCommitted(why)) => assert_eq!(why.why(), Some(&CommitRefusal::Aborted)),
            other => panic!("{other:?}"),
        }
        assert_eq!(behind.wait(), Ok((5, 0)));
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(6));
        let late = held.let_through(&store);
        assert_eq!(late, [StoreOutcome::Refused(CommitRefusal::Aborted)]);
        assert_eq!((found(&store, "alice").balance, found(&store, "bob").balance), (6, 0));
    });
}

/// The members are held until the outcome is known, however long the store cannot be reached.
#[test]
fn e6_members_are_held_until_an_unknown_outcome_is_settled() {
    everywhere(|| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let (is_down, tries) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicU32::new(0)));
        let (far, tried) = (Arc::clone(&is_down), Arc::clone(&tries));
        store.fail(move |operation| match operation {
            StoreOperation::Commit(_) if tried.load(SeqCst) == 0 => StoreFault::AnswerLost,
            StoreOperation::Settle(_) => {
                // It comes back at the fourth try.
                if tried.fetch_add(1, SeqCst) == 3 {
                    far.store(false, SeqCst);
                }
                if far.load(SeqCst) { StoreFault::Unavailable } else { StoreFault::None }
            }
            _ => StoreFault::None,
        });
        let unknown = call(&alice, |alice| alice.persist(Changed { by: 1 }));
        let far = Arc::clone(&is_down);
        let behind = call(&alice, move |alice| (alice.balance, far.load(SeqCst)));
        assert_eq!((unknown.wait(), behind.wait()), (Ok(()), Ok((2, false))));
        assert!(tries.load(SeqCst) >= 4);
    });
}

pub fn pass(time: Duration) {
    let (resolver, passed) = Promise::channel();
    coact::time::after(time, (), move |()| resolver.resolve(()));
    passed.wait().unwrap();
}

#[test]
fn e10_while_the_store_is_down_things_wait_and_then_fail_and_then_work_again() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::builder(store.clone()).patience(Duration::from_millis(30)).build();
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        store.fail(|_| StoreFault::Unavailable);
        let refused: Vec<_> = (0..5).map(|_| alice.ask(Deposit(10))).collect();
        let behind = call(&alice, |alice| alice.balance);
        for refused in refused {
            match refused.wait() {
                Err(AskError::NotCommitted(why)) => assert!(is_unavailable(&why), "{why}"),
                other => panic!("{other:?}"),
            }
        }
        match behind.wait() {
            Err(Broken::NotCommitted(why)) => assert!(is_unavailable(&why), "{why}"),
            other => panic!("{other:?}"),
        }
        store.heal();
        // It comes back by itself: what is told until then is that it has not.
        let back = loop {
            match alice.ask(Deposit(2)).wait() {
                Err(AskError::NotCommitted(_)) => pass(Duration::from_millis(10)),
                told => break told,
            }
        };
        assert_eq!(back, Ok(3));
        assert_eq!(found(&store, "alice").changes, [1, 2]);
    });
}

/// An outage that is shorter than the patience only delays.
#[test]
fn e10_a_short_outage_while_recovering_is_not_seen() {
    everywhere(|| {
        let store = MemoryStore::new();
        let left = AtomicU32::new(4);
        store.fail(move |_| match left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => StoreFault::Unavailable,
            Err(_) => StoreFault::None,
        });
        let alice = account(&Journal::new(store.clone()), "alice");
        let (asked, called) = (alice.ask(Deposit(1)), call(&alice, |alice| alice.balance));
        assert_eq!((asked.wait(), called.wait()), (Ok(1), Ok(1)));
    });
}

/// A store that drops a request is like one whose answer was lost.
#[test]
fn e6_a_store_that_drops_an_answer_has_lost_it() {
    struct Forgetful(MemoryStore);
    layer!(Forgetful);
    impl Layer for Forgetful {
        fn pass(&self, work: Work) {
            work(&self.0);
        }

        fn take_commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
            drop(done);
            self.0.commit(commit, Box::new(drop));
        }
    }
    everywhere(|| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(Forgetful(store.clone())), "alice");
        // It came behind its settling.
        let told = alice.ask(Deposit(1)).wait();
        let kept = found(&store, "alice").balance;
        match told {
            Ok(balance) => assert_eq!((balance, kept), (1, 1)),
            Err(AskError::NotCommitted(_)) => assert_eq!(kept, 0),
            other => panic!("{other:?}"),
        }
    });
}

/// Its commits never end: a shutdown ends at its deadline, and says so to what waits.
#[test]
fn e12_a_store_that_hangs_does_not_keep_a_runtime_from_its_end() {
    let store = MemoryStore::new();
    let held = InTransit::new();
    let runtime = coact_tests::runtime(2, &coact_tests::Faults::new());
    let (moved, asked) = {
        let _entered = runtime.enter();
        let journal = Journal::new(store.clone());
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        assert_eq!(bob.ask(Deposit(1)).wait(), Ok(1));
        let hangs = held.clone();
        store.fail(move |operation| match operation {
            StoreOperation::Commit(_) => StoreFault::InTransit(hangs.clone()),
            _ => StoreFault::Unavailable,
        });
        (call(&alice, |alice| alice.persist(Changed { by: 1 })), bob.ask(Deposit(1)))
    };
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send((moved.wait(), asked.wait())));
    let report = runtime.shutdown(Duration::from_millis(100));
    assert!(!report.is_complete());
    let (moved, asked) = told.recv_timeout(coact_tests::PATIENCE).unwrap();
    assert!(matches!(moved, Err(Broken::Cancelled)), "{moved:?}");
    assert!(matches!(asked, Err(AskError::Cancelled)), "{asked:?}");
}

#[test]
fn e5_effects_of_what_is_refused_are_dropped() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        let told = Cown::new(0);
        fail_commits(&store, 1, StoreFault::Unavailable);
        let far = told.clone();
        let refused = call(&alice, move |alice| {
            alice.persist(Changed { by: 1 });
            alice.on_commit(move || when(&far, |told| *told += 1));
        });
        assert!(matches!(refused.wait(), Err(Broken::NotCommitted(_))));
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        assert_eq!(call(&told, |told| *told).wait(), Ok(0));
    });
}

/// As in the guide: the simulation explores which faults come.
#[test]
fn faults_are_chosen_under_simulation() {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    static STORED: AtomicUsize = AtomicUsize::new(0);
    static REFUSED: AtomicUsize = AtomicUsize::new(0);
    let config = coact::sim::Config::new().runs(60);
    coact::sim::Sim::new().config(config).check(|| {
        let store = MemoryStore::new();
        store.fail(|operation| match operation {
            StoreOperation::Commit(_) if coact::sim::choose(2) == 1 => StoreFault::Unavailable,
            _ => StoreFault::None,
        });
        let journal = Journal::new(store);
        let alice = account(&journal, "alice");
        let told: Vec<_> = (0..3).map(|_| alice.ask(Deposit(1))).collect();
        let told = told.into_iter().filter_map(|one| one.wait().ok()).count();
        STORED.fetch_add(told, Relaxed);
        REFUSED.fetch_add(3 - told, Relaxed);
        assert_eq!(alice.ask(Balance).wait(), Ok(told as i64));
    });
    assert!(STORED.load(Relaxed) > 30, "{STORED:?}");
    assert!(REFUSED.load(Relaxed) > 30, "{REFUSED:?}");
}

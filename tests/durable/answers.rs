//! What is told without an answer, and whether what was decided is stored: each row of the guide's
//! table that has no test elsewhere.

use std::time::Duration;

use coact::actor::{AskError, actor};
use coact::durable::store::{StoreFault, StoreOperation};
use coact::durable::{Journal, MemoryStore, pipelined};
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::{Broken, try_call};
use coact_tests::{everywhere, everywhere_with_faults};

use crate::bank::{Account, Balance, Changed, Deposit, account, found};
use crate::manual::Manual;

#[test]
fn what_an_actor_that_has_ended_was_asked_is_not_decided() {
    everywhere_with_faults(|_| {
        let store = Manual::default();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        store.hold();
        let (resolver, is_decided) = Promise::channel();
        let decided = alice.ask(Deposit(2));
        when(pipelined(&alice), move |_| resolver.resolve(()));
        is_decided.wait().unwrap();
        alice.kill().unwrap();
        let late = alice.ask(Deposit(8));
        let called = try_call(&alice, |alice| alice.persist(Changed { by: 16 }));
        // What was decided before is answered all the same.
        store.release();
        assert_eq!(decided.wait(), Ok(3));
        assert_eq!(late.wait(), Err(AskError::Stopped(ExitReason::Killed)));
        let called = called.map(Promise::wait);
        let is_closed = |told: &Result<(), Broken>| *told == Err(Broken::Closed { position: 0 });
        assert!(called.as_ref().map_or(true, is_closed), "{called:?}");
        assert_eq!(found(&store.1, "alice").changes, [1, 2]);
    });
}

#[test]
fn what_a_full_mailbox_refuses_is_not_decided() {
    everywhere_with_faults(|_| {
        let store = Manual::default();
        let journal = Journal::new(store.clone());
        let alice =
            actor(journal.durable::<Account>("alice")).mailbox(Mailbox::bounded(1).fail()).spawn();
        assert_eq!(alice.ask(Balance).wait(), Ok(0));
        // While the actor waits for a commit, one message waits, and no other has room.
        store.hold();
        let step = call(&alice, |alice| alice.persist(Changed { by: 1 }));
        let asked: Vec<_> = (1..=3).map(|n| alice.ask(Deposit(10 * n))).collect();
        let far = store.clone();
        coact::time::after(Duration::from_micros(10), (), move |()| far.release());
        step.wait().unwrap();
        let told: Vec<_> = asked.into_iter().map(Ask::wait).collect();
        let full = told.iter().filter(|told| **told == Err(AskError::Full)).count();
        assert!(full >= 1, "{told:?}");
        assert_eq!(found(&store.1, "alice").changes.len(), 1 + told.len() - full);
    });
}

#[test]
fn a_command_goes_on_though_its_asker_has_given_up() {
    everywhere(|| {
        let store = Manual::default();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Balance).wait(), Ok(0));
        store.hold();
        let limit = Duration::from_micros(50);
        let asked = alice.ask(Deposit(5)).timeout(limit);
        assert_eq!(asked.wait(), Err(AskError::Timeout(limit)));
        store.release();
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(6));
        assert_eq!(found(&store.1, "alice").changes, [5, 1]);
    });
}

/// An effect is dropped with what is not stored, and with it a promise's resolver.
#[test]
fn a_promise_of_an_effect_is_dropped_with_what_is_not_stored() {
    everywhere(|| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        for is_stored in [true, false] {
            if !is_stored {
                store.fail(|operation| match operation {
                    StoreOperation::Commit(_) => StoreFault::Unavailable,
                    _ => StoreFault::None,
                });
            }
            let (resolver, effect) = Promise::channel();
            let told = call(&alice, |alice| {
                alice.persist(Changed { by: 2 });
                alice.on_commit(move || resolver.resolve(7));
            });
            assert_eq!(effect.wait(), if is_stored { Ok(7) } else { Err(Broken::Dropped) });
            assert_eq!(told.wait().is_ok(), is_stored);
        }
        store.heal();
        assert_eq!(found(&store, "alice").changes, [1, 2]);
    });
}

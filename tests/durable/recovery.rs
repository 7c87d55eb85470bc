//! Recovery of entities from the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use coact::Broken;
use coact::actor::{AskError, ExitReason};
use coact::durable::store::{
    Claim, Commit, CommitMember, StoreCallback, StoreOutcome, StoreReader, StoredEvent, read, wait,
    write,
};
use coact::durable::{
    CommitRefusal, EntityId, Event, EventSourced, Journal, MemoryStore, Once, RecoveryError,
    RecoveryFault, Seq, Store, StoreError,
};
use coact::prelude::*;
use coact_tests::{Dice, everywhere, everywhere_with_faults};

use crate::bank::{Account, Balance, Changed, Deposit, UNLUCKY, account, found};
use crate::layers::{Layer, Work, layer};
use crate::slow::Slow;

fn events_of(store: &MemoryStore, key: &str) -> Vec<StoredEvent> {
    let id = EntityId::new(Account::KIND, key);
    wait(|done| store.events(id, Seq::ZERO, usize::MAX, done)).unwrap()
}

fn replayed(store: &MemoryStore, key: &str) -> Account {
    let mut account = Account::default();
    for stored in events_of(store, key) {
        account.apply(&read::<Changed>(&stored.event).unwrap());
    }
    account
}

#[test]
fn e7_a_state_is_recovered_before_its_first_message() {
    everywhere(|| {
        let store = MemoryStore::new();
        let slow = Slow::new(&store, 300, 1);
        let asked: Vec<_> = {
            let alice = account(&Journal::new(slow.clone()), "alice");
            (1..=7).map(|n| alice.ask(Deposit(n))).collect()
        };
        asked.into_iter().for_each(|asked| assert!(asked.wait().is_ok()));
        let again = account(&Journal::new(slow), "alice");
        let (seen, asked) = (call(&again, |alice| alice.changes.clone()), again.ask(Balance));
        assert_eq!(seen.wait(), Ok((1..=7).collect()));
        assert_eq!(asked.wait(), Ok(28));
    });
}

/// Snapshots come with every fifth event at least, so the tails have all lengths.
#[test]
fn e7_a_snapshot_and_what_follows_it_are_the_whole_history() {
    everywhere(|| {
        let (store, mut dice) = (MemoryStore::new(), Dice::new(2));
        for _ in 0..12 {
            let alice = account(&Journal::new(store.clone()), "alice");
            for _ in 0..dice.below(6) {
                let changes: Vec<_> = (0..=dice.below(3)).map(|_| dice.below(100) as i64).collect();
                when(&alice, move |alice| {
                    changes.iter().for_each(|by| alice.persist(Changed { by: *by }))
                });
            }
            let seen = call(&alice, |alice| (**alice).clone()).wait().unwrap();
            assert_eq!(seen, replayed(&store, "alice"));
            assert_eq!(seen, found(&store, "alice"));
        }
        let snapshot =
            wait(|done| store.claim(EntityId::new(Account::KIND, "alice"), done)).unwrap().snapshot;
        assert!(snapshot.is_some_and(|snapshot| snapshot.seq > Seq::ZERO));
    });
}

#[test]
fn e8_an_owner_that_was_replaced_stores_nothing_and_stops() {
    everywhere(|| {
        let store = MemoryStore::new();
        let first = Journal::new(Slow::new(&store, 200, 3));
        let old = account(&first, "alice");
        assert_eq!(old.ask(Deposit(1)).wait(), Ok(1));
        let new = account(&Journal::new(store.clone()), "alice");
        assert_eq!(new.ask(Deposit(2)).wait(), Ok(3));
        let refused = old.ask(Deposit(4)).wait();
        let Err(AskError::NotCommitted(why)) = refused else { panic!("{refused:?}") };
        assert!(matches!(why.why(), Some(CommitRefusal::Fenced { .. })), "{why}");
        let ended = old.ended().wait().unwrap();
        assert!(
            matches!(&ended, ExitReason::Failed(why) if why.contains("bank.account/alice")),
            "{ended}"
        );
        assert_eq!(new.ask(Balance).wait(), Ok(3));
        // It is claimed again if it is wanted here.
        assert_eq!(account(&first, "alice").ask(Deposit(8)).wait(), Ok(11));
        let fenced = call(&new, |new| new.persist(Changed { by: 16 })).wait();
        assert!(matches!(fenced, Err(Broken::NotCommitted(_))), "{fenced:?}");
        assert_eq!(found(&store, "alice").changes, [1, 2, 8]);
    });
}

/// However often they do, exactly what was reported is stored.
#[test]
fn e8_owners_that_replace_each_other_are_not_told_of_damage() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journals = [1, 2].map(|seed| Journal::new(Slow::new(&store, 50, seed)));
        let mut stored = 0;
        for _ in 0..20 {
            let asked: Vec<_> = journals
                .iter()
                .flat_map(|journal| [1, 1, 1].map(|by| account(journal, "alice").ask(Deposit(by))))
                .collect();
            for asked in asked {
                match asked.wait() {
                    Ok(_) => stored += 1,
                    Err(error) => assert!(!error.to_string().contains("backup"), "{error}"),
                }
            }
        }
        assert_eq!(events_of(&store, "alice").len(), stored);
    });
}

#[test]
fn e8_a_step_that_has_read_a_replaced_owner_is_refused() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 200, 4));
        let (rate, alice) = (account(&journal, "rate"), account(&journal, "alice"));
        rate.ask(Deposit(3)).wait().unwrap();
        let elsewhere = account(&Journal::new(store.clone()), "rate");
        elsewhere.ask(Deposit(1)).wait().unwrap();
        let refused = call((&alice, rate.read()), |(alice, rate)| {
            alice.persist(Changed { by: rate.balance })
        });
        let refused = refused.wait();
        let Err(Broken::NotCommitted(why)) = refused else { panic!("{refused:?}") };
        assert!(matches!(why.why(), Some(CommitRefusal::Fenced { .. })), "{why}");
        assert_eq!(alice.ask(Balance).wait(), Ok(0));
        assert_eq!(found(&store, "alice"), Account::default());
    });
}

/// A store in memory of which another owner takes an entity, once, between a claim and the reading
/// of its events.
#[derive(Clone)]
struct Interrupted(MemoryStore, Arc<AtomicBool>, fn(&mut CommitMember, &Claim));

layer!(Interrupted);

impl Layer for Interrupted {
    fn pass(&self, work: Work) {
        work(&self.0);
    }

    fn read_events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        let Self(store, was_taken, write) = self;
        if !was_taken.swap(true, SeqCst) {
            let claim = wait(|done| store.claim(entity.clone(), done)).unwrap();
            let mut commit = Commit::new();
            write(commit.member(entity.clone(), claim.epoch, claim.last), &claim);
            let outcome = wait(|done| store.commit(commit, done));
            assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
        }
        store.events(entity, after, most, done);
    }
}

/// Asks an entity with two events through a journal to which that happens.
fn ask_interrupted(
    store: &MemoryStore,
    write: fn(&mut CommitMember, &Claim),
) -> Result<i64, AskError> {
    let alice = account(&Journal::new(store.clone()), "alice");
    (1..=2).for_each(|n| assert!(alice.ask(Deposit(n)).wait().is_ok()));
    drop(alice);
    let interrupted = Interrupted(store.clone(), Arc::default(), write);
    account(&Journal::new(interrupted), "alice").ask(Deposit(4)).wait()
}

#[test]
fn e8_what_another_owner_has_stored_since_the_claim_is_no_damage() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let asked = ask_interrupted(&store, |member, claim| {
            member.event(write(&Changed { by: 16 }).unwrap(), claim.hash);
        });
        let Err(AskError::NotCommitted(why)) = asked else { panic!("{asked:?}") };
        assert!(matches!(why.why(), Some(CommitRefusal::Fenced { .. })), "{why}");
        assert_eq!(events_of(&store, "alice").len(), 3);
    });
}

#[test]
fn e8_what_another_owner_has_removed_since_the_claim_is_not_missing() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let asked = ask_interrupted(&store, |member, _| member.delete());
        assert_eq!(asked, Ok(4));
        assert_eq!(events_of(&store, "alice").len(), 1);
    });
}

/// A store in memory that shows other events than it has.
#[derive(Clone)]
struct Tampered(MemoryStore, Tamper);

type Tamper = Arc<dyn Fn(&mut Vec<StoredEvent>) + Send + Sync>;

layer!(Tampered);

impl Layer for Tampered {
    fn pass(&self, work: Work) {
        work(&self.0);
    }

    fn read_events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        let tamper = Arc::clone(&self.1);
        let tampered = move |events: Result<Vec<StoredEvent>, _>| {
            done(events.map(|mut events| {
                tamper(&mut events);
                events
            }));
        };
        self.0.events(entity, after, most, Box::new(tampered));
    }
}

/// Three events, as a store shows them: none is recovered, what is stored is as before, and the
/// error says which.
#[track_caller]
fn is_refused_at(
    seq: u64,
    tamper: fn(&mut Vec<StoredEvent>),
    is_right: fn(&RecoveryFault) -> bool,
) {
    everywhere_with_faults(move |_| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        (1..=3).for_each(|n| assert!(alice.ask(Deposit(n)).wait().is_ok()));
        drop(alice);
        let before = events_of(&store, "alice");
        let alice = account(&Journal::new(Tampered(store.clone(), Arc::new(tamper))), "alice");
        let (asked, called) =
            (alice.ask(Deposit(4)), call(&alice, |alice| alice.persist(Changed { by: 5 })));
        let ended = alice.ended().wait().unwrap();
        let ExitReason::Failed(reason) = ended else { panic!("{ended}") };
        assert!(
            reason
                .contains(&format!("`bank.account/alice` cannot be recovered from event {seq} on")),
            "{reason}"
        );
        match asked.wait() {
            Err(AskError::NotCommitted(why)) => assert_is(why.why(), seq, is_right),
            Err(AskError::Stopped(ExitReason::Failed(other))) => assert_eq!(other, reason),
            other => panic!("{other:?}"),
        }
        match called.wait() {
            Err(Broken::NotCommitted(why)) => assert_is(why.why(), seq, is_right),
            Err(Broken::Closed { position: 0 }) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(events_of(&store, "alice"), before);
    });
}

#[track_caller]
fn assert_is(error: Option<&RecoveryError>, seq: u64, is_right: fn(&RecoveryFault) -> bool) {
    let error = error.expect("it cannot be recovered");
    assert_eq!((error.entity.key(), error.seq), ("alice", Seq::new(seq)));
    assert!(is_right(&error.why), "{error}");
}

#[test]
fn e7_an_event_that_is_missing_is_named() {
    let in_the_middle =
        |events: &mut Vec<StoredEvent>| drop((events.len() == 3).then(|| events.remove(1)));
    is_refused_at(2, in_the_middle, |why| {
        *why == RecoveryFault::Missing { found: Some(Seq::new(3)) }
    });
    let the_last = |events: &mut Vec<StoredEvent>| events.retain(|event| event.seq < Seq::new(3));
    is_refused_at(3, the_last, |why| *why == RecoveryFault::Missing { found: None });
}

#[test]
fn e7_an_event_that_was_changed_is_named() {
    let changed = |events: &mut Vec<StoredEvent>| {
        if let Some(second) = events.get_mut(1) {
            second.event = write(&Changed { by: 1_000 }).unwrap();
        }
    };
    is_refused_at(2, changed, |why| *why == RecoveryFault::OtherHash);
}

/// With right check sums: what another program may have written.
fn forged(events: &mut [StoredEvent], at: usize, event: Event) {
    let id = EntityId::new(Account::KIND, "alice");
    let mut hash = coact::durable::store::EventHash::of(&id);
    for (index, stored) in events.iter_mut().enumerate() {
        if index == at {
            stored.event = event.clone();
        }
        hash = hash.with(stored.seq, &stored.event);
        stored.hash = hash;
    }
}

#[test]
fn e7_an_event_that_cannot_be_read_is_named() {
    is_refused_at(
        3,
        |events| forged(events, 2, Event::new("bank.changed", 7, Vec::new())),
        |why| matches!(why, RecoveryFault::Format(_)),
    );
    is_refused_at(
        1,
        |events| forged(events, 0, Event::new("bank.changed", 1, b"\xff".to_vec())),
        |why| matches!(why, RecoveryFault::Format(_)),
    );
}

#[test]
fn e7_an_event_whose_application_panics_is_named_and_not_tried_for_ever() {
    is_refused_at(
        2,
        |events| forged(events, 1, write(&Changed { by: UNLUCKY }).unwrap()),
        |why| matches!(why, RecoveryFault::Panicked(why) if why.contains("not my day")),
    );
}

/// What was asked before, meanwhile and behind, by all who ask: the cause is more than its text.
#[test]
fn e7_all_who_ask_are_told_why_an_entity_cannot_be_recovered() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        (1..=3).for_each(|n| assert!(alice.ask(Deposit(n)).wait().is_ok()));
        drop(alice);
        let missing: Tamper = Arc::new(|events| events.retain(|event| event.seq < Seq::new(3)));
        let journal = Journal::new(Tampered(store, missing));
        let alice = account(&journal, "alice");
        let keyed = alice.ask(Once::new("a", Deposit(4)));
        let mut asked: Vec<_> = (0..4).map(|n| alice.ask(Deposit(n))).collect();
        asked.push(keyed);
        asked.push(alice.to_recipient::<Deposit>().ask(Deposit(4)));
        let _ = alice.send(Deposit(5));
        let is_right = |why: &RecoveryFault| *why == RecoveryFault::Missing { found: None };
        let told = |asked: Result<i64, AskError>| match asked {
            Err(AskError::NotCommitted(why)) => assert_is(why.why(), 3, is_right),
            other => panic!("{other:?}"),
        };
        asked.into_iter().for_each(|asked| told(asked.wait()));
        let ended = alice.ended().wait().unwrap();
        assert!(matches!(ended, ExitReason::Failed(_)), "{ended}");
        told(alice.ask(Deposit(6)).wait());
        told(alice.ask(Once::new("a", Deposit(7))).wait());
    });
}

#[test]
fn e8_all_who_ask_an_owner_that_was_replaced_are_told_so() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let old = account(&Journal::new(store.clone()), "alice");
        assert_eq!(old.ask(Deposit(1)).wait(), Ok(1));
        assert_eq!(found(&store, "alice").balance, 1);
        let asked: Vec<_> = (0..4).map(|n| old.ask(Deposit(n))).collect();
        old.ended().wait().unwrap();
        for asked in asked.into_iter().chain([old.ask(Deposit(5))]) {
            match asked.wait() {
                Err(AskError::NotCommitted(why)) => assert!(
                    matches!(
                        why.why(),
                        Some(CommitRefusal::Fenced { .. } | CommitRefusal::Conflict { .. })
                    ),
                    "{why}"
                ),
                other => panic!("{other:?}"),
            }
        }
    });
}

/// What ends it for another reason than that is told as before.
#[test]
fn an_actor_that_is_killed_is_told_to_be() {
    everywhere_with_faults(|_| {
        let alice = account(&Journal::new(MemoryStore::new()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        alice.kill().unwrap();
        assert_eq!(alice.ended().wait(), Ok(ExitReason::Killed));
        assert_eq!(alice.ask(Deposit(1)).wait(), Err(AskError::Stopped(ExitReason::Killed)));
    });
}

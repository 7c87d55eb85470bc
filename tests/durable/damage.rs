//! Snapshots, states and notes that were changed after they were stored, and can still be read.

use std::error::Error;

use coact::actor::{AskError, ExitReason};
use coact::durable::store::{
    Claim, EventHash, Note, NoteKind, NoteQuery, RowChecksum, Snapshot, StoreReader, wait, write,
};
use coact::durable::{
    Durable, DurableState, EntityId, Event, EventSourced, Journal, MemoryStore, Once,
    RecoveryError, RecoveryFault, Seq, Store, StoreError, stored,
};
use coact::prelude::*;
use coact_tests::{everywhere, everywhere_with_faults};

use crate::bank::{Account, Balance, Deposit, account, found};
use crate::layers::{Layer, Told, Work, layer};

type Flip<T> = fn(&mut T);

/// A store in memory that shows other snapshots and notes than it has, as a file would in which a
/// bit has flipped: with the sums that were stored.
#[derive(Clone)]
struct Flipped {
    store: MemoryStore,
    snapshot: Flip<Snapshot>,
    note: Flip<Note>,
}

impl Flipped {
    fn new(store: &MemoryStore) -> Self {
        Self { store: store.clone(), snapshot: |_| {}, note: |_| {} }
    }
}

layer!(Flipped);

impl Layer for Flipped {
    fn pass(&self, work: Work) {
        work(&self.store);
    }

    fn take_claim(&self, entity: EntityId, done: Told<Claim>) {
        let flip = self.snapshot;
        let flipped = move |mut claim: Result<Claim, _>| {
            claim.iter_mut().for_each(|claim| claim.snapshot.iter_mut().for_each(flip));
            done(claim);
        };
        self.store.claim(entity, Box::new(flipped));
    }

    fn read_notes(&self, which: NoteQuery, most: usize, done: Told<Vec<Note>>) {
        let flip = self.note;
        let flipped = move |note: Note| {
            let (sum, mut note) = (note.sum(), note);
            if note.key.as_bytes() == b"key" {
                flip(&mut note);
            }
            note.check(Some(sum)).map(|()| note)
        };
        let all = move |notes: Result<Vec<Note>, _>| {
            done(notes.and_then(|notes| notes.into_iter().map(flipped).collect()));
        };
        self.store.notes(which, most, Box::new(all));
    }
}

fn state(balance: i64) -> Event {
    write(&Account { balance, changes: vec![balance] }).unwrap()
}

/// The reason why the actor of an entity has stopped.
fn refused<E: EventSourced>(account: &Addr<Durable<E>>) -> String {
    match account.ended().wait().unwrap() {
        ExitReason::Failed(why) => why.to_string(),
        other => panic!("{other}"),
    }
}

/// How that reason begins.
fn begins(entity: &str, seq: u64) -> String {
    format!(
        "`{entity}` cannot be recovered from event {seq} on: \
         the snapshot up to it, or the state, was changed"
    )
}

#[test]
fn e7_a_snapshot_that_was_changed_stops_the_actor() {
    everywhere(|| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        for n in 1..=7 {
            assert!(alice.ask(Deposit(n)).wait().is_ok());
        }
        let flips: [(Flip<Snapshot>, u64); 7] = [
            (|snapshot| snapshot.state = state(1_000_000), 5),
            (|snapshot| snapshot.state.version += 1, 5),
            (|snapshot| snapshot.state.name = "bank.accounz".into(), 5),
            (|snapshot| snapshot.seq = Seq::new(4), 4),
            (|snapshot| snapshot.seq = Seq::new(8), 8),
            (|snapshot| snapshot.hash = EventHash::from_stored(7), 5),
            (|snapshot| snapshot.sum = Some(RowChecksum::from_stored(7)), 5),
        ];
        for (flip, seq) in flips {
            let flipped = Flipped { snapshot: flip, ..Flipped::new(&store) };
            let why = refused(&account(&Journal::new(flipped), "alice"));
            assert!(why.starts_with(&begins("bank.account/alice", seq)), "{why}");
            // Each fact is there once.
            for fact in ["bank.account/alice", "event", "Nothing", "backup"] {
                assert_eq!(why.matches(fact).count(), 1, "{why}");
            }
        }
        // Its error has a type.
        let flipped =
            Flipped { snapshot: |it| it.hash = EventHash::from_stored(7), ..Flipped::new(&store) };
        let refused = account(&Journal::new(flipped), "alice").ask(Balance).wait();
        match refused {
            Err(AskError::NotCommitted(why)) => {
                let error = why.why::<RecoveryError>().expect("it cannot be recovered");
                assert_eq!((error.entity.key(), error.seq), ("alice", Seq::new(5)));
                assert!(matches!(&error.why, RecoveryFault::Store(StoreError::Corrupt { .. })));
                assert!(error.source().is_none(), "its text has that");
            }
            Err(AskError::Stopped(ExitReason::Failed(_))) => {}
            other => panic!("{other:?}"),
        }
        // What is stored is as it was; and of one that was stored without a sum nothing is known.
        assert_eq!(found(&store, "alice").balance, 28);
        let unchecked = Flipped {
            snapshot: |snapshot| (snapshot.state, snapshot.sum) = (state(1_000), None),
            ..Flipped::new(&store)
        };
        let alice = account(&Journal::new(unchecked), "alice");
        assert_eq!(alice.ask(Balance).wait(), Ok(1_000 + 6 + 7));
    });
}

/// As of events that were lost, or with another number and a right sum, or none.
#[test]
fn e7_a_snapshot_ahead_of_the_last_event_stops_the_actor() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        for n in 1..=7 {
            assert!(alice.ask(Deposit(n)).wait().is_ok());
        }
        let flips: [Flip<Snapshot>; 2] = [
            |it| *it = Snapshot::new(Seq::new(8), it.hash, it.state.clone()),
            |it| (it.seq, it.sum) = (Seq::new(8), None),
        ];
        for snapshot in flips {
            let flipped = Flipped { snapshot, ..Flipped::new(&store) };
            let why = refused(&account(&Journal::new(flipped), "alice"));
            assert_eq!(
                why,
                "`bank.account/alice` cannot be recovered from event 8 on: there is a snapshot up to it, and the last event \
                 is 7. Nothing stored was changed; restore it from a backup"
            );
        }
        assert_eq!(found(&store, "alice").balance, 28);
    });
}

#[stored(name = "stock")]
#[derive(Clone)]
struct Stock(#[n(0)] u64);

impl DurableState for Stock {
    const KIND: &'static str = "stock";

    fn new(_: &EntityId) -> Self {
        Self(0)
    }
}

#[test]
fn e14_a_state_that_was_changed_stops_the_actor() {
    everywhere(|| {
        let store = MemoryStore::new();
        let shelf = Journal::new(store.clone()).entity::<Stock>("shelf");
        for _ in 0..2 {
            assert_eq!(call(&shelf, |shelf| shelf.update(|shelf| shelf.0 += 5)).wait(), Ok(()));
        }
        let flipped = Flipped {
            snapshot: |snapshot| snapshot.state = write(&Stock(11)).unwrap(),
            ..Flipped::new(&store)
        };
        let why = refused(&Journal::new(flipped).entity::<Stock>("shelf"));
        assert!(why.starts_with(&begins("stock/shelf", 2)), "{why}");
        let again = Journal::new(store).entity::<Stock>("shelf");
        assert_eq!(call(&again, |shelf| shelf.0).wait(), Ok(10));
    });
}

/// A note that is put for an entity which has one of each kind.
fn put_notes(store: &MemoryStore) {
    let id = EntityId::new(Account::KIND, "alice");
    let claim = wait(|done| store.claim(id.clone(), done)).unwrap();
    let mut commit = coact::durable::store::Commit::new();
    let member = commit.member(id, claim.epoch, claim.last);
    for kind in NoteKind::ALL {
        member.put_note(kind, "key".into(), 5, Event::new("said", 1, b"what".to_vec()));
    }
    wait(|done| store.commit(commit, done));
}

#[test]
fn e22_a_note_that_was_changed_is_told_and_not_used() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        put_notes(&store);
        let flips: [Flip<Note>; 3] = [
            |note| note.value.payload = b"whaz".to_vec().into(),
            |note| note.rank += 1,
            |note| note.entity = EntityId::new(Account::KIND, "bob"),
        ];
        let is_told = |told: &StoreError, of: NoteKind| matches!(told, StoreError::CorruptNote { note, .. } if (note.kind, note.key.as_bytes()) == (of, b"key"));
        for flip in flips {
            let journal = Journal::new(Flipped { note: flip, ..Flipped::new(&store) });
            let told = journal.resume().wait().unwrap().unwrap_err();
            assert!(is_told(&told, NoteKind::Outgoing), "{told}");
            assert!(
                told.to_string().contains("the note \"key\" (Outgoing) of `bank.account/"),
                "{told}"
            );
            let dead = journal.dead_letters(9).wait().unwrap().unwrap();
            let [Err(damaged)] = &dead[..] else { panic!("{dead:?}") };
            assert!(damaged.to_string().contains("was changed after"), "{damaged}");
            // A command with that key is not decided on, and others are.
            let alice = account(&journal, "alice");
            let refused = alice.ask(Once::new("key", Deposit(5))).wait();
            let Err(AskError::NotCommitted(why)) = refused else { panic!("{refused:?}") };
            assert!(is_told(why.why().unwrap(), NoteKind::ClientAnswer), "{why}");
            assert_eq!(alice.ask(Once::new("another", Balance)).wait(), Ok(0));
        }
        let which = NoteQuery::Of { entity: EntityId::new(Account::KIND, "alice"), after: None };
        assert!(
            wait(|done| store.notes(which, 9, done)).unwrap().len() >= 4,
            "all are still there"
        );
    });
}

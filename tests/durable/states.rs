//! Entities without a history, snapshots by policy, and what is removed.

use coact::durable::store::{Snapshot, StoreReader, StoredEvent, wait};
use coact::durable::{
    Decide, Durable, DurableState, EntityId, EventSourced, Journal, LogError, LoggedEvent,
    MemoryStore, Position, Seq, Snapshots, Store, stored,
};
use coact::prelude::*;
use coact_tests::{Dice, everywhere, everywhere_with_faults};

use crate::bank::{Account, Balance, Changed, Deposit, account, found};

/// A stock of goods, as it is.
#[stored(name = "stock")]
#[derive(Clone, Debug, PartialEq, Default)]
struct Stock {
    #[n(0)]
    pieces: u64,
    #[n(1)]
    place: String,
}

impl DurableState for Stock {
    const KIND: &'static str = "shop.stock";

    fn new(id: &EntityId) -> Self {
        Self { pieces: 0, place: id.key().into() }
    }
}

#[derive(Message)]
#[message(reply = Seq)]
struct Put(u64);

impl Decide<Put> for Stock {
    fn decide(stock: &mut Durable<Self>, Put(pieces): Put) -> Seq {
        stock.update(|stock| stock.pieces += pieces);
        stock.last()
    }
}

fn events_of(store: &MemoryStore, id: EntityId) -> Vec<StoredEvent> {
    wait(|done| store.events(id, Seq::ZERO, usize::MAX, done)).unwrap()
}

fn kept(store: &MemoryStore, id: EntityId) -> Vec<Snapshot> {
    wait(|done| store.snapshots(id, done)).unwrap()
}

#[test]
fn e14_a_durable_state_is_stored_as_it_is() {
    everywhere(|| {
        let store = MemoryStore::new();
        let id = EntityId::new("shop.stock", "shelf");
        {
            let shelf = Journal::new(store.clone()).entity::<Stock>("shelf");
            let asked: Vec<_> = (1..=20).map(|n| shelf.ask(Put(n))).collect();
            let versions: Vec<_> =
                asked.into_iter().map(|asked| asked.wait().unwrap().get()).collect();
            assert_eq!(versions, (1..=20).collect::<Vec<_>>());
            // Twice in one decision is one step.
            let twice = call(&shelf, |shelf| {
                shelf.update(|shelf| shelf.pieces += 1);
                shelf.update(|shelf| shelf.place = "elsewhere".into());
                shelf.last()
            });
            assert_eq!(twice.wait(), Ok(Seq::new(21)));
        }
        assert_eq!(events_of(&store, id.clone()), []);
        assert_eq!(kept(&store, id).len(), 1);
        let again = Journal::new(store).entity::<Stock>("shelf");
        let seen = call(&again, |shelf| ((**shelf).clone(), shelf.last())).wait().unwrap();
        assert_eq!(seen, (Stock { pieces: 211, place: "elsewhere".into() }, Seq::new(21)));
    });
}

#[test]
fn e14_a_step_over_states_and_histories_is_one() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone());
        let (shelf, alice) = (journal.entity::<Stock>("shelf"), account(&journal, "alice"));
        let sold = call((&shelf, &alice), |(shelf, alice)| {
            shelf.update(|shelf| shelf.pieces = 7);
            alice.persist(Changed { by: -3 });
        });
        assert_eq!(sold.wait(), Ok(()));
        // Another owner of the account has the whole step refused, and the state is what it was.
        let other = Journal::new(store.clone());
        let elsewhere = account(&other, "alice");
        assert_eq!(elsewhere.ask(Balance).wait(), Ok(-3));
        let refused = call((&shelf, &alice), |(shelf, alice)| {
            shelf.update(|shelf| shelf.pieces = 99);
            alice.persist(Changed { by: -100 });
        });
        assert!(refused.wait().is_err());
        let seen = call(&shelf, |shelf| (shelf.pieces, shelf.last().get())).wait();
        assert_eq!(seen, Ok((7, 1)));
    });
}

#[test]
fn a_state_whose_closure_panics_stays_as_it_was() {
    everywhere_with_faults(|_| {
        let shelf = Journal::new(MemoryStore::new()).entity::<Stock>("shelf");
        assert_eq!(shelf.ask(Put(1)).wait(), Ok(Seq::new(1)));
        let failed = call(&shelf, |shelf| {
            shelf.update(|shelf| {
                shelf.pieces = 100;
                panic!("as it was told");
            });
        });
        assert!(failed.wait().is_err());
        assert_eq!(call(&shelf, |shelf| shelf.pieces).wait(), Ok(1));
    });
}

/// Texts, with all kinds of snapshots.
#[derive(Default, Clone, PartialEq, Debug)]
struct Notes<const POLICY: u8>(Vec<String>);

#[stored(name = "noted")]
#[derive(Clone)]
struct Noted(#[n(0)] String);

#[stored(name = "notes")]
struct AllNotes(#[n(0)] Vec<String>);

const BY_BYTES: u8 = 0;
const BY_COUNT_TRIMMING: u8 = 1;
const ON_DEMAND: u8 = 2;

impl<const POLICY: u8> EventSourced for Notes<POLICY> {
    const KIND: &'static str = "notes";
    type Event = Noted;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, Noted(text): &Noted) {
        self.0.push(text.clone());
    }

    fn snapshots() -> Option<Snapshots<Self>> {
        let by = Snapshots::by(
            |notes: &Self| coact::durable::store::write(&AllNotes(notes.0.clone())),
            |event| {
                coact::durable::store::read::<AllNotes>(event).map(|AllNotes(notes)| Self(notes))
            },
        );
        Some(match POLICY {
            BY_BYTES => by.and_every_bytes(100),
            BY_COUNT_TRIMMING => by.and_every(4).trimming(),
            _ => by,
        })
    }
}

fn notes_id() -> EntityId {
    EntityId::new("notes", "book")
}

fn note<const POLICY: u8>(book: &Addr<Durable<Notes<POLICY>>>, text: &str) {
    let text = text.to_owned();
    call(book, move |book| book.persist(Noted(text))).wait().unwrap();
}

#[test]
fn e7_snapshots_by_bytes_count_what_was_stored_before() {
    everywhere(|| {
        let store = MemoryStore::new();
        let snapshots = || kept(&store, notes_id()).iter().map(|one| one.seq.get()).collect();
        for round in 0..4 {
            // Each process adds less than is needed for one.
            let book = Journal::new(store.clone()).entity::<Notes<BY_BYTES>>("book");
            note(&book, &"x".repeat(40));
            let expected: Vec<u64> = if round < 2 { vec![] } else { vec![3] };
            let found: Vec<u64> = snapshots();
            assert_eq!(found, expected, "round {round}");
        }
        let book = Journal::new(store.clone()).entity::<Notes<BY_BYTES>>("book");
        note(&book, &"y".repeat(1_000));
        let found: Vec<u64> = snapshots();
        assert_eq!(found, [5, 3]);
    });
}

#[test]
fn e7_events_that_both_snapshots_have_are_removed() {
    everywhere(|| {
        let (store, mut dice) = (MemoryStore::new(), Dice::new(7));
        let mut all = Vec::new();
        for _ in 0..15 {
            let book = Journal::new(store.clone()).entity::<Notes<BY_COUNT_TRIMMING>>("book");
            for _ in 0..dice.below(7) {
                all.push(all.len().to_string());
                note(&book, all.last().unwrap());
            }
            assert_eq!(call(&book, |book| book.0.clone()).wait(), Ok(all.clone()));
            let snapshots: Vec<_> =
                kept(&store, notes_id()).iter().map(|one| one.seq.get()).collect();
            let left: Vec<_> =
                events_of(&store, notes_id()).iter().map(|event| event.seq.get()).collect();
            let first = if snapshots.len() == 2 { snapshots[1] + 1 } else { 1 };
            assert_eq!(left, (first..=all.len() as u64).collect::<Vec<_>>(), "{snapshots:?}");
        }
        assert!(all.len() > 12);
        // The older one of them serves as well.
        let (entity, older) = (notes_id(), kept(&store, notes_id()).pop().unwrap());
        let tail = wait(|done| store.events(entity, older.seq, 100, done)).unwrap();
        let AllNotes(mut notes) = coact::durable::store::read(&older.state).unwrap();
        let texts =
            tail.iter().map(|event| coact::durable::store::read::<Noted>(&event.event).unwrap().0);
        notes.extend(texts);
        assert_eq!(notes, all);
    });
}

#[test]
fn a_snapshot_is_stored_on_demand() {
    everywhere(|| {
        let store = MemoryStore::new();
        let book = Journal::new(store.clone()).entity::<Notes<ON_DEMAND>>("book");
        note(&book, "one");
        note(&book, "two");
        assert_eq!(kept(&store, notes_id()), []);
        // Without an event, twice, and with one.
        for _ in 0..2 {
            call(&book, |book| book.snapshot()).wait().unwrap();
        }
        let seqs = || kept(&store, notes_id()).iter().map(|one| one.seq.get()).collect::<Vec<_>>();
        assert_eq!(seqs(), [2]);
        let with_one = call(&book, |book| {
            book.snapshot();
            book.persist(Noted("three".into()));
        });
        with_one.wait().unwrap();
        assert_eq!(seqs(), [3, 2]);
        let again = Journal::new(store.clone()).entity::<Notes<ON_DEMAND>>("book");
        assert_eq!(call(&again, |book| book.0.len()).wait(), Ok(3));
    });
}

#[test]
fn e15_what_is_deleted_begins_anew() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone());
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        for n in 1..=7 {
            assert!(alice.ask(Deposit(n)).wait().is_ok());
        }
        // As one step with what another one becomes.
        let closed = call((&alice, &bob), |(alice, bob)| {
            let rest = alice.balance;
            alice.delete();
            bob.persist(Changed { by: rest });
            (alice.balance, alice.last())
        });
        assert_eq!(closed.wait(), Ok((0, Seq::ZERO)));
        let id = EntityId::new(Account::KIND, "alice");
        assert_eq!((events_of(&store, id.clone()), kept(&store, id)), (vec![], vec![]));
        assert_eq!(alice.ask(Deposit(5)).wait(), Ok(5));
        let seen = call((&alice, &bob), |(alice, bob)| (alice.last().get(), bob.balance)).wait();
        assert_eq!(seen, Ok((1, 28)));
        assert_eq!(found(&store, "alice").changes, [5]);
        // What a log has of it is what there is.
        let mut log = Journal::new(store.clone()).log::<Account>(Position::ZERO);
        let two: Result<Vec<_>, LogError> = (0..2).map(|_| log.wait_next()).collect();
        let told = |logged: LoggedEvent<Changed>| (logged.entity.to_string(), logged.event.by);
        let two: Vec<_> = two.unwrap().into_iter().map(told).collect();
        assert_eq!(two, [("bank.account/bob".into(), 28), ("bank.account/alice".into(), 5)]);
    });
}

#[test]
fn e15_a_deletion_that_is_refused_has_not_happened() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone());
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Deposit(3)).wait(), Ok(3));
        store.fail(|operation| match operation {
            coact::durable::store::StoreOperation::Commit(_) => {
                coact::durable::store::StoreFault::Unavailable
            }
            _ => coact::durable::store::StoreFault::None,
        });
        assert!(call(&alice, |alice| alice.delete()).wait().is_err());
        store.heal();
        assert_eq!(alice.ask(Balance).wait(), Ok(3));
        // Nor has one of an owner that was replaced.
        assert_eq!(account(&Journal::new(store.clone()), "alice").ask(Balance).wait(), Ok(3));
        assert!(call(&alice, |alice| alice.delete()).wait().is_err());
        assert_eq!(found(&store, "alice").changes, [3]);
        let last = wait(|done| store.claim(EntityId::new(Account::KIND, "alice"), done)).unwrap();
        assert_eq!(last.last, Seq::new(1));
    });
}

#[test]
fn a_decision_persists_or_deletes() {
    everywhere_with_faults(|_| {
        let alice = account(&Journal::new(MemoryStore::new()), "alice");
        assert_eq!(alice.ask(Deposit(3)).wait(), Ok(3));
        let first = call(&alice, |alice| {
            alice.persist(Changed { by: 1 });
            alice.delete();
        });
        assert!(first.wait().is_err());
        let second = call(&alice, |alice| {
            alice.delete();
            alice.persist(Changed { by: 1 });
        });
        assert!(second.wait().is_err());
        assert_eq!(alice.ask(Balance).wait(), Ok(3));
        let mut alone = Durable::standalone(Account { balance: 5, changes: vec![5] });
        alone.delete();
        assert_eq!(*alone, Account::default());
    });
}

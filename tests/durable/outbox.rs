//! Messages that are stored with the decisions that leave them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact::durable::store::{
    Commit, InTransit, Note as StoredNote, NoteKey, NoteKind, NoteQuery, StoreCallback, StoreFault,
    StoreOperation, StoreOutcome, StoreReader, read, wait,
};
use coact::durable::{
    CommitRefusal, DeadLetter, Decide, Durable, EntityId, EventSourced, Journal, JournalBuilder,
    MemoryStore, Publication, Store, StoreError, pipelined, stored,
};
use coact::prelude::*;
use coact::supervise::{Supervisor, permanent};
use coact_tests::{Dice, everywhere, everywhere_with_faults};

use crate::failures::pass;
use crate::histories::seeds;
use crate::layers::{Layer, Told, Work, layer};
use crate::manual::Manual;

/// A party that sends numbered letters, and records those that it got, by sender.
#[derive(Default, Clone, Debug, PartialEq)]
pub struct Party {
    sent: HashMap<String, u64>,
    got: Vec<(String, u64)>,
    unlucky: u32,
}

#[stored(name = "party.event")]
#[derive(Clone)]
pub enum PartyEvent {
    #[n(0)]
    Sent(#[n(0)] String),
    #[n(1)]
    Got(#[n(0)] String, #[n(1)] u64),
}

impl EventSourced for Party {
    const KIND: &'static str = "party";
    type Event = PartyEvent;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, event: &PartyEvent) {
        match event.clone() {
            PartyEvent::Sent(to) => *self.sent.entry(to).or_default() += 1,
            PartyEvent::Got(from, number) => self.got.push((from, number)),
        }
    }
}

#[stored(name = "letter")]
#[derive(Message, Clone)]
struct Letter {
    #[n(0)]
    from: String,
    #[n(1)]
    number: u64,
}

impl Decide<Letter> for Party {
    fn decide(party: &mut Durable<Self>, Letter { from, number }: Letter) {
        assert!(!from.starts_with("bad"), "as it was told");
        party.persist(PartyEvent::Got(from, number));
    }
}

#[stored(name = "notice")]
#[derive(Clone)]
struct Notice(#[n(0)] u64);

fn post(party: &mut Durable<Party>, to: &str) {
    let number = party.sent.get(to).copied().unwrap_or_default();
    let from = party.id().key().to_owned();
    party.persist(PartyEvent::Sent(to.into()));
    party.deliver_to::<Party, _>(to, Letter { from, number });
}

fn builder(store: &MemoryStore) -> JournalBuilder {
    Journal::builder(store.clone()).receives::<Party, Letter>()
}

fn outgoing(store: &MemoryStore, kind: NoteKind) -> usize {
    let which = NoteQuery::Ranked { kind, after: None, up_to: u64::MAX };
    wait(|done| store.notes(which, 1_000_000, done)).unwrap().len()
}

fn dead_letters(journal: &Journal) -> Vec<DeadLetter> {
    let dead = journal.dead_letters(10).wait().unwrap().unwrap();
    dead.into_iter().map(|letter| letter.unwrap()).collect()
}

fn seen(journal: &Journal, key: &str) -> Party {
    let party = journal.entity::<Party>(key);
    call(&party, |party| (**party).clone()).wait().unwrap()
}

/// Waits until nothing is outgoing any more.
fn settle(store: &MemoryStore) {
    // Each look takes a little, also of virtual time.
    while outgoing(store, NoteKind::Outgoing) > 0 {
        pass(Duration::from_millis(2));
    }
}

/// Each letter arrived once, and those of each pair in order.
fn assert_all_got(journal: &Journal, keys: &[&str]) {
    let all: HashMap<&str, Party> = keys.iter().map(|key| (*key, seen(journal, key))).collect();
    for to in keys {
        for from in keys {
            let sent = all[from].sent.get(*to).copied().unwrap_or_default();
            let got = all[to].got.iter().filter(|(by, _)| by == from).map(|(_, number)| *number);
            assert_eq!(
                got.collect::<Vec<_>>(),
                (0..sent).collect::<Vec<_>>(),
                "from {from} to {to}"
            );
        }
    }
}

#[test]
fn e16_what_is_delivered_is_decided_on_once_and_in_order() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = builder(&store).build();
        let keys = ["a", "b", "c"];
        let mut dice = Dice::new(11);
        for _ in 0..40 {
            let (from, to) = (keys[dice.below(3)], keys[dice.below(3)]);
            when(&journal.entity::<Party>(from), move |party| post(party, to));
        }
        // A step of two leaves letters of both.
        let both = (journal.entity::<Party>("a"), journal.entity::<Party>("b"));
        let step = call((&both.0, &both.1), |(a, b)| {
            post(a, "c");
            post(b, "c");
            post(a, "b");
        });
        step.wait().unwrap();
        drop(both);
        // All are stored by now, as each was asked once more.
        keys.iter().for_each(|key| drop(seen(&journal, key)));
        settle(&store);
        assert_all_got(&journal, &keys);
        assert_eq!(outgoing(&store, NoteKind::DeadLetter), 0);
    });
}

/// Commits of `a` are stored and told, and notes are read, when the test says so.
#[derive(Clone, Default)]
struct Paused {
    manual: Manual,
    reads: Arc<Mutex<Option<Vec<Work>>>>,
}

layer!(Paused);

impl Layer for Paused {
    fn pass(&self, work: Work) {
        work(&self.manual.1);
    }

    fn read_notes(&self, which: NoteQuery, most: usize, done: Told<Vec<StoredNote>>) {
        let work: Work = Box::new(move |store| store.notes(which, most, done));
        match &mut *self.reads.lock().unwrap() {
            Some(reads) => reads.push(work),
            None => work(&self.manual.1),
        }
    }

    fn take_commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        if commit.members().any(|(id, _)| id.key() == "a") {
            self.manual.take_commit(commit, done);
        } else {
            self.manual.1.commit(commit, done);
        }
    }
}

impl Paused {
    fn read_one(&self) {
        while self.reads.lock().unwrap().as_ref().is_none_or(Vec::is_empty) {
            pass(Duration::from_millis(1));
        }
        let read = self.reads.lock().unwrap().as_mut().unwrap().remove(0);
        read(&self.manual.1);
    }
}

/// What `resume` reads of this process's own messages is not all, nor in their order: they come
/// when they are told to be stored.
#[test]
fn e16_a_message_that_is_left_during_a_resume_overtakes_none_before_it() {
    everywhere(|| {
        let paused = Paused::default();
        *paused.reads.lock().unwrap() = Some(Vec::new());
        let journal = Journal::builder(paused.clone()).receives::<Party, Letter>().build();
        let [a, z] = ["a", "z"].map(|key| journal.entity::<Party>(key));
        call((&a, &z), |_| ()).wait().unwrap();
        let resumed = journal.resume();
        paused.manual.hold();
        // Decided on first, so of a lower rank than that of `z`, which is stored first.
        when(pipelined(&a), |a| post(a, "b"));
        while paused.manual.len() < 1 {
            pass(Duration::from_millis(1));
        }
        pass(Duration::from_millis(5));
        call(&z, |z| post(z, "y")).wait().unwrap();
        pass(Duration::from_millis(5));
        paused.read_one();
        // Behind the first page: the next one has the second message of `a`, and not the first.
        when(pipelined(&a), |a| post(a, "b"));
        while paused.manual.len() < 2 {
            pass(Duration::from_millis(1));
        }
        let late = paused.manual.store_untold();
        let rest = paused.reads.lock().unwrap().take();
        rest.into_iter().flatten().for_each(|read| read(&paused.manual.1));
        resumed.wait().unwrap().unwrap();
        pass(Duration::from_millis(50));
        late.into_iter().for_each(|tell| tell());
        settle(&paused.manual.1);
        assert_all_got(&journal, &["a", "b", "y", "z"]);
        assert_eq!(seen(&journal, "b").got.len(), 2);
    });
}

#[test]
fn e16_a_decision_that_is_refused_leaves_nothing() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = builder(&store).build();
        let a = journal.entity::<Party>("a");
        call(&a, |a| post(a, "b")).wait().unwrap();
        settle(&store);
        store.fail(|operation| match operation {
            StoreOperation::Commit(_) => StoreFault::Unavailable,
            _ => StoreFault::None,
        });
        assert!(call(&a, |a| post(a, "b")).wait().is_err());
        store.heal();
        call(&a, |a| post(a, "b")).wait().unwrap();
        settle(&store);
        assert_all_got(&journal, &["a", "b"]);
        assert_eq!(seen(&journal, "b").got.len(), 2);
    });
}

/// Each commit may be refused, stored without an answer, or both: and now and then another process
/// takes over.
#[test]
fn e16_faults_and_later_processes_deliver_nothing_twice() {
    everywhere_with_faults(|_| {
        for seed in seeds(3) {
            let store = MemoryStore::new();
            let dice = Arc::new(Mutex::new(Dice::new(seed)));
            let keys = ["a", "b", "c"];
            let roll = Arc::clone(&dice);
            store.fail(move |operation| {
                let face = roll.lock().unwrap().below(8);
                match (operation, face) {
                    (StoreOperation::Commit(_), 0) => StoreFault::Unavailable,
                    (StoreOperation::Commit(_), 1) => StoreFault::AnswerLost,
                    (StoreOperation::Events(_) | StoreOperation::Notes(_), 2) => {
                        StoreFault::Unavailable
                    }
                    _ => StoreFault::None,
                }
            });
            let mut journals = Vec::new();
            for _ in 0..3 {
                let journal = builder(&store).attempts(1_000).build();
                journal.resume().wait().unwrap().unwrap();
                let steps: Vec<_> = (0..12)
                    .map(|_| {
                        let [from, to] = [0; 2].map(|_| dice.lock().unwrap().below(3));
                        let to = keys[to];
                        call(&journal.entity::<Party>(keys[from]), move |party| post(party, to))
                    })
                    .collect();
                steps.into_iter().for_each(|step| drop(step.wait()));
                // It goes on delivering, while its successor does so too.
                journals.push(journal);
            }
            store.heal();
            let last = builder(&store).build();
            last.resume().wait().unwrap().unwrap();
            settle(&store);
            // (An owner that was replaced does not know it before it stores something.)
            assert_all_got(&builder(&store).build(), &keys);
        }
    });
}

#[test]
fn e16_a_message_that_cannot_be_delivered_is_a_dead_letter() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = builder(&store).attempts(2).build();
        let bad = journal.entity::<Party>("bad");
        call(&bad, |bad| {
            post(bad, "b");
            post(bad, "bad");
        })
        .wait()
        .unwrap();
        call(&journal.entity::<Party>("good"), |good| post(good, "b")).wait().unwrap();
        settle(&store);
        assert_all_got(&journal, &["good"]);
        assert_eq!(seen(&journal, "b").got, [("good".into(), 0)]);
        let dead = dead_letters(&journal);
        assert_eq!(dead.len(), 2);
        for letter in &dead {
            assert_eq!(letter.from, EntityId::new("party", "bad"));
            assert!(letter.to.is_some() && letter.why.contains("as it was told"), "{letter:?}");
            assert_eq!(read::<Letter>(&letter.message).unwrap().number, 0);
        }
        // Once more, in vain.
        let again = dead.iter().find(|letter| letter.to == Some(EntityId::new("party", "b")));
        let again = again.expect("it was to get one").clone();
        assert_eq!(journal.redeliver(&again).wait(), Ok(Ok(())));
        settle(&store);
        assert_eq!(outgoing(&store, NoteKind::DeadLetter), 2);
        let gone = journal.redeliver(&again).wait().unwrap();
        // (It is dead again, since another time.)
        assert!(matches!(gone, Err(CommitRefusal::Gone(_))) || gone == Ok(()), "{gone:?}");
        settle(&store);
        for letter in dead_letters(&journal) {
            assert_eq!(journal.discard(&letter).wait(), Ok(Ok(())));
        }
        assert_eq!(outgoing(&store, NoteKind::DeadLetter), 0);
    });
}

#[test]
fn a_message_without_a_receiver_fails_the_decision() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone());
        let a = journal.entity::<Party>("a");
        let failed = call(&a, |a| post(a, "b")).wait().unwrap_err().to_string();
        assert!(failed.contains("`party` receives `letter`"), "{failed}");
        let failed = call(&a, |a| a.publish(Notice(1))).wait().unwrap_err().to_string();
        assert!(failed.contains("how `notice` is published"), "{failed}");
        assert_eq!(seen(&journal, "a"), Party::default());
        assert_eq!(outgoing(&store, NoteKind::Outgoing), 0);
    });
}

#[test]
fn e17_what_is_published_is_told_until_it_has_worked() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let told = Arc::new(Mutex::new(Vec::new()));
        let publish = |fails: u32| {
            let told = Arc::clone(&told);
            move |notice: Publication<Notice>| {
                told.lock().unwrap().push((notice.message.0, notice.id.clone()));
                assert!(notice.message.0 != 13 || notice.failures > 0, "as it was told");
                async move { if notice.failures < fails { Err("not now") } else { Ok(()) } }
            }
        };
        let journal = Journal::builder(store.clone()).publishes(publish(1)).build();
        let a = journal.entity::<Party>("a");
        for number in [5, 13, 7] {
            call(&a, move |a| a.publish(Notice(number))).wait().unwrap();
        }
        settle(&store);
        let first = std::mem::take(&mut *told.lock().unwrap());
        let numbers: Vec<_> = first.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [5, 5, 13, 13, 7, 7]);
        assert!(
            first.chunks(2).all(|pair| pair[0].1 == pair[1].1),
            "the same each time: {first:?}"
        );
        assert_ne!(first[0].1, first[2].1);

        // A process that has never done it; and the next one, which goes on.
        let journal =
            Journal::builder(store.clone()).publishes(publish(1_000)).attempts(1_000).build();
        let a = journal.entity::<Party>("a");
        call(&a, |a| a.publish(Notice(1))).wait().unwrap();
        let next = Journal::builder(store.clone()).publishes(publish(0)).build();
        let resumed = next.resume().wait().unwrap().unwrap();
        assert_eq!((resumed.messages, resumed.timers), (1, 0));
        settle(&store);
        let told = told.lock().unwrap();
        assert!(!told.is_empty() && told.iter().all(|(number, _)| *number == 1), "{told:?}");
    });
}

#[test]
fn what_a_decision_leaves_is_seen_without_a_store() {
    let mut party = Durable::standalone(Party::default());
    post(&mut party, "b");
    party.publish(Notice(4));
    let outgoing = party.outgoing();
    assert_eq!(outgoing[0].to, Some(EntityId::new("party", "b")));
    assert_eq!(read::<Letter>(&outgoing[0].message).unwrap().number, 0);
    assert_eq!(
        (outgoing[1].to.clone(), read::<Notice>(&outgoing[1].message).unwrap().0),
        (None, 4)
    );
}

#[test]
fn e15_messages_of_what_is_deleted_are_still_delivered() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = builder(&store).build();
        let a = journal.entity::<Party>("a");
        let closed = call(&a, |a| {
            a.delete();
            a.deliver_to::<Party, _>("b", Letter { from: "a".into(), number: 0 });
            a.outgoing().len()
        });
        assert_eq!(closed.wait(), Ok(1));
        settle(&store);
        assert_eq!(seen(&journal, "b").got, [("a".into(), 0)]);
        assert_eq!(seen(&journal, "a"), Party::default());
    });
}

/// A supervised actor of an entity is the one that the journal finds, and that gets what is
/// delivered.
#[test]
fn e16_what_is_delivered_reaches_the_child_of_a_supervisor() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = builder(&store).build();
        let supervisor = Supervisor::dynamic().spawn();
        let child = {
            let journal = journal.clone();
            supervisor.start_child(permanent(move || journal.durable::<Party>("b"))).wait().unwrap()
        };
        call(&child, |_| ()).wait().unwrap();
        assert_eq!(journal.entity::<Party>("b").id(), child.id());
        call(&journal.entity::<Party>("a"), |a| post(a, "b")).wait().unwrap();
        settle(&store);
        let got = call(&child, |b| b.got.clone()).wait();
        assert_eq!(got, Ok(vec![("a".into(), 0)]));
        // It is still its first owner.
        let owners = wait(|done| store.entities(None, None, 9, done)).unwrap();
        assert_eq!(owners.iter().map(|one| one.epoch.get()).collect::<Vec<_>>(), [1, 1]);
        let _ = supervisor.stop();
        supervisor.ended().wait().unwrap();
        // Then the journal has one of its own.
        assert_eq!(seen(&journal, "b").got, [("a".into(), 0)]);
    });
}

/// A dropped journal delivers as long as its entities have actors.
#[test]
fn e16_messages_are_delivered_though_the_journal_was_dropped() {
    everywhere(|| {
        let store = MemoryStore::new();
        let a = builder(&store).build().entity::<Party>("a");
        call(&a, |a| post(a, "b")).wait().unwrap();
        settle(&store);
        drop(a);
        assert_all_got(&builder(&store).build(), &["a", "b"]);
    });
}

/// The store of a program that ends before anything was delivered.
#[derive(Clone)]
struct Untaken(MemoryStore);

layer!(Untaken);

impl Layer for Untaken {
    fn pass(&self, work: Work) {
        work(&self.0);
    }

    fn take_commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        if commit.taken().is_empty() {
            return self.0.commit(commit, done);
        }
        let why = "it is about to end".into();
        done(StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { why })));
    }
}

/// Commands that come while the store is read do not overtake its messages.
#[test]
fn e16_what_earlier_processes_have_left_comes_first() {
    everywhere(|| {
        let store = MemoryStore::new();
        {
            let first =
                Journal::builder(Untaken(store.clone())).receives::<Party, Letter>().build();
            let a = first.entity::<Party>("a");
            for _ in 0..20 {
                call(&a, |a| post(a, "b")).wait().unwrap();
            }
        }
        let journal = builder(&store).build();
        let resumed = journal.resume();
        let a = journal.entity::<Party>("a");
        for _ in 0..5 {
            when(&a, |a| post(a, "b"));
        }
        resumed.wait().unwrap().unwrap();
        call(&a, |_| ()).wait().unwrap();
        settle(&store);
        let fresh = builder(&store).build();
        let numbers: Vec<_> = seen(&fresh, "b").got.iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers, (0..25).collect::<Vec<_>>());
    });
}

/// A store in which a bit has flipped in this message of `a`.
struct Flipped(MemoryStore, NoteKey);

layer!(Flipped);

impl Layer for Flipped {
    fn pass(&self, work: Work) {
        work(&self.0);
    }

    fn read_notes(
        &self,
        which: NoteQuery,
        most: usize,
        done: StoreCallback<Result<Vec<coact::durable::store::Note>, StoreError>>,
    ) {
        let flipped = self.1.clone();
        let flip = move |mut note: coact::durable::store::Note| {
            let sum = note.sum();
            if note.entity.key() == "a" && note.key == flipped {
                note.value.version ^= 1;
            }
            note.check(Some(sum)).map(|()| note)
        };
        let all = move |notes: Result<Vec<_>, _>| {
            done(notes.and_then(|notes| notes.into_iter().map(flip).collect()));
        };
        self.0.notes(which, most, Box::new(all));
    }
}

/// It is told, and holds up those of the same entity behind it, as what is damaged of an entity
/// does; others are delivered.
#[test]
fn e22_a_message_that_was_damaged_holds_up_its_own_entity() {
    everywhere(|| {
        let store = MemoryStore::new();
        {
            let first =
                Journal::builder(Untaken(store.clone())).receives::<Party, Letter>().build();
            for from in ["a", "z"] {
                let party = first.entity::<Party>(from);
                for _ in 0..5 {
                    call(&party, |party| post(party, "b")).wait().unwrap();
                }
            }
        }
        let all = NoteQuery::Of { entity: EntityId::new(Party::KIND, "a"), after: None };
        let third = wait(|done| store.notes(all, 10, done)).unwrap().remove(2).key;
        let damaged =
            Journal::builder(Flipped(store.clone(), third)).receives::<Party, Letter>().build();
        let told = damaged.resume().wait().unwrap().unwrap_err();
        assert!(told.to_string().contains("(Outgoing) of `party/a` is damaged"), "{told}");
        while outgoing(&store, NoteKind::Outgoing) > 3 {
            pass(Duration::from_millis(2));
        }
        drop(damaged);
        // When it was mended, they go on.
        let mended = builder(&store).build();
        assert_eq!(mended.resume().wait().unwrap().unwrap().messages, 3);
        settle(&store);
        let got = seen(&builder(&store).build(), "b").got;
        for from in ["a", "z"] {
            let of = got.iter().filter(|(sender, _)| sender == from).map(|(_, number)| *number);
            assert_eq!(of.collect::<Vec<_>>(), (0..5).collect::<Vec<_>>());
        }
    });
}

/// A message without a receiver in the program stays in the store, and so do those behind it.
#[test]
fn e16_a_message_that_a_program_does_not_know_holds_up_those_behind_it() {
    everywhere(|| {
        let store = MemoryStore::new();
        {
            let with_notices = Journal::builder(Untaken(store.clone()))
                .receives::<Party, Letter>()
                .receives::<Party, Note>()
                .build();
            let step = call(&with_notices.entity::<Party>("a"), |a| {
                a.deliver_to::<Party, _>("b", Note(7));
                post(a, "b");
                post(a, "c");
            });
            step.wait().unwrap();
        }
        let without = builder(&store).build();
        let resumed = without.resume().wait().unwrap().unwrap();
        assert_eq!((resumed.messages, &resumed.unknown[..]), (3, &["note".to_owned()][..]));
        while outgoing(&store, NoteKind::Outgoing) > 2 {
            pass(Duration::from_millis(2));
        }
        pass(Duration::from_millis(5));
        assert_eq!(outgoing(&store, NoteKind::Outgoing), 2);
        let later =
            Journal::builder(store.clone()).receives::<Party, Letter>().receives::<Party, Note>();
        let later = later.build();
        later.resume().wait().unwrap().unwrap();
        settle(&store);
        let got = seen(&builder(&store).build(), "b").got;
        assert_eq!(got, [("note".into(), 7), ("a".into(), 0)]);
    });
}

#[stored(name = "note")]
#[derive(Message)]
struct Note(#[n(0)] u64);

impl Decide<Note> for Party {
    fn decide(party: &mut Durable<Self>, Note(number): Note) {
        party.persist(PartyEvent::Got("note".into(), number));
    }
}

/// A commit that takes a message may be settled as aborted: then it is taken by another one.
#[test]
fn e17_what_was_published_is_taken_though_that_was_aborted_once() {
    everywhere(|| {
        let store = MemoryStore::new();
        let publish = |_: Publication<Notice>| async { Ok::<_, String>(()) };
        let journal = Journal::builder(store.clone()).publishes(publish).build();
        let (once, lost) = (Arc::new(Mutex::new(true)), InTransit::new());
        let transit = lost.clone();
        store.fail(move |operation| match operation {
            StoreOperation::Commit(commit) if !commit.taken().is_empty() => {
                if std::mem::take(&mut *once.lock().unwrap()) {
                    StoreFault::InTransit(transit.clone())
                } else {
                    StoreFault::None
                }
            }
            _ => StoreFault::None,
        });
        call(&journal.entity::<Party>("a"), |a| a.publish(Notice(1))).wait().unwrap();
        settle(&store);
        assert_eq!(lost.let_through(&store).len(), 1);
    });
}

struct Terrible;

impl std::fmt::Display for Terrible {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("as it was told");
    }
}

#[test]
fn e17_a_failure_that_cannot_be_told_is_one() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let publish = |notice: Publication<Notice>| async move {
            if notice.message.0 == 13 { Err(Terrible) } else { Ok(()) }
        };
        let journal = Journal::builder(store.clone()).publishes(publish).attempts(2).build();
        let a = journal.entity::<Party>("a");
        for number in [1, 13, 2] {
            call(&a, move |a| a.publish(Notice(number))).wait().unwrap();
        }
        settle(&store);
        let dead = dead_letters(&journal);
        assert_eq!(dead.len(), 1);
        assert!(dead[0].why.contains("as it was told"), "{}", dead[0].why);
    });
}

/// As when a backup was restored: its entities have the epochs and numbers once more that others
/// had behind it.
#[test]
fn e17_what_is_published_behind_a_backup_is_not_taken_for_what_was() {
    let ids = [1, 2].map(|number| {
        let (tell, told) = std::sync::mpsc::channel();
        let publish = move |notice: Publication<Notice>| {
            tell.send(notice.id).unwrap();
            async { Ok::<_, &str>(()) }
        };
        let journal = Journal::builder(MemoryStore::new()).publishes(publish).build();
        let a = journal.entity::<Party>("a");
        call(&a, move |a| a.publish(Notice(number))).wait().unwrap();
        told.recv().unwrap()
    });
    assert_ne!(ids[0], ids[1]);
}

/// What is delivered waits for a receiver that has another owner by then. That is no failure of the
/// message.
#[test]
fn e16_a_message_whose_receiver_was_replaced_is_delivered() {
    everywhere_with_faults(|_| {
        // A message that no process delivers any more.
        let before = MemoryStore::new();
        let first = Journal::builder(Untaken(before.clone())).receives::<Party, Letter>().build();
        call(&first.entity::<Party>("a"), |a| post(a, "b")).wait().unwrap();
        let left = NoteQuery::Ranked { kind: NoteKind::Outgoing, after: None, up_to: u64::MAX };
        let left = wait(|done| before.notes(left, 1, done)).unwrap().remove(0);
        let store = Manual::default();
        wait(|done| store.1.claim(EntityId::new("party", "a"), done)).unwrap();
        let mut commit = Commit::new();
        commit.leave_note(left);
        assert!(matches!(wait(|done| store.1.commit(commit, done)), StoreOutcome::Committed(_)));
        let journal = Journal::builder(store.clone()).receives::<Party, Letter>().attempts(1);
        let journal = journal.build();
        let b = journal.entity::<Party>("b");
        call(&b, |b| b.persist(PartyEvent::Sent("no one".into()))).wait().unwrap();
        // It is held until the step is stored.
        store.hold();
        let step = call(&b, |b| b.persist(PartyEvent::Sent("no one".into())));
        while store.len() < 1 {
            pass(Duration::from_millis(1));
        }
        assert_eq!(journal.resume().wait().unwrap().unwrap().messages, 1);
        pass(Duration::from_millis(5));
        let owner = wait(|done| store.1.claim(EntityId::new("party", "b"), done)).unwrap();
        assert!(owner.epoch.get() > 1);
        store.release();
        assert!(step.wait().is_err());
        settle(&store.1);
        assert_eq!(outgoing(&store.1, NoteKind::DeadLetter), 0);
        assert_eq!(seen(&journal, "b").got, [("a".into(), 0)]);
    });
}

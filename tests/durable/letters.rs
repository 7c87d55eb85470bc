//! Dead letters and messages of earlier processes, some of them damaged.

use std::time::{Duration, UNIX_EPOCH};

use coact::durable::store::{
    Commit, Note, NoteKind, NoteQuery, RowChecksum, StoreCallback, StoreOutcome, StoreReader, read,
    wait,
};
use coact::durable::{
    CommitRefusal, DeadLetter, Decide, Durable, EntityId, EventSourced, Journal, JournalBuilder,
    MemoryStore, Once, Store, StoreError, stored,
};
use coact::prelude::*;
use coact_tests::{everywhere, everywhere_with_faults};

use crate::failures::pass;
use crate::layers::{Layer, Told, Work, layer};

/// Knows which letters it has got.
#[derive(Default, Clone)]
struct Person(Vec<u64>);

#[stored(name = "person.got")]
struct Got(#[n(0)] u64);

impl EventSourced for Person {
    const KIND: &'static str = "person";
    type Event = Got;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, Got(number): &Got) {
        self.0.push(*number);
    }
}

#[stored(name = "card")]
#[derive(Message)]
struct Card(#[n(0)] u64);

impl Decide<Card> for Person {
    fn decide(person: &mut Durable<Self>, Card(number): Card) {
        assert!(number < 1_000, "it is too heavy");
        person.persist(Got(number));
    }
}

/// A store in memory that shows other notes of some entities than it has, as a file would in which
/// a bit has flipped. It orders ranks as SQLite does: as numbers with a sign.
#[derive(Clone)]
struct Flipped {
    store: MemoryStore,
    keys: &'static [&'static str],
    flip: fn(&mut Note),
    /// The checksum beside a note, given the right one.
    sum: fn(RowChecksum) -> Option<RowChecksum>,
    /// Whether messages can be taken.
    delivers: bool,
}

impl Flipped {
    fn of(store: &MemoryStore) -> Self {
        Self { store: store.clone(), keys: &[], flip: |_| {}, sum: Some, delivers: true }
    }

    fn shown(&self, mut note: Note) -> (Note, Option<RowChecksum>) {
        let sum = (self.sum)(note.sum());
        if self.keys.contains(&note.entity.key()) {
            (self.flip)(&mut note);
        }
        (note, sum)
    }
}

fn place(note: &Note) -> (i64, EntityId, coact::durable::store::NoteKey) {
    (note.rank.cast_signed(), note.entity.clone(), note.key.clone())
}

layer!(Flipped);

impl Layer for Flipped {
    fn pass(&self, work: Work) {
        work(&self.store);
    }

    fn read_notes(&self, which: NoteQuery, most: usize, done: Told<Vec<Note>>) {
        let NoteQuery::Ranked { kind, after, .. } = which else {
            return self.store.notes(which, most, done);
        };
        let mut all: Vec<_> =
            all(&self.store, kind).into_iter().map(|note| self.shown(note)).collect();
        all.sort_by_key(|(note, _)| place(note));
        let after = after.map(|(rank, entity, key)| (rank.cast_signed(), entity, key));
        let behind = all.into_iter().filter(|(note, _)| Some(place(note)) > after);
        done(behind.take(most).map(|(note, sum)| note.check(sum).map(|()| note)).collect());
    }

    fn take_commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        if self.delivers || commit.taken().is_empty() {
            return self.store.commit(commit, done);
        }
        let why = StoreError::Unavailable { why: "it is about to end".into() };
        done(StoreOutcome::Refused(CommitRefusal::Store(why)));
    }
}

fn all(store: &MemoryStore, kind: NoteKind) -> Vec<Note> {
    let which = NoteQuery::Ranked { kind, after: None, up_to: u64::MAX };
    wait(|done| store.notes(which, 1_000_000, done)).unwrap()
}

fn builder(store: &Flipped) -> JournalBuilder {
    Journal::builder(store.clone()).receives::<Person, Card>().attempts(1)
}

fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        pass(Duration::from_millis(1));
    }
}

/// Makes each of these leave a message, and set a timer.
fn leave(journal: &Journal, number: u64) {
    for key in ["a", "b", "c"] {
        let left = call(&journal.entity::<Person>(key), move |person| {
            person.deliver_to::<Person, _>("all", Card(number));
            let due = person.now() + Duration::from_millis(5);
            person.set_timer("t", due, Card(number + 1));
        });
        left.wait().unwrap();
    }
}

/// A change of a note, and of the checksum beside it.
type Damage = (fn(&mut Note), fn(RowChecksum) -> Option<RowChecksum>);

const DAMAGES: [Damage; 5] = [
    (|note| note.value.payload = b"what".to_vec().into(), Some),
    (|note| note.value.payload = b"what".to_vec().into(), |_| None),
    (|note| note.value.version = u32::MAX, |_| None),
    (|note| note.rank |= 1 << 63, Some),
    (|note| note.rank |= 1 << 63, |_| None),
];

#[test]
fn e22_a_damaged_dead_letter_is_told_by_itself() {
    everywhere_with_faults(|_| {
        for (flip, sum) in DAMAGES {
            let store = MemoryStore::new();
            let first = builder(&Flipped::of(&store)).build();
            leave(&first, 1_000);
            wait_until(|| all(&store, NoteKind::DeadLetter).len() == 6);
            let flipped = Flipped { keys: &["b"], flip, sum, ..Flipped::of(&store) };
            let journal = builder(&flipped).build();
            let dead = journal.dead_letters(99).wait().unwrap().unwrap();
            let sound = dead.iter().flatten().map(|letter| letter.from.key());
            assert_eq!(sound.clone().count(), 4);
            assert!(sound.clone().all(|from| from != "b"));
            let damaged: Vec<_> = dead.iter().filter_map(|letter| letter.as_ref().err()).collect();
            assert!(damaged.iter().all(|letter| letter.from.key() == "b"), "{damaged:?}");
            let text = damaged[0].to_string();
            assert!(text.contains("of `person/b` is damaged: it"), "{text}");
            assert_eq!(journal.dead_letters(3).wait().unwrap().unwrap().len(), 3);
            assert_eq!(journal.dead_letters(0).wait().unwrap(), Ok(Vec::new()));
            for letter in dead.iter().flatten() {
                assert_eq!(journal.discard(letter).wait(), Ok(Ok(())));
            }
            // (This store has the right ranks, and shows others.)
            if flipped.shown(all(&store, NoteKind::DeadLetter)[0].clone()).0.rank >> 63 == 0 {
                assert_eq!(damaged.len(), 2);
                for letter in damaged {
                    assert_eq!(journal.discard(letter).wait(), Ok(Ok(())));
                }
                assert!(all(&store, NoteKind::DeadLetter).is_empty());
            }
        }
    });
}

#[test]
fn e22_what_is_damaged_is_named_and_others_are_resumed() {
    everywhere(|| {
        let keys: [&[&str]; 2] = [&["b"], &["b", "c"]];
        for ((flip, sum), keys) in DAMAGES.into_iter().flat_map(|it| keys.map(|keys| (it, keys))) {
            let store = MemoryStore::new();
            let ends = Flipped { delivers: false, ..Flipped::of(&store) };
            leave(&builder(&ends).build(), 1);
            let flipped = Flipped { keys, flip, sum, ..Flipped::of(&store) };
            let journal = builder(&flipped).build();
            let told = journal.resume().wait().unwrap().unwrap_err();
            let StoreError::CorruptNote { note, .. } = &told else { panic!("{told}") };
            assert_eq!((note.entity.key(), note.kind), ("b", NoteKind::Outgoing));
            for kind in [NoteKind::Outgoing, NoteKind::Timer] {
                wait_until(|| all(&store, kind).len() == keys.len());
                assert!(all(&store, kind).iter().all(|note| keys.contains(&note.entity.key())));
            }
            drop(journal);
            let resumed = builder(&Flipped::of(&store)).build().resume().wait().unwrap().unwrap();
            assert_eq!((resumed.messages, resumed.timers), (keys.len(), keys.len()));
            let counts = ["1 message and 1 timer", "2 messages and 2 timers"][keys.len() - 1];
            assert_eq!(resumed.to_string(), format!("earlier processes have left {counts}"));
        }
    });
}

#[test]
fn dead_letters_say_what_they_are() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = builder(&Flipped::of(&store)).build();
        let left = call(&journal.entity::<Person>("a"), |person| {
            person.deliver_to::<Person, _>("b", Card(1_000));
        });
        left.wait().unwrap();
        wait_until(|| all(&store, NoteKind::DeadLetter).len() == 1);
        let dead = journal.dead_letters(1).wait().unwrap().unwrap();
        let mut letter: DeadLetter = dead[0].clone().unwrap();
        assert_eq!(read::<Card>(&letter.message).unwrap().0, 1_000);
        letter.since = UNIX_EPOCH + Duration::from_secs(951_868_799);
        let text = letter.to_string();
        let begins = "the message `card` of `person/a` to `person/b` is a dead letter since 2000-02-29 23:59:59 UTC: ";
        assert!(text.starts_with(begins) && text.ends_with("it is too heavy"), "{text}");
        letter.to = None;
        assert!(letter.to_string().contains("of `person/a` to be published is"), "{letter}");
    });
}

#[test]
fn old_answers_are_forgotten_though_one_is_damaged() {
    let store = MemoryStore::new();
    let flip: fn(&mut Note) = |note| note.value.payload = b"what".to_vec().into();
    let flipped = Flipped { keys: &["b"], flip, ..Flipped::of(&store) };
    let journal = Journal::builder(flipped).answers_for(Duration::from_millis(1)).build();
    let [a, b] = ["a", "b"].map(|key| journal.entity::<Person>(key));
    b.ask(Once::new("first", Card(1))).wait().unwrap();
    for round in 0..4 {
        let ask = |n| a.ask(Once::new(format!("{round} {n}"), Card(1)));
        let asked: Vec<_> = (0..1_024).map(ask).collect();
        asked.into_iter().for_each(|asked| asked.wait().unwrap());
        pass(Duration::from_millis(5));
    }
    wait_until(|| all(&store, NoteKind::ClientAnswer).len() <= 2_048);
    assert!(all(&store, NoteKind::ClientAnswer).iter().any(|note| note.entity.key() == "b"));
}

//! What another version of a program reads of what a first one has stored.

use std::time::Duration;

use coact::actor::{AskError, ExitReason};
use coact::durable::{
    Decide, Durable, EntityId, EventSourced, IdempotencyKeyReused, Journal, LogError, MemoryStore,
    NotCommitted, Once, Position, RecoveryError, RecoveryFault, Seq, Snapshots, stored,
};
use coact::prelude::*;
use coact::sim::{Config, Method, Sim};

use crate::failures::pass;

/// The first version of the program.
mod first {
    use super::*;

    #[stored(name = "evolving.paid")]
    pub struct Paid(#[n(0)] pub u64);

    #[derive(Message)]
    #[message(reply = u64)]
    pub struct Pay(pub u64);

    #[stored(name = "evolving.remind")]
    #[derive(Message)]
    pub struct Remind(#[n(0)] pub u64);

    #[derive(Default)]
    pub struct Purse(pub u64);

    impl EventSourced for Purse {
        const KIND: &'static str = "evolving.purse";
        type Event = Paid;
        fn new(_: &EntityId) -> Self {
            Self(0)
        }
        fn apply(&mut self, Paid(euros): &Paid) {
            self.0 += euros;
        }
    }

    impl Decide<Pay> for Purse {
        fn decide(purse: &mut Durable<Self>, Pay(euros): Pay) -> u64 {
            purse.persist(Paid(euros));
            purse.0
        }
    }

    impl Decide<Remind> for Purse {
        fn decide(purse: &mut Durable<Self>, Remind(euros): Remind) {
            purse.persist(Paid(euros));
        }
    }
}

/// The second one, which counts cents.
mod second {
    use super::*;

    #[stored(name = "evolving.paid", version = 2, earlier = first::Paid)]
    pub struct Paid(#[n(0)] pub u64);

    impl From<first::Paid> for Paid {
        fn from(first::Paid(euros): first::Paid) -> Self {
            assert_ne!(euros, 13, "unlucky");
            Self(100 * euros)
        }
    }

    #[derive(Message)]
    #[message(reply = u64)]
    pub struct Pay(pub u64);

    #[stored(name = "evolving.remind", version = 2, earlier = first::Remind)]
    #[derive(Message)]
    pub struct Remind(#[n(0)] pub u64);

    impl From<first::Remind> for Remind {
        fn from(first::Remind(euros): first::Remind) -> Self {
            assert_ne!(euros, 13, "unlucky");
            Self(100 * euros)
        }
    }

    #[derive(Default)]
    pub struct Purse(pub u64);

    impl EventSourced for Purse {
        const KIND: &'static str = "evolving.purse";
        type Event = Paid;
        fn new(_: &EntityId) -> Self {
            Self(0)
        }
        fn apply(&mut self, Paid(cents): &Paid) {
            self.0 += cents;
        }
    }

    impl Decide<Pay> for Purse {
        fn decide(purse: &mut Durable<Self>, Pay(cents): Pay) -> u64 {
            purse.persist(Paid(cents));
            purse.0
        }
    }

    impl Decide<Remind> for Purse {
        fn decide(purse: &mut Durable<Self>, Remind(cents): Remind) {
            purse.persist(Paid(cents));
        }
    }
}

mod odd {
    use super::*;
    use coact::durable::minicbor::{self, Decode, Decoder, Encode, Encoder};

    /// One that panics when it is read.
    #[derive(Debug, PartialEq)]
    pub struct Odd(pub u8);

    impl<C> Encode<C> for Odd {
        fn encode<W: minicbor::encode::Write>(
            &self,
            e: &mut Encoder<W>,
            _: &mut C,
        ) -> Result<(), minicbor::encode::Error<W::Error>> {
            e.u8(self.0)?.ok()
        }
    }

    impl<'b, C> Decode<'b, C> for Odd {
        fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
            match d.u8()? {
                13 => panic!("unlucky"),
                n => Ok(Self(n)),
            }
        }
    }

    #[derive(Message)]
    #[message(reply = Odd)]
    pub struct Number(pub u8);

    impl Decide<Number> for first::Purse {
        fn decide(purse: &mut Durable<Self>, Number(n): Number) -> Odd {
            purse.persist(first::Paid(n.into()));
            Odd(n)
        }
    }

    /// One that panics when its snapshots are read.
    pub struct UnluckyCount(pub u64);

    impl EventSourced for UnluckyCount {
        const KIND: &'static str = "evolving.kept";
        type Event = first::Paid;
        fn new(_: &EntityId) -> Self {
            Self(0)
        }
        fn apply(&mut self, first::Paid(euros): &first::Paid) {
            self.0 += euros;
        }
        fn snapshots() -> Option<Snapshots<Self>> {
            let by = Snapshots::by(
                |kept: &Self| coact::durable::store::write(&first::Paid(kept.0)),
                |event| {
                    let first::Paid(n) = coact::durable::store::read(event)?;
                    assert_ne!(n % 100, 13, "unlucky");
                    Ok(Self(n))
                },
            );
            Some(by.and_every(3).trimming())
        }
    }
}

fn refused<T: std::fmt::Debug>(told: Result<T, AskError>) -> NotCommitted {
    match told {
        Err(AskError::NotCommitted(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn e7_an_earlier_program_names_the_event_of_a_later_one_and_leaves_it() {
    let store = MemoryStore::new();
    let before = Journal::new(store.clone()).entity::<first::Purse>("a");
    assert_eq!(before.ask(first::Pay(7)).wait(), Ok(7));
    let after = Journal::new(store.clone()).entity::<second::Purse>("a");
    assert_eq!(after.ask(second::Pay(5)).wait(), Ok(705));

    let earlier = Journal::new(store.clone());
    for _ in 0..2 {
        let told = refused(earlier.entity::<first::Purse>("a").ask(first::Pay(1)).wait());
        let error = told.why::<RecoveryError>().unwrap();
        assert_eq!((error.seq, &*error.entity.to_string()), (Seq::new(2), "evolving.purse/a"));
        let why = error.to_string();
        assert!(
            why.contains("version 2, and this program knows up to 1: use the program"),
            "{why}"
        );
    }
    let mut log = earlier.log::<first::Purse>(Position::ZERO);
    assert_eq!(log.wait_next().unwrap().event.0, 7);
    assert!(matches!(log.wait_next(), Err(LogError::Format { seq, .. }) if seq == Seq::new(2)));
    assert!(matches!(log.wait_next(), Err(LogError::Ended)));

    let after = Journal::new(store).entity::<second::Purse>("a");
    assert_eq!(call(&after, |purse| purse.0).wait(), Ok(705));
}

#[test]
fn e7_a_conversion_that_panics_names_the_event() {
    let store = MemoryStore::new();
    let before = Journal::new(store.clone()).entity::<first::Purse>("a");
    for euros in [1, 13] {
        before.ask(first::Pay(euros)).wait().unwrap();
    }
    let after = Journal::new(store.clone()).entity::<second::Purse>("a");
    let told = refused(after.ask(second::Pay(1)).wait());
    let error = told.why::<RecoveryError>().unwrap();
    assert_eq!(error.seq, Seq::new(2));
    assert!(matches!(&error.why, RecoveryFault::Panicked(why) if why.contains("unlucky")));
    let before = Journal::new(store).entity::<first::Purse>("a");
    assert_eq!(call(&before, |purse| purse.0).wait(), Ok(14));
}

#[test]
fn e7_a_snapshot_whose_reading_panics_is_named() {
    let store = MemoryStore::new();
    let kept = Journal::new(store.clone()).entity::<odd::UnluckyCount>("a");
    for euros in [6, 6, 100, 1, 0, 0, 0, 0] {
        call(&kept, move |kept| kept.persist(first::Paid(euros))).wait().unwrap();
    }
    let kept = Journal::new(store).entity::<odd::UnluckyCount>("a");
    match kept.ended().wait().unwrap() {
        // (Events before that are not stored any more.)
        ExitReason::Failed(why) => assert!(
            why.contains(
                "`evolving.kept/a` cannot be recovered from event 6 on: the program panicked"
            ),
            "{why}"
        ),
        other => panic!("{other}"),
    }
}

/// It was decided on, so no one is told that a decision has panicked, and no number of clients that
/// ask again ends the actor.
#[test]
fn e18_an_answer_whose_reading_panics_is_that_of_another_command() {
    let journal = Journal::new(MemoryStore::new());
    let purse = journal.entity::<first::Purse>("a");
    assert_eq!(purse.ask(Once::new("number/1", odd::Number(13))).wait(), Ok(odd::Odd(13)));
    for _ in 0..6 {
        let told = refused(purse.ask(Once::new("number/1", odd::Number(13))).wait());
        assert!(told.why::<IdempotencyKeyReused>().is_some(), "{told}");
    }
    assert_eq!(purse.ask(Once::new("number/2", odd::Number(12))).wait(), Ok(odd::Odd(12)));
    assert_eq!(call(&purse, |purse| purse.0).wait(), Ok(25));
}

/// Messages and timers that a program cannot read, as a later version of it has left them, are dead
/// letters, which the later one delivers.
#[test]
fn e16_what_a_later_program_has_left_is_a_dead_letter_of_an_earlier_one() {
    // (In virtual time: nothing is due before the earlier program runs.)
    Sim::new().config(Config::new().method(Method::Random).runs(20)).check(|| {
        let store = MemoryStore::new();
        let later =
            || Journal::builder(store.clone()).receives::<second::Purse, second::Remind>().build();
        {
            let journal =
                Journal::builder(store.clone()).receives::<second::Purse, second::Remind>().build();
            let purse = journal.entity::<second::Purse>("b");
            let set = call(&purse, |purse| {
                let due = purse.now() + Duration::from_secs(3);
                purse.set_timer("once", due, second::Remind(1_300));
                purse.set_periodic_timer(
                    "often",
                    due,
                    Duration::from_secs(100_000),
                    second::Remind(50),
                );
            });
            set.wait().unwrap();
            drop(purse);
            journal.close(Duration::from_secs(60)).wait().unwrap().unwrap();
        }
        let earlier =
            Journal::builder(store.clone()).receives::<first::Purse, first::Remind>().build();
        let resumed = earlier.resume().wait().unwrap().unwrap();
        assert_eq!((resumed.timers, resumed.unknown.len()), (2, 0));
        let letters = loop {
            let letters = earlier.dead_letters(10).wait().unwrap().unwrap();
            if letters.len() == 2 {
                break letters;
            }
            pass(Duration::from_millis(10));
        };
        drop(earlier);

        let later = later();
        // The one with a period goes on.
        assert_eq!(later.resume().wait().unwrap().unwrap().timers, 1);
        for letter in letters {
            let letter = letter.unwrap();
            assert!(letter.why.contains("`evolving.remind` of version 2"), "{letter}");
            later.redeliver(&letter).wait().unwrap().unwrap();
            assert!(later.redeliver(&letter).wait().unwrap().is_err());
        }
        let purse = later.entity::<second::Purse>("b");
        while call(&purse, |purse| purse.0).wait().unwrap() < 1_350 {
            pass(Duration::from_millis(10));
        }
        assert_eq!(call(&purse, |purse| purse.0).wait(), Ok(1_350));
    });
}

//! Values that one version of a program has stored, and another cannot read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use coact::actor::ExitReason;
use coact::durable::store::{StoreFault, StoreOperation, StoreReader, read, wait, write};
use coact::durable::{
    Decide, Durable, DurableState, EntityId, EventSourced, Journal, MemoryStore, Seq, Snapshots,
    stored,
};
use coact::prelude::*;
use coact_tests::everywhere;

use crate::failures::pass;

#[stored(name = "counter.added")]
struct Added(#[n(0)] u64);

/// A snapshot of the earlier program.
#[stored(name = "counter")]
struct Before(#[n(0)] u64);

/// And of this one, which has given it no new version.
mod now {
    use super::*;

    #[stored(name = "counter")]
    pub struct Now(#[n(0)] pub u64, #[n(1)] pub String);
}

use self::now::Now;

/// The same kind of entity in both programs.
struct Counter<const IS_NOW: bool, const TRIMS: bool>(u64);

impl<const IS_NOW: bool, const TRIMS: bool> EventSourced for Counter<IS_NOW, TRIMS> {
    const KIND: &'static str = "counter";
    type Event = Added;

    fn new(_: &EntityId) -> Self {
        Self(0)
    }

    fn apply(&mut self, Added(by): &Added) {
        self.0 += by;
    }

    fn snapshots() -> Option<Snapshots<Self>> {
        let by = if IS_NOW {
            Snapshots::by(
                |counter: &Self| write(&Now(counter.0, "now".to_owned())),
                |event| read(event).map(|Now(sum, _)| Self(sum)),
            )
        } else {
            Snapshots::by(
                |counter: &Self| write(&Before(counter.0)),
                |event| read(event).map(|Before(sum)| Self(sum)),
            )
        };
        let by = by.and_every(4);
        Some(if TRIMS { by.trimming() } else { by })
    }
}

fn counter_id() -> EntityId {
    EntityId::new("counter", "a")
}

fn add<E: EventSourced<Event = Added>>(counter: &Addr<Durable<E>>, count: u64) {
    (0..count).for_each(|_| call(counter, |it| it.persist(Added(1))).wait().unwrap());
}

fn kept(store: &MemoryStore) -> Vec<u64> {
    let snapshots = wait(|done| store.snapshots(counter_id(), done)).unwrap();
    snapshots.iter().map(|one| one.seq.get()).collect()
}

fn stopped<E: EventSourced>(entity: &Addr<Durable<E>>) -> Arc<str> {
    match entity.ended().wait().unwrap() {
        ExitReason::Failed(why) => why,
        other => panic!("{other}"),
    }
}

#[test]
fn e7_events_serve_where_a_snapshot_cannot_be_read() {
    everywhere(|| {
        let store = MemoryStore::new();
        add(&Journal::new(store.clone()).entity::<Counter<false, false>>("a"), 9);
        assert_eq!(kept(&store), [8, 4]);
        let counter = Journal::new(store.clone()).entity::<Counter<true, true>>("a");
        assert_eq!(call(&counter, |counter| counter.0).wait(), Ok(9));
        // Its own ones take their place, before any event is removed.
        add(&counter, 1);
        assert_eq!(kept(&store), [10, 8]);
        add(&counter, 3);
        let events = || wait(|done| store.events(counter_id(), Seq::ZERO, 100, done)).unwrap();
        assert_eq!(events().len(), 13);
        add(&counter, 5);
        assert_eq!(kept(&store), [18, 14]);
        assert_eq!(events().first().unwrap().seq, Seq::new(15));
        let again = Journal::new(store.clone()).entity::<Counter<true, true>>("a");
        assert_eq!(call(&again, |counter| counter.0).wait(), Ok(18));
    });
}

#[test]
fn e7_a_snapshot_that_cannot_be_read_is_told_where_events_were_removed() {
    everywhere(|| {
        let store = MemoryStore::new();
        add(&Journal::new(store.clone()).entity::<Counter<false, true>>("a"), 9);
        let stops =
            || stopped(&Journal::new(store.clone()).entity::<Counter<true, true>>("a")).to_string();
        let why = stops();
        for fact in [
            "`counter/a` cannot be recovered from event 8 on: the snapshot up to it",
            "it is no `counter` of version 1",
            "give it a new version",
            "Nothing stored was changed",
        ] {
            assert_eq!(why.matches(fact).count(), 1, "{why}");
        }
        assert!(!why.contains("backup"), "{why}");
        assert_eq!(stops(), why);
        let before = Journal::new(store.clone()).entity::<Counter<false, true>>("a");
        assert_eq!(call(&before, |counter| counter.0).wait(), Ok(9));
    });
}

/// The same kind of entity in a program that has no snapshots.
struct Plain(u64);

impl EventSourced for Plain {
    const KIND: &'static str = "counter";
    type Event = Added;

    fn new(_: &EntityId) -> Self {
        Self(0)
    }

    fn apply(&mut self, Added(by): &Added) {
        self.0 += by;
    }
}

#[test]
fn e7_a_program_without_snapshots_takes_events_and_says_what_it_lacks() {
    everywhere(|| {
        let store = MemoryStore::new();
        add(&Journal::new(store.clone()).entity::<Counter<false, false>>("a"), 9);
        let plain = Journal::new(store).entity::<Plain>("a");
        assert_eq!(call(&plain, |plain| plain.0).wait(), Ok(9));

        let store = MemoryStore::new();
        add(&Journal::new(store.clone()).entity::<Counter<false, true>>("a"), 9);
        let why = stopped(&Journal::new(store).entity::<Plain>("a"));
        assert!(why.contains("`EventSourced::snapshots` says that there are none"), "{why}");
        assert!(why.contains("from event 8 on") && !why.contains("backup"), "{why}");
    });
}

#[stored(name = "level")]
#[derive(Clone)]
struct Level(#[n(0)] u64);

impl DurableState for Level {
    const KIND: &'static str = "level";

    fn new(_: &EntityId) -> Self {
        Self(0)
    }
}

mod later {
    use super::*;

    #[stored(name = "level")]
    #[derive(Clone)]
    pub struct Level(#[n(0)] pub u64, #[n(1)] pub u64);

    impl DurableState for Level {
        const KIND: &'static str = "level";

        fn new(_: &EntityId) -> Self {
            Self(0, 0)
        }
    }
}

#[test]
fn e7_a_state_that_cannot_be_read_is_told() {
    everywhere(|| {
        let store = MemoryStore::new();
        let level = Journal::new(store.clone()).entity::<Level>("a");
        for _ in 0..3 {
            call(&level, |level| level.update(|level| level.0 += 1)).wait().unwrap();
        }
        drop(level);
        let why = stopped(&Journal::new(store.clone()).entity::<later::Level>("a"));
        assert!(
            why.contains(
                "cannot be recovered from event 3 on: the snapshot up to it, or the state"
            )
        );
        assert!(why.contains("it is no `level` of version 1"), "{why}");
    });
}

/// A message that is undelivered when the program is replaced by an earlier version for a while.
#[test]
fn e16_a_message_waits_for_a_receiver_that_the_program_cannot_read() {
    let store = MemoryStore::new();
    add(&Journal::new(store.clone()).entity::<Counter<false, true>>("a"), 9);
    let recoveries = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&recoveries);
    store.fail(move |operation| {
        if matches!(operation, StoreOperation::Claim(id) if **id == counter_id()) {
            seen.fetch_add(1, SeqCst);
        }
        StoreFault::None
    });
    let other =
        Journal::builder(store.clone()).receives::<Counter<true, true>, Add>().attempts(2).build();
    let sender = other.entity::<Level>("sender");
    call(&sender, |sender| sender.deliver_to::<Counter<true, true>, _>("a", Add(1)))
        .wait()
        .unwrap();
    while recoveries.load(SeqCst) < 5 {
        pass(Duration::from_millis(5));
        assert_eq!(other.dead_letters(10).wait().unwrap().unwrap().len(), 0);
    }
    drop((sender, other));

    let right = Journal::builder(store.clone()).receives::<Counter<false, true>, Add>().build();
    right.resume().wait().unwrap().unwrap();
    let counter = right.entity::<Counter<false, true>>("a");
    while call(&counter, |counter| counter.0).wait() != Ok(10) {
        pass(Duration::from_millis(5));
    }
}

#[stored(name = "counter.add")]
#[derive(Message)]
struct Add(#[n(0)] u64);

impl<const IS_NOW: bool, const TRIMS: bool> Decide<Add> for Counter<IS_NOW, TRIMS> {
    fn decide(counter: &mut Durable<Self>, Add(by): Add) {
        counter.persist(Added(by));
    }
}

//! Timers that are stored.

use std::time::{Duration, UNIX_EPOCH};

use coact::durable::store::{Commit, NoteKind, NoteQuery, StoreOutcome, StoreReader, read, wait};
use coact::durable::{
    Decide, Durable, EntityId, EventSourced, Journal, JournalBuilder, MemoryStore, ScheduledTimer,
    Store, stored,
};
use coact::prelude::*;
use coact::runtime::Runtime;
use coact::sim::{Config, Method, Sim};
use coact_tests::{everywhere, everywhere_with_faults};

use crate::failures::pass;
use crate::manual::Manual;
use crate::slow::Slow;

/// Records which of its timers were due.
#[derive(Default, Clone, Debug, PartialEq)]
struct Clock(Vec<String>);

#[stored(name = "clock.rang")]
struct Rang(#[n(0)] String);

impl EventSourced for Clock {
    const KIND: &'static str = "clock";
    type Event = Rang;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, Rang(name): &Rang) {
        self.0.push(name.clone());
    }
}

#[stored(name = "clock.ring")]
#[derive(Message)]
struct Ring(#[n(0)] String);

impl Decide<Ring> for Clock {
    fn decide(clock: &mut Durable<Self>, Ring(name): Ring) {
        assert!(name != "bad", "as it was told");
        if name == "thrice" && clock.0.len() == 2 {
            clock.cancel_timer("t");
        }
        clock.persist(Rang(name));
    }
}

const MS: Duration = Duration::from_millis(1);

fn builder(store: &MemoryStore) -> JournalBuilder {
    Journal::builder(store.clone()).receives::<Clock, Ring>()
}

fn clock(journal: &Journal) -> Addr<Durable<Clock>> {
    journal.entity("clock")
}

fn set(clock: &Addr<Durable<Clock>>, name: &'static str, after: u32, text: &'static str) {
    let set = call(clock, move |clock| {
        let due = clock.now() + after * MS;
        clock.set_timer(name, due, Ring(text.into()));
    });
    set.wait().unwrap();
}

fn notes(store: &MemoryStore, kind: NoteKind) -> usize {
    let which = NoteQuery::Ranked { kind, after: None, up_to: u64::MAX };
    wait(|done| store.notes(which, 100, done)).unwrap().len()
}

fn wait_for(journal: &Journal, rings: usize) -> Vec<String> {
    loop {
        let rang = call(&clock(journal), |clock| clock.0.clone()).wait().unwrap();
        if rang.len() >= rings {
            return rang;
        }
        pass(MS);
    }
}

#[test]
fn e19_a_timer_is_due_once_though_the_entity_has_no_actor() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = builder(&store).build();
        set(&clock(&journal), "a", 40, "second");
        set(&clock(&journal), "b", 10, "first");
        assert_eq!(notes(&store, NoteKind::Timer), 2);
        assert_eq!(wait_for(&journal, 2), ["first", "second"]);
        assert_eq!(notes(&store, NoteKind::Timer), 0);
    });
}

#[test]
fn e19_a_timer_that_is_set_again_or_cancelled_is_none_any_more() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = builder(&store).build();
        let clock = clock(&journal);
        // (Time passes on a busy machine: they are not due before they are set again.)
        set(&clock, "a", 400, "never");
        set(&clock, "a", 420, "later");
        set(&clock, "b", 400, "nor this");
        call(&clock, |clock| clock.cancel_timer("b")).wait().unwrap();
        set(&clock, "c", 1_000_000, "nor that");
        set(&clock, "c", 430, "earlier");
        // In one decision, the last counts.
        let both = call(&clock, |clock| {
            let now = clock.now();
            clock.set_timer("d", now, Ring("not at once".into()));
            clock.cancel_timer("d");
            clock.set_timer("e", now, Ring("no".into()));
            clock.set_timer("e", now + 450 * MS, Ring("last".into()));
        });
        both.wait().unwrap();
        // (Timers of different keys have no order: on a busy machine two are due by the same look.)
        let mut rang = wait_for(&journal, 3);
        rang.sort();
        assert_eq!(rang, ["earlier", "last", "later"]);
        assert_eq!(notes(&store, NoteKind::Timer), 0);
    });
}

#[test]
fn e19_a_later_process_goes_on_with_timers() {
    everywhere(|| {
        let store = MemoryStore::new();
        // One that is far away does not keep its runtime from being idle for ever: it is cancelled.
        {
            let journal = builder(&store).build();
            set(&clock(&journal), "a", 60, "missed");
            set(&clock(&journal), "b", 1_000_000_000, "far");
        }
        let journal = builder(&store).build();
        let resumed = journal.resume().wait().unwrap().unwrap();
        assert_eq!((resumed.messages, resumed.timers), (0, 2));
        assert_eq!(wait_for(&journal, 1), ["missed"]);
        call(&clock(&journal), |clock| clock.cancel_timer("b")).wait().unwrap();
        assert_eq!(notes(&store, NoteKind::Timer), 0);
    });
}

#[test]
fn e19_times_that_were_missed_are_one() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = builder(&store).build();
        let set = call(&clock(&journal), |clock| {
            // A hundred of them were missed, and the next is some time ahead.
            let first = clock.now().checked_sub(100_500 * MS).unwrap_or(std::time::UNIX_EPOCH);
            clock.set_periodic_timer("t", first, 1_000 * MS, Ring("period".into()));
        });
        set.wait().unwrap();
        assert_eq!(wait_for(&journal, 1).len(), 1);
        let left = NoteQuery::Ranked { kind: NoteKind::Timer, after: None, up_to: u64::MAX };
        assert_eq!(wait(|done| store.notes(left, 9, done)).unwrap().len(), 1);
        call(&clock(&journal), |clock| clock.cancel_timer("t")).wait().unwrap();
        // Its own decision cancels it.
        let set = call(&clock(&journal), |clock| {
            let first = clock.now();
            clock.set_periodic_timer("t", first, MS, Ring("thrice".into()));
        });
        set.wait().unwrap();
        assert_eq!(wait_for(&journal, 3), ["period", "thrice", "thrice"]);
        while notes(&store, NoteKind::Timer) > 0 {
            pass(MS);
        }
        pass(20 * MS);
        assert_eq!(wait_for(&journal, 3).len(), 3);
    });
}

#[test]
fn a_timer_whose_decision_panics_is_a_dead_letter_and_goes_on() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = builder(&store).attempts(1).build();
        let set = call(&clock(&journal), |clock| {
            let now = clock.now();
            clock.set_periodic_timer("t", now, 20 * MS, Ring("bad".into()));
        });
        set.wait().unwrap();
        while notes(&store, NoteKind::DeadLetter) < 2 {
            pass(MS);
        }
        assert_eq!(notes(&store, NoteKind::Timer), 1);
        call(&clock(&journal), |clock| clock.cancel_timer("t")).wait().unwrap();
        let dead = journal.dead_letters(1).wait().unwrap().unwrap();
        assert_eq!(dead[0].as_ref().unwrap().to, Some(EntityId::new("clock", "clock")));
    });
}

#[test]
fn e15_timers_of_what_is_deleted_are_gone() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = builder(&store).build();
        let clock = clock(&journal);
        set(&clock, "a", 5, "never");
        let deleted = call(&clock, |clock| {
            let due = clock.now() + MS;
            clock.set_timer("b", due, Ring("nor this".into()));
            clock.delete();
            clock.set_timer("c", due + 19 * MS, Ring("of the next".into()));
        });
        deleted.wait().unwrap();
        assert_eq!(wait_for(&journal, 1), ["of the next"]);
        assert_eq!(notes(&store, NoteKind::Timer), 0);
    });
}

#[test]
fn e19_a_timer_that_is_set_again_for_the_same_time_is_the_last_one() {
    everywhere(|| {
        let journal = builder(&MemoryStore::new()).build();
        let set = call(&clock(&journal), |clock| {
            let due = clock.now();
            clock.set_timer("t", due, Ring("no".into()));
            clock.set_timer("t", due, Ring("first".into()));
        });
        set.wait().unwrap();
        assert_eq!(wait_for(&journal, 1), ["first"]);
        for text in ["perhaps", "second"] {
            let due = std::time::UNIX_EPOCH;
            when(&clock(&journal), move |clock| clock.set_timer("t", due, Ring(text.into())));
        }
        while wait_for(&journal, 2).last().unwrap() != "second" {
            pass(MS);
        }
    });
}

/// They do not keep the runtime from being idle.
#[test]
fn e15_timers_of_what_is_deleted_are_not_waited_for() {
    let runtime = coact_tests::runtime(2, &coact_tests::Faults::new());
    runtime.run(|| {
        let journal = builder(&MemoryStore::new()).build();
        let clock = clock(&journal);
        set(&clock, "a", 1_000_000_000, "never");
        call(&clock, |clock| clock.delete()).wait().unwrap();
    });
}

/// Sets, replaces and cancels some. Returns those that are set then, with their messages.
fn some_timers(clock: &mut Durable<Clock>) -> Vec<(String, Option<Duration>, String)> {
    let due = UNIX_EPOCH + 5_000_000 * MS;
    clock.set_timer("replaced", due, Ring("before".into()));
    clock.set_periodic_timer("period", due + 2 * MS, 3 * MS, Ring("again".into()));
    clock.set_timer("cancelled", due, Ring("never".into()));
    clock.set_timer("replaced", due + MS, Ring("after".into()));
    clock.cancel_timer("cancelled");
    clock.cancel_timer("none");
    let timers = clock.timers();
    assert_eq!((timers[0].due, timers[1].due), (due + 2 * MS, due + MS));
    let told = |timer: ScheduledTimer| {
        let Ring(text) = read(&timer.message).unwrap();
        (timer.name, timer.period, text)
    };
    timers.into_iter().map(told).collect()
}

#[test]
fn the_timers_that_a_decision_sets_are_seen() {
    let expected = [
        ("period".into(), Some(3 * MS), "again".into()),
        ("replaced".into(), None, "after".into()),
    ];
    let mut alone = Durable::standalone(Clock::default());
    assert_eq!(some_timers(&mut alone), expected);
    alone.delete();
    assert_eq!(alone.timers(), []);
    everywhere(move || {
        let clock = clock(&builder(&MemoryStore::new()).build());
        assert_eq!(call(&clock, some_timers).wait(), Ok(expected.to_vec()));
        // Those of an earlier decision are not this one's.
        assert_eq!(call(&clock, |clock| clock.timers()).wait(), Ok(Vec::new()));
    });
}

/// The one before is delivered again and again, and knows its note by its time.
#[test]
fn e19_a_timer_that_is_set_again_for_the_same_time_takes_the_place_of_one_that_has_failed() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = builder(&store).attempts(1_000).build();
        let due = call(&clock(&journal), |clock| clock.now() + MS).wait().unwrap();
        let set = |text: &'static str| {
            let set =
                call(&clock(&journal), move |clock| clock.set_timer("t", due, Ring(text.into())));
            set.wait().unwrap();
        };
        set("bad");
        // (Its decision panics, and the state is recovered.)
        for _ in 0..9 {
            pass(MS);
        }
        set("good");
        assert_eq!(wait_for(&journal, 1), ["good"]);
        drop(journal);
        let journal = builder(&store).build();
        assert_eq!(journal.resume().wait().unwrap().unwrap().timers, 0);
        assert_eq!((notes(&store, NoteKind::DeadLetter), wait_for(&journal, 1).len()), (0, 1));
    });
}

#[test]
fn e19_timers_of_a_runtime_that_has_ended_are_due_in_another() {
    let journal = builder(&MemoryStore::new()).build();
    let ended = Runtime::builder().workers(1).build().unwrap();
    {
        let _entered = ended.enter();
        set(&clock(&journal), "t", 200, "late");
    }
    ended.shutdown(MS);
    assert_eq!(journal.resume().wait().unwrap().unwrap().timers, 1);
    assert_eq!(wait_for(&journal, 1), ["late"]);
}

/// Tells whether it comes before its time.
#[stored(name = "clock.be-punctual")]
#[derive(Message)]
struct BePunctual(#[n(0)] u64);

impl Decide<BePunctual> for Clock {
    fn decide(clock: &mut Durable<Self>, BePunctual(nanos): BePunctual) {
        let is_early = clock.now() < UNIX_EPOCH + Duration::from_nanos(nanos);
        clock.persist(Rang(if is_early { "early" } else { "punctual" }.into()));
    }
}

/// Times are stored in milliseconds, and what is decided on is exact.
#[test]
fn e19_a_timer_is_not_due_before_its_time() {
    everywhere(|| {
        let journal = Journal::builder(MemoryStore::new()).receives::<Clock, BePunctual>().build();
        for round in 0..10 {
            // (Somewhere between two milliseconds, also of virtual time.)
            pass(Duration::from_micros(130));
            let set = call(&clock(&journal), move |clock| {
                let due = clock.now() + Duration::from_micros(300 + 170 * round);
                let nanos = due.duration_since(UNIX_EPOCH).unwrap().as_nanos();
                let message = BePunctual(u64::try_from(nanos).unwrap());
                clock.set_timer(&format!("t{round}"), due, message);
            });
            set.wait().unwrap();
        }
        assert_eq!(wait_for(&journal, 10), ["punctual"; 10]);
    });
}

/// The last change that is stored counts, whatever is due, delivered, made a dead letter or resumed
/// meanwhile.
#[test]
fn e19_a_timer_that_was_set_last_is_due_in_all_orders() {
    const NAMES: [&str; 2] = ["t", "u"];
    /// Changes a timer, or lets some time pass.
    fn step(clock: &Addr<Durable<Clock>>, choice: u64) {
        let name = NAMES[usize::from(choice >= 4)];
        let change = move |clock: &mut Durable<Clock>| {
            let due = clock.now() + 2 * MS;
            match choice % 4 {
                0 => clock.cancel_timer(name),
                1 => clock.set_timer(name, clock.now(), Ring("bad".into())),
                2 => clock.set_periodic_timer(name, clock.now(), 3 * MS, Ring("bad".into())),
                _ => clock.set_timer(name, due, Ring("some".into())),
            }
        };
        // What it comes to is of no concern: it may fail with the actor.
        drop(call(clock, change).wait());
    }
    for method in [Method::Random, Method::Pct { depth: 3 }] {
        let config = Config::new().method(method).runs(150);
        Sim::new().config(config).allow_faults(true).check(|| {
            let store = MemoryStore::new();
            // (Its answers come some time later.)
            let slow = Slow::new(&store, 1_500, 7);
            let journal = Journal::builder(slow).receives::<Clock, Ring>().attempts(1).build();
            let mut reads = Vec::new();
            for _ in 0..3 {
                step(&clock(&journal), coact::sim::choose(8));
                if coact::sim::choose(3) == 0 {
                    reads.push(journal.resume());
                }
                pass(MS * u32::try_from(coact::sim::choose(4)).unwrap());
            }
            let set = || {
                call(&clock(&journal), |clock| {
                    for name in NAMES {
                        let due = clock.now() + MS;
                        clock.set_timer(name, due, Ring(format!("last {name}")));
                    }
                })
            };
            while set().wait().is_err() {}
            reads.into_iter().for_each(|read| drop(read.wait().unwrap().unwrap()));
            pass(1_000 * MS);
            assert_eq!(notes(&store, NoteKind::Timer), 0, "one was not due");
            let rang = wait_for(&journal, 2);
            let last: Vec<_> = rang.iter().filter(|text| text.starts_with("last")).collect();
            assert!(last.len() == 2 && last[0] != last[1], "{rang:?}");
        });
    }
}

/// Whatever process set it: the store says what is set.
#[test]
fn e19_resume_finds_a_timer_that_another_process_has_set_again() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = builder(&store).build();
        set(&clock(&journal), "t", 1_000_000_000, "never");
        {
            let other = builder(&store).build();
            set(&clock(&other), "t", 30, "again");
        }
        assert_eq!(journal.resume().wait().unwrap().unwrap().timers, 1);
        while notes(&store, NoteKind::Timer) > 0 {
            pass(MS);
        }
        assert_eq!(wait_for(&builder(&store).build(), 1), ["again"]);
    });
}

#[stored(name = "clock.of-another-program")]
#[derive(Message)]
struct OfAnother;

impl Decide<OfAnother> for Clock {
    fn decide(_: &mut Durable<Self>, _: OfAnother) {}
}

/// One that this program cannot deliver stays in the store, and does not hold up the one that takes
/// its place.
#[test]
fn e19_a_timer_takes_the_place_of_one_that_has_no_receiver() {
    everywhere(|| {
        let store = MemoryStore::new();
        {
            let other = builder(&store).receives::<Clock, OfAnother>().build();
            let set = call(&clock(&other), |clock| {
                let due = clock.now() + 1_000_000_000 * MS;
                clock.set_timer("t", due, OfAnother);
            });
            set.wait().unwrap();
            // As if time had passed.
            let found = NoteQuery::Ranked { kind: NoteKind::Timer, after: None, up_to: u64::MAX };
            let mut note = wait(|done| store.notes(found, 1, done)).unwrap().remove(0);
            note.rank = 0;
            let mut commit = Commit::new();
            commit.leave_note(note);
            wait(|done| store.commit(commit, done));
        }
        let journal = builder(&store).build();
        let resumed = journal.resume().wait().unwrap().unwrap();
        assert_eq!(resumed.unknown, ["clock.of-another-program"]);
        pass(5 * MS);
        assert_eq!(notes(&store, NoteKind::Timer), 1);
        set(&clock(&journal), "t", 1, "known");
        assert_eq!(wait_for(&journal, 1), ["known"]);
        assert_eq!(notes(&store, NoteKind::Timer), 0);
    });
}

/// Cancels a timer, when it is delivered.
#[stored(name = "clock.be-quiet")]
#[derive(Message)]
struct BeQuiet;

impl Decide<BeQuiet> for Clock {
    fn decide(clock: &mut Durable<Self>, _: BeQuiet) {
        clock.cancel_timer("t");
    }
}

/// What is gone is another message: it was to be taken by the decision that has cancelled the
/// timer, and has not happened.
#[test]
fn e19_a_timer_behind_a_message_that_is_gone_is_due() {
    everywhere(|| {
        let store = Manual::default();
        let make = || Journal::builder(store.clone()).receives::<Clock, Ring>();
        let journal = make().receives::<Clock, BeQuiet>().build();
        let clock = clock(&journal);
        call(&clock, |clock| clock.persist(Rang("begun".into()))).wait().unwrap();
        // All wait behind this one.
        store.hold();
        let step = call(&clock, |clock| {
            clock.deliver_to::<Clock, _>("clock", BeQuiet);
            let due = clock.now();
            clock.set_timer("t", due, Ring("rings".into()));
        });
        while store.len() < 1 {
            pass(MS);
        }
        store.release_one();
        step.wait().unwrap();
        // The message, and the timer: in whatever order they come.
        let outgoing = NoteQuery::Ranked { kind: NoteKind::Outgoing, after: None, up_to: u64::MAX };
        let message = wait(|done| store.1.notes(outgoing, 1, done)).unwrap().remove(0);
        while store.len() < 1 {
            pass(MS);
        }
        pass(5 * MS);
        // Another process takes the message.
        let mut commit = Commit::new();
        commit.take_note(message.id());
        assert!(matches!(wait(|done| store.1.commit(commit, done)), StoreOutcome::Committed(_)));
        store.release();
        assert_eq!(wait_for(&journal, 2), ["begun", "rings"]);
        assert_eq!(notes(&store.1, NoteKind::Timer), 0);
    });
}

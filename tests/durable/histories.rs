//! Random programs over a failing store, checked against the histories that are allowed.
//!
//! The oracle is the history that the store has at the end. All that was told and seen on the way
//! has to agree with it: what was told to be stored is there, once, in the order of the program,
//! and what was told not to be is not; a step is there in all of its entities or in none; each
//! state that was seen is the beginning of the history; and what was to be done on a commit was
//! done for what is there, and for nothing else.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::time::Duration;

use coact::actor::AskError;
use coact::durable::store::{
    InTransit, LogEntry, LogQuery, StoreFault, StoreOperation, StoreReader, StoredEvent, read, wait,
};
use coact::durable::{
    Decide, Durable, EntityId, EventSourced, Journal, MemoryStore, Position, Seq, Snapshots, Tags,
    confirmed, pipelined, stored,
};
use coact::prelude::*;
use coact::sim::{Config, Method, Sim};
use coact::{Broken, call_here};
use coact_tests::{Dice, Faults, Log, hosted_runtime, runtime};

use crate::slow::Slow;

/// Numbers of steps, in the order in which they have happened.
#[stored(name = "ledger")]
#[derive(Default, Clone)]
struct Ledger {
    #[n(0)]
    steps: Vec<u64>,
}

#[stored(name = "noted")]
struct Noted(#[n(0)] u64);

impl EventSourced for Ledger {
    const KIND: &'static str = "ledger";
    type Event = Noted;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, Noted(step): &Noted) {
        self.steps.push(*step);
    }

    fn tags(&self, Noted(step): &Noted) -> Tags {
        Tags::new(
            TAGS.into_iter().zip(0..).filter(|(_, bit)| step >> bit & 1 == 1).map(|(tag, _)| tag),
        )
    }

    fn snapshots() -> Option<Snapshots<Self>> {
        Some(Snapshots::every(3))
    }
}

/// From the bits of a step's number.
const TAGS: [&str; 2] = ["odd", "two"];

/// Notes a step, or only looks.
#[derive(Message)]
#[message(reply = Vec<u64>)]
struct Command {
    step: u64,
    writes: bool,
    done: Log<u64>,
}

impl Decide<Command> for Ledger {
    fn decide(ledger: &mut Durable<Self>, Command { step, writes, done }: Command) -> Vec<u64> {
        if writes {
            ledger.persist(Noted(step));
        }
        ledger.on_commit(move || done.push(step));
        ledger.steps.clone()
    }
}

const ENTITIES: usize = 3;

/// A step of the program, as seen from outside.
struct Step {
    owner: usize,
    /// The entities that it has used, and whether others could not meanwhile.
    used: Vec<(usize, bool)>,
    /// The entities in which it is noted.
    written: Vec<usize>,
    told: Told,
}

enum Told {
    Command { of: usize, answer: Ask<Vec<u64>> },
    Behaviour { of: Vec<usize>, result: Promise<Vec<Vec<u64>>> },
}

/// Whether a decision is stored, according to its outcome.
fn is_kept(told: &Result<Vec<(usize, Vec<u64>)>, Why>) -> bool {
    told.is_ok()
}

#[derive(Debug)]
enum Why {
    NotCommitted,
    /// The actor had ended before it was decided on.
    Ended,
}

impl Told {
    fn wait(self) -> Result<Vec<(usize, Vec<u64>)>, Why> {
        match self {
            Told::Command { of, answer } => match answer.wait() {
                Ok(seen) => Ok(vec![(of, seen)]),
                Err(AskError::NotCommitted(_)) => Err(Why::NotCommitted),
                Err(AskError::Stopped(_)) => Err(Why::Ended),
                Err(other) => panic!("{other}"),
            },
            Told::Behaviour { of, result } => match result.wait() {
                Ok(seen) => Ok(of.into_iter().zip(seen).collect()),
                Err(Broken::NotCommitted(_)) => Err(Why::NotCommitted),
                Err(Broken::Closed { .. }) => Err(Why::Ended),
                Err(other) => panic!("{other}"),
            },
        }
    }
}

/// A program under construction.
struct Program {
    dice: Dice,
    store: MemoryStore,
    journals: [Journal; 2],
    /// Keeps some actors alive.
    addresses: Vec<Addr<Durable<Ledger>>>,
    transit: InTransit,
    steps: Vec<Step>,
    done: Log<u64>,
    /// What behaviours have found, whatever their outcome.
    found: Log<(usize, Vec<u64>)>,
}

impl Program {
    fn new(seed: u64) -> Self {
        let store = MemoryStore::new();
        let journal = |seed| {
            let slow = Slow::new(&store, 300, seed);
            Journal::builder(slow).patience(Duration::from_millis(20)).build()
        };
        let journals = [journal(seed), journal(seed + 1)];
        let transit = InTransit::new();
        Self {
            dice: Dice::new(seed),
            journals,
            store,
            addresses: Vec::new(),
            transit,
            steps: Vec::new(),
            done: Log::new(),
            found: Log::new(),
        }
    }

    /// Makes the store fail now and then.
    fn fail(&mut self) {
        let dice = Mutex::new(Dice::new(self.dice.below(1 << 30) as u64));
        let transit = self.transit.clone();
        self.store.fail(move |operation| {
            let dice = dice.lock().unwrap().below(12);
            match (dice, operation) {
                (0, _) => StoreFault::Unavailable,
                (1, StoreOperation::Commit(_)) => StoreFault::AnswerLost,
                (2, StoreOperation::Commit(_)) => StoreFault::InTransit(transit.clone()),
                _ => StoreFault::None,
            }
        });
    }

    fn address(&mut self, owner: usize, entity: usize) -> Addr<Durable<Ledger>> {
        let address = self.journals[owner].entity::<Ledger>(entity.to_string());
        if self.dice.below(2) == 0 {
            self.addresses.push(address.clone());
        }
        address
    }

    fn step(&mut self) {
        // Another process takes an entity over now and then.
        let owner = usize::from(self.dice.below(12) == 0);
        let number = self.steps.len() as u64;
        match self.dice.below(16) {
            0..=6 => self.command(owner, number),
            7..=12 => self.behaviour(owner, number),
            13 => drop(self.transit.let_through(&self.store)),
            14 => drop(self.addresses.split_off(self.addresses.len() / 2)),
            _ => {
                let entity = self.dice.below(ENTITIES);
                let address = self.address(owner, entity);
                let _ = if self.dice.below(2) == 0 { address.kill() } else { address.restart() };
            }
        }
    }

    fn command(&mut self, owner: usize, step: u64) {
        let (of, writes) = (self.dice.below(ENTITIES), self.dice.below(4) > 0);
        let done = self.done.clone();
        let (address, command) = (self.address(owner, of), Command { step, writes, done });
        let answer = match self.dice.below(4) {
            0 => address.ask(confirmed(command)),
            _ => address.ask(command),
        };
        let written = if writes { vec![of] } else { Vec::new() };
        let used = vec![(of, true)];
        self.steps.push(Step { owner, used, written, told: Told::Command { of, answer } });
    }

    fn behaviour(&mut self, owner: usize, step: u64) {
        let first = self.dice.below(ENTITIES);
        let second = (first + 1 + self.dice.below(ENTITIES - 1)) % ENTITIES;
        let (a, b) = (self.address(owner, first), self.address(owner, second));
        let is_pipelined = self.dice.below(2) == 0;
        let (found, done) = (self.found.clone(), self.done.clone());
        let found_both = move |a: &Ledger, b: &Ledger| {
            // (A pipelined one may find what is never stored. Its result tells.)
            if !is_pipelined {
                found.push((first, a.steps.clone()));
                found.push((second, b.steps.clone()));
            }
        };
        let of = vec![first, second];
        let (used, written, result) = match self.dice.below(if is_pipelined { 4 } else { 3 }) {
            0 => {
                type Both<'a> = (&'a mut Durable<Ledger>, &'a mut Durable<Ledger>);
                let decide = move |(a, b): Both<'_>| {
                    found_both(a, b);
                    a.persist(Noted(step));
                    b.persist(Noted(step));
                    a.on_commit(move || done.push(step));
                    vec![a.steps.clone(), b.steps.clone()]
                };
                let both = match (self.dice.below(2), is_pipelined) {
                    (0, false) => call((&a, &b), decide),
                    (0, true) => call(pipelined((&a, &b)), decide),
                    (_, false) => call_here((&a, &b), decide).into_promise(),
                    (_, true) => call_here((&a, pipelined(&b)), decide).into_promise(),
                };
                (vec![(first, true), (second, true)], of.clone(), both)
            }
            1 => {
                type One<'a> = (&'a Durable<Ledger>, &'a mut Durable<Ledger>);
                let decide = move |(a, b): One<'_>| {
                    found_both(a, b);
                    b.persist(Noted(step));
                    b.on_commit(move || done.push(step));
                    vec![a.steps.clone(), b.steps.clone()]
                };
                let one = if is_pipelined {
                    call(pipelined((a.read(), &b)), decide)
                } else {
                    call((a.read(), &b), decide)
                };
                (vec![(first, false), (second, true)], vec![second], one)
            }
            3 => {
                let third = ENTITIES - first - second;
                let c = self.address(owner, third);
                let all = call(pipelined((a.read(), b.read(), &c)), move |(a, b, c)| {
                    c.persist(Noted(step));
                    c.on_commit(move || done.push(step));
                    vec![a.steps.clone(), b.steps.clone()]
                });
                (vec![(first, false), (second, false), (third, true)], vec![third], all)
            }
            _ => {
                type None<'a> = (&'a mut Durable<Ledger>, &'a Durable<Ledger>);
                let decide = move |(a, b): None<'_>| {
                    found_both(a, b);
                    a.on_commit(move || done.push(step));
                    vec![a.steps.clone(), b.steps.clone()]
                };
                let none = match (self.dice.below(3), is_pipelined) {
                    (0, false) => call(confirmed((&a, b.read())), decide),
                    (0, true) => call((pipelined(&a), confirmed(b.read())), decide),
                    (_, false) => call((&a, b.read()), decide),
                    (_, true) => call(pipelined((&a, b.read())), decide),
                };
                (vec![(first, true), (second, false)], Vec::new(), none)
            }
        };
        self.steps.push(Step { owner, used, written, told: Told::Behaviour { of, result } });
    }

    /// Runs to the end, and compares.
    fn finish(self) {
        let Self { store, steps, transit, done, found, addresses, journals, .. } = self;
        let mut known = Vec::new();
        for (number, Step { owner, used, written, told }) in (0_u64..).zip(steps) {
            known.push(Known { number, owner, used, written, told: told.wait() });
        }
        store.heal();
        drop((addresses, journals));
        let _ = transit.let_through(&store);
        coact_tests::finally(move || {
            let _ = transit.let_through(&store);
            compare(&store, &known, &done.take(), &found.take());
            compare_tags(&store);
        });
    }
}

struct Known {
    number: u64,
    owner: usize,
    used: Vec<(usize, bool)>,
    written: Vec<usize>,
    told: Result<Vec<(usize, Vec<u64>)>, Why>,
}

fn compare(store: &MemoryStore, steps: &[Known], done: &[u64], found: &[(usize, Vec<u64>)]) {
    let placed: Vec<Vec<(u64, Position)>> =
        (0..ENTITIES).map(|entity| history(store, entity)).collect();
    let histories: Vec<Vec<u64>> =
        placed.iter().map(|all| all.iter().map(|(step, _)| *step).collect()).collect();
    for history in &histories {
        let once: HashSet<_> = history.iter().collect();
        assert_eq!(once.len(), history.len(), "something happened twice: {history:?}");
        for owner in 0..2 {
            let own: Vec<_> =
                history.iter().filter(|step| steps[**step as usize].owner == owner).collect();
            assert!(own.is_sorted(), "not in the order of the program: {history:?}");
        }
    }
    let is_in = |entity: usize, step: u64| histories[entity].contains(&step);
    for Known { number, written, told, .. } in steps {
        let stored = written.iter().filter(|entity| is_in(**entity, *number)).count();
        assert!(stored == 0 || stored == written.len(), "step {number} happened in a part");
        let elsewhere = (0..ENTITIES).filter(|entity| !written.contains(entity));
        assert_eq!(elsewhere.filter(|entity| is_in(*entity, *number)).count(), 0);
        if !written.is_empty() {
            let kept = is_kept(told);
            assert_eq!(stored > 0, kept, "step {number}: told {told:?}, and stored {stored}");
        }
        for (entity, seen) in told.iter().flatten() {
            assert!(
                histories[*entity].starts_with(seen),
                "step {number} has seen {seen:?} of {:?}",
                histories[*entity]
            );
            if written.contains(entity) {
                assert_eq!(seen.last(), Some(number));
            } else if let Some(at) =
                written.first().and_then(|entity| place(&placed[*entity], *number))
            {
                // What it has only read was still so when it was stored.
                let before = placed[*entity].iter().filter(|(_, position)| *position < at).count();
                assert_eq!(seen.len(), before, "step {number} rests on what was no longer so");
            }
        }
    }
    for (entity, found) in found {
        let history = &histories[*entity];
        assert!(
            history.starts_with(found),
            "a behaviour has found {found:?}, and there is {history:?}"
        );
    }
    let conflict = |a: &Known, b: &Known| {
        let meet =
            |of: &(usize, bool)| b.used.iter().any(|other| of.0 == other.0 && (of.1 || other.1));
        a.owner == b.owner && a.used.iter().any(meet)
    };
    for (at, later) in done.iter().enumerate() {
        for earlier in &done[at + 1..] {
            let (a, b) = (&steps[*earlier as usize], &steps[*later as usize]);
            assert!(
                a.number > b.number || !conflict(a, b),
                "{later} was done before {earlier}: {done:?}"
            );
        }
    }
    let mut times = HashMap::<u64, usize>::new();
    done.iter().for_each(|step| *times.entry(*step).or_default() += 1);
    for Known { number, told, .. } in steps {
        let is_done = times.get(number).copied().unwrap_or(0);
        assert!(is_done <= 1, "done {is_done} times for step {number}");
        assert_eq!(is_done == 1, is_kept(told), "what step {number} was to do: {told:?}");
    }
}

/// The log of each tag is that of the kind without what has no such tag, and all kinds are one.
fn compare_tags(store: &MemoryStore) {
    let log = |which| wait(|done| store.log(which, Position::ZERO, usize::MAX, done)).unwrap();
    let all = log(Ledger::KIND.into());
    for (tag, bit) in TAGS.into_iter().zip(0..) {
        let is_meant = |entry: &&LogEntry| {
            let Noted(step) = read(&entry.stored.event).unwrap();
            assert_eq!(entry.stored.tags.contains(tag), step >> bit & 1 == 1);
            entry.stored.tags.contains(tag)
        };
        let expected: Vec<_> = all.iter().filter(is_meant).cloned().collect();
        for kind in [None, Some(Ledger::KIND.into())] {
            assert_eq!(log(LogQuery::Tag { tag: tag.into(), kind }), expected);
        }
    }
}

fn place(history: &[(u64, Position)], step: u64) -> Option<Position> {
    history.iter().find(|(found, _)| *found == step).map(|(_, position)| *position)
}

fn history(store: &MemoryStore, entity: usize) -> Vec<(u64, Position)> {
    let id = EntityId::new(Ledger::KIND, entity.to_string());
    let events = wait(|done| store.events(id, Seq::ZERO, usize::MAX, done)).unwrap();
    let read = |stored: &StoredEvent| (read::<Noted>(&stored.event).unwrap().0, stored.position);
    events.iter().map(read).collect()
}

fn run(seed: u64) {
    let mut program = Program::new(seed);
    program.fail();
    let steps = 10 + program.dice.below(30);
    (0..steps).for_each(|_| program.step());
    program.finish();
}

pub fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("COACT_HISTORIES_FIRST").unwrap_or(0);
    first..first + number("COACT_HISTORIES").unwrap_or(default)
}

#[test]
fn e1_to_e12_hold_for_random_programs_on_workers() {
    for seed in seeds(40) {
        for workers in [1, 2, 4] {
            let faults = Faults::new();
            coact_tests::run_on(&runtime(workers, &faults), || run(seed));
        }
        let executor = coact_tests::Executor::new(2);
        coact_tests::run_on(&hosted_runtime(2, &executor, &Faults::new()), || run(seed));
    }
}

#[test]
fn e1_to_e12_hold_for_random_programs_in_simulation() {
    for seed in seeds(150) {
        for method in [Method::Random, Method::Pct { depth: 3 }] {
            let sim = Sim::new().config(Config::new().method(method).runs(3));
            sim.allow_faults(true).check(move || {
                coact_tests::run_on(&runtime(2, &Faults::new()), || run(seed));
            });
        }
    }
}

//! Each wait of the table "What waits, and what ends it" (docs/actors/durable/waits.md): through an
//! outage that is longer than the patience, a shutdown, and the end of the journal.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use coact::durable::store::{InTransit, StoreFault, StoreOperation};
use coact::durable::{Journal, JournalBuilder, MemoryStore, Once, Position, pipelined};
use coact::prelude::*;
use coact::runtime::RuntimeHandle;
use coact_tests::{Faults, PATIENCE, runtime};

use crate::bank::{Account, Changed, Deposit, account};
use crate::manual::Manual;
use crate::waits::Speechless;

/// Waits on a thread of its own. Returns the outcome.
type Waiter = Box<dyn FnOnce() -> String + Send>;

fn waiter<T: Debug>(wait: impl FnOnce() -> T + Send + 'static) -> Waiter {
    Box::new(move || format!("{:?}", wait()))
}

/// The waits that there are while a store stays as it is.
struct Waits {
    journal: Journal,
    /// These end when an outage lasts.
    until_patience: Vec<Waiter>,
    /// These wait until the outage, the journal or the runtime ends.
    until_the_end: Vec<Waiter>,
    /// A store that keeps commits to itself.
    _holds: Option<Holds>,
}

/// A store that refuses in the end what it has: that has the journal, which has the store.
struct Holds(Manual);

impl Drop for Holds {
    fn drop(&mut self) {
        self.0.refuse();
    }
}

/// Begins waits, in the current runtime, with settings of the journal.
type Scene = fn(fn(JournalBuilder) -> JournalBuilder) -> Waits;

/// In the order of the table.
const SCENES: [(&str, Scene); 8] = [
    ("a recovery waits for the store", |with| {
        let store = down();
        let journal = with(Journal::builder(store)).build();
        let alice = account(&journal, "alice");
        let called = call(&alice, |alice| alice.balance);
        let until_patience = vec![told(alice.ask(Deposit(1))), waiter(move || called.wait())];
        Waits { journal, until_patience, until_the_end: Vec::new(), _holds: None }
    }),
    ("a recovery waits for its turn", |with| {
        let journal = with(Journal::builder(down())).recoveries(1).build();
        let asked = (0..4).map(|key| account(&journal, &key.to_string()).ask(Deposit(1)));
        Waits {
            until_patience: asked.map(told).collect(),
            until_the_end: Vec::new(),
            journal,
            _holds: None,
        }
    }),
    ("a recovery waits for the actor before", |with| {
        let journal = with(Journal::builder(MemoryStore::new())).build();
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let second = spawn(journal.durable::<Account>("alice"));
        let asked = second.ask(Deposit(1));
        // (Both are kept until that is told.)
        let until_patience = vec![waiter(move || (asked.wait(), drop((alice, second))))];
        Waits { journal, until_patience, until_the_end: Vec::new(), _holds: None }
    }),
    ("what is decided waits for the store to settle it", |with| {
        let store = MemoryStore::new();
        let journal = with(Journal::builder(store.clone())).build();
        let [alice, bob, carol, dave] =
            ["alice", "bob", "carol", "dave"].map(|key| account(&journal, key));
        call((&alice, &bob, &carol, &dave), |_| ()).wait().unwrap();
        let lost = lose_commits(&store);
        let asked = alice.ask(Deposit(1));
        let step = call(pipelined((&bob, &dave)), |(bob, dave)| {
            bob.persist(Changed { by: 1 });
            dave.persist(Changed { by: 1 });
        });
        let alone = call(&carol, |carol| carol.persist(Changed { by: 1 }));
        until(|| lost.load(SeqCst) == 3);
        // (These are not decided on.)
        let behind = [call(&alice, |alice| alice.balance), call(&bob, |bob| bob.balance)];
        let until_the_end = vec![
            told(asked),
            waiter(move || step.wait()),
            waiter(move || alone.wait()),
            // Its actor is held.
            told(carol.ask(Deposit(1))),
        ];
        let until_patience = behind.map(|behind| waiter(move || behind.wait())).into();
        Waits { journal, until_patience, until_the_end, _holds: None }
    }),
    ("commands wait for room", |with| {
        let store = MemoryStore::new();
        let journal = with(Journal::builder(store.clone())).most_in_flight(1).build();
        let alice = account(&journal, "alice");
        call(&alice, |_| ()).wait().unwrap();
        let lost = lose_commits(&store);
        let first = alice.ask(Deposit(1));
        until(|| lost.load(SeqCst) == 1);
        let second = alice.ask(Deposit(1));
        Waits {
            journal,
            until_patience: vec![told(second)],
            until_the_end: vec![told(first)],
            _holds: None,
        }
    }),
    ("answers wait for a store that does not tell what has come of their commit", |with| {
        let store = Manual::default();
        let journal = with(Journal::builder(store.clone())).build();
        let [alice, bob, carol, dave, erin] =
            ["alice", "bob", "carol", "dave", "erin"].map(|key| account(&journal, key));
        call((&alice, &bob, &carol, &dave, &erin), |_| ()).wait().unwrap();
        store.hold();
        let asked = alice.ask(Deposit(1));
        let step = call(pipelined(&alice), |alice| alice.persist(Changed { by: 1 }));
        let alone = call(&bob, |bob| bob.persist(Changed { by: 1 }));
        // These run at once, since they only read the first.
        let beside = [dave, erin].map(|other| {
            call((carol.read(), &other), |(_, other)| other.persist(Changed { by: 1 }))
        });
        until(|| store.len() == 5);
        let behind = bob.ask(Deposit(1));
        let mut until_the_end = vec![
            told(asked),
            waiter(move || step.wait()),
            waiter(move || alone.wait()),
            // Its actor is held.
            told(behind),
        ];
        until_the_end.extend(beside.map(|step| waiter(move || step.wait())));
        let _holds = Some(Holds(store));
        Waits { journal, until_patience: Vec::new(), until_the_end, _holds }
    }),
    ("a command waits for the answer to its key", |with| {
        let journal = with(Journal::builder(Speechless::default())).build();
        let alice = account(&journal, "alice");
        call(&alice, |_| ()).wait().unwrap();
        let asked = alice.ask(Once::new("a", Deposit(1)));
        Waits {
            journal,
            until_patience: vec![told(asked)],
            until_the_end: Vec::new(),
            _holds: None,
        }
    }),
    ("logs, and what is resumed, wait for the store", |with| {
        let journal = with(Journal::builder(down())).build();
        let (resumed, home) = (journal.resume(), RuntimeHandle::current());
        let mut log = journal.log::<Account>(Position::ZERO);
        let until_the_end = vec![
            waiter(move || resumed.wait()),
            waiter(move || {
                let _entered = home.enter();
                log.wait_next().map(|logged| logged.event)
            }),
        ];
        Waits { journal, until_patience: Vec::new(), until_the_end, _holds: None }
    }),
];

fn told(asked: Ask<i64>) -> Waiter {
    waiter(move || asked.wait())
}

fn down() -> MemoryStore {
    let store = MemoryStore::new();
    store.fail(|_| StoreFault::Unavailable);
    store
}

/// Loses commits, and fails everything else. Returns how many were lost.
fn lose_commits(store: &MemoryStore) -> Arc<AtomicUsize> {
    let (in_transit, lost) = (InTransit::new(), Arc::<AtomicUsize>::default());
    let count = Arc::clone(&lost);
    store.fail(move |operation| match operation {
        StoreOperation::Commit(_) => {
            count.fetch_add(1, SeqCst);
            StoreFault::InTransit(in_transit.clone())
        }
        _ => StoreFault::Unavailable,
    });
    lost
}

fn until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

/// Starts threads that wait.
struct Waiting(mpsc::Receiver<String>, usize);

impl Waiting {
    fn begin(waiters: Vec<Waiter>) -> Self {
        let (tell, told) = mpsc::channel();
        let count = waiters.len();
        for waiter in waiters {
            let tell = tell.clone();
            thread::spawn(move || drop(tell.send(waiter())));
        }
        Self(told, count)
    }

    #[track_caller]
    fn are_told(&self, scene: &str) -> Vec<String> {
        let next = |_| self.0.recv_timeout(PATIENCE);
        let told: Result<Vec<_>, _> = (0..self.1).map(next).collect();
        told.unwrap_or_else(|_| panic!("{scene}: not all are told"))
    }
}

fn is_error(told: &str) -> bool {
    told.contains("Err(")
}

#[test]
fn e10_each_wait_that_can_end_without_the_store_ends_with_the_patience() {
    for (name, scene) in SCENES {
        let runtime = runtime(2, &Faults::new());
        let waits = {
            let _entered = runtime.enter();
            scene(|journal| journal.patience(Duration::from_millis(20)))
        };
        let told = Waiting::begin(waits.until_patience).are_told(name);
        assert!(told.iter().all(|told| is_error(told)), "{name}: {told:?}");
        runtime.shutdown(Duration::ZERO);
    }
}

#[test]
fn e12_each_wait_ends_with_a_shutdown() {
    for (name, scene) in SCENES {
        let runtime = runtime(2, &Faults::new());
        let Waits { journal, until_patience, until_the_end, _holds } = {
            let _entered = runtime.enter();
            scene(|journal| journal.patience(Duration::from_secs(3_600)))
        };
        let waiting = Waiting::begin(until_patience.into_iter().chain(until_the_end).collect());
        runtime.shutdown(Duration::from_millis(20));
        let told = waiting.are_told(name);
        assert!(told.iter().all(|told| is_error(told)), "{name}: {told:?}");
        drop(journal);
    }
}

#[test]
fn e25_each_wait_ends_when_the_journal_is_closed() {
    for (name, scene) in SCENES {
        let runtime = runtime(2, &Faults::new());
        // Only what was decided on, and not answered for, is not done.
        let is_pending = name.starts_with("what is decided") || name.contains("wait for room");
        let is_pending = is_pending || name.starts_with("answers wait");
        let within = Duration::from_millis(if is_pending { 40 } else { 120_000 });
        let (waits, closed) = {
            let _entered = runtime.enter();
            let waits = scene(|journal| journal.patience(Duration::from_secs(3_600)));
            let closed = waits.journal.close(within);
            (waits, closed)
        };
        let Waits { journal, until_patience, until_the_end, _holds } = waits;
        let waiting = Waiting::begin(until_patience.into_iter().chain(until_the_end).collect());
        let told = waiting.are_told(name);
        assert!(told.iter().all(|told| is_error(told)), "{name}: {told:?}");
        let closed = closed.wait().unwrap();
        assert_eq!(closed.is_err(), is_pending, "{name}: {closed:?}");
        drop(journal);
        runtime.shutdown(Duration::ZERO);
    }
}

//! The end of a journal, while the program goes on.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact::Broken;
use coact::actor::{AskError, ExitReason};
use coact::durable::store::{
    Commit, CommitId, CommitSettlement, StoreCallback, StoreFault, StoreOperation, StoreOutcome,
    StoreReader, wait,
};
use coact::durable::{
    CloseError, CommitRefusal, Decide, Durable, EntityId, EventSourced, Journal, LogError,
    MemoryStore, NotCommitted, Once, Position, Publication, Seq, StoreError, pipelined, stored,
};
use coact::prelude::*;
use coact::sim::{self, Config, Sim};
use coact_tests::everywhere_with_faults;

use crate::bank::{Account, Balance, Changed, Deposit, account, found};
use crate::failures::pass;
use crate::layers::{Layer, Told, Work, layer};
use crate::manual::Manual;
use crate::slow::Slow;

/// Longer than anything takes, on a busy machine too.
const LONG: Duration = Duration::from_secs(120);

fn is_closed(why: &NotCommitted) -> bool {
    why.why() == Some(&StoreError::Closed)
}

#[track_caller]
fn is_told<T: std::fmt::Debug>(told: Result<T, AskError>) {
    assert!(matches!(&told, Err(AskError::NotCommitted(why)) if is_closed(why)), "{told:?}");
}

/// A store in memory that counts the operations after its end.
#[derive(Clone)]
struct Closable(Slow, Arc<Mutex<Option<usize>>>);

impl Closable {
    fn new(store: &MemoryStore) -> Self {
        Self(Slow::new(store, 200, 7), Arc::default())
    }

    #[track_caller]
    fn assert_closed(&self) {
        assert_eq!(*self.1.lock().unwrap(), Some(0), "what was asked behind its end");
    }
}

layer!(Closable);

impl Layer for Closable {
    fn pass(&self, work: Work) {
        self.1.lock().unwrap().iter_mut().for_each(|late| *late += 1);
        self.0.pass(work);
    }

    fn end(&self, done: StoreCallback<()>) {
        self.1.lock().unwrap().get_or_insert(0);
        self.0.pass(Box::new(move |_| done(())));
    }
}

#[test]
fn e25_what_was_decided_is_stored_and_told_before_a_journal_is_closed() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let closable = Closable::new(&store);
        let journal = Journal::new(closable.clone());
        let [alice, bob] = ["alice", "bob"].map(|key| account(&journal, key));
        assert_eq!(call((&alice, &bob), |_| ()).wait(), Ok(()));
        let asked: Vec<_> = (0..5).map(|_| alice.ask(Deposit(1))).collect();
        let called: Vec<_> = (0..5)
            .map(|_| {
                call(pipelined((&alice, &bob)), |(alice, bob)| {
                    alice.persist(Changed { by: 1 });
                    bob.persist(Changed { by: 1 });
                })
            })
            .collect();
        let moved = call((&alice, &bob), |(alice, bob)| {
            alice.persist(Changed { by: 1 });
            bob.persist(Changed { by: 1 });
        });
        assert_eq!(journal.close(LONG).wait().unwrap(), Ok(()));
        closable.assert_closed();
        // All is told by now, as stored or as not decided on.
        let mut balance = 0;
        for asked in asked {
            match asked.wait() {
                Ok(_) => balance += 1,
                told => is_told(told),
            }
        }
        let mut both = 0;
        for called in called.into_iter().chain([moved]) {
            match called.wait() {
                Ok(()) => both += 1,
                Err(Broken::Closed { .. }) => {}
                Err(Broken::NotCommitted(why)) => assert!(is_closed(&why), "{why}"),
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(found(&store, "alice").balance, balance + both);
        assert_eq!(found(&store, "bob").balance, both);
    });
}

#[test]
fn e25_a_closed_journal_answers_with_a_typed_error() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let closable = Closable::new(&store);
        let journal = Journal::new(closable.clone());
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let clone = journal.clone();
        let mut log = clone.log::<Account>(Position::ZERO);
        assert_eq!(log.wait_next().unwrap().event.by, 1);
        assert_eq!(journal.close(LONG).wait().unwrap(), Ok(()));
        // An address from before, and one from now.
        is_told(alice.ask(Deposit(1)).wait());
        is_told(alice.ask(Once::new("a", Deposit(1))).wait());
        assert_eq!(alice.ended().wait(), Ok(ExitReason::Shutdown));
        is_told(account(&clone, "alice").ask(Balance).wait());
        is_told(account(&clone, "bob").ask(Deposit(1)).wait());
        is_told(spawn(clone.durable::<Account>("carol")).ask(Deposit(1)).wait());
        let called = call(&account(&clone, "bob"), |bob| bob.balance).wait();
        assert!(
            match &called {
                Err(Broken::NotCommitted(why)) => is_closed(why),
                Err(Broken::Closed { position: 0 }) => true,
                _ => false,
            },
            "{called:?}"
        );
        // Other questions.
        assert!(matches!(clone.keys::<Account>(None, 9).wait(), Ok(Err(StoreError::Closed))));
        assert!(matches!(clone.dead_letters(9).wait(), Ok(Err(StoreError::Closed))));
        assert!(matches!(clone.resume().wait(), Ok(Err(StoreError::Closed))));
        let ended = log.wait_next().map(|logged| logged.event);
        assert_eq!(ended, Err(LogError::Store(StoreError::Closed)));
        let late = clone.log::<Account>(Position::ZERO).wait_next().map(|logged| logged.event);
        assert_eq!(late, Err(LogError::Store(StoreError::Closed)));
        // Once more, by a clone.
        assert_eq!(clone.close(LONG).wait().unwrap(), Ok(()));
        closable.assert_closed();
        assert_eq!(found(&store, "alice").changes, [1]);
    });
}

/// A thread that waits for new events gets an error, as does one that waits for a command.
#[test]
fn e25_what_waits_for_a_store_that_is_down_is_told_when_the_journal_is_closed() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = Journal::builder(store.clone()).recoveries(2).patience(LONG).build();
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let (log, mut now) =
            (journal.log::<Account>(Position::ZERO), journal.log::<Account>(Position::ZERO));
        let logged = spawn(Reads(None));
        logged.ask(Attach(log)).wait().unwrap();
        assert_eq!(now.wait_next().unwrap().event.by, 1);
        store.fail(|_| StoreFault::Unavailable);
        let all: Vec<_> = (0..6).map(|key| account(&journal, &key.to_string())).collect();
        let asked: Vec<_> = all.iter().map(|one| one.ask(Deposit(1))).collect();
        let again = alice.ask(Once::new("a", Deposit(1)));
        let resumed = journal.resume();
        assert_eq!(journal.close(LONG).wait().unwrap(), Ok(()));
        asked.into_iter().chain([again]).for_each(|asked| is_told(asked.wait()));
        assert!(matches!(
            resumed.wait(),
            Ok(Err(StoreError::Closed | StoreError::Unavailable { .. }))
        ));
        let ended = loop {
            match logged.ask(Ended).wait().unwrap() {
                None => pass(Duration::from_millis(1)),
                Some(ended) => break ended,
            }
        };
        assert_eq!(ended, LogError::Store(StoreError::Closed));
        store.heal();
        assert_eq!(found(&store, "alice").changes, [1]);
    });
}

/// Records the error with which a log ends.
struct Reads(Option<LogError>);

impl Actor for Reads {}

#[derive(Message)]
struct Attach(coact::durable::EventLog<Account>);

#[derive(Message)]
#[message(reply = Option<LogError>)]
struct Ended;

#[derive(Message)]
struct Next(Result<coact::durable::LoggedEvent<Changed>, LogError>);

impl Handler<Attach> for Reads {
    fn handle(&mut self, Attach(log): Attach, context: &mut coact::Context<Self>) {
        context.attach(log).each(Next);
    }
}

impl Handler<Ended> for Reads {
    fn handle(&mut self, _: Ended, _: &mut coact::Context<Self>) -> Option<LogError> {
        self.0.clone()
    }
}

impl Handler<Next> for Reads {
    fn handle(&mut self, Next(next): Next, _: &mut coact::Context<Self>) {
        self.0 = next.err().or(self.0.take());
    }
}

/// Neither the owner's commit nor that of a step: what waits for them is told at half of the
/// deadline, and the entities are named.
#[test]
fn e25_what_is_unknown_at_the_deadline_is_told_and_named() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone());
        let [alice, bob, carol] = ["alice", "bob", "carol"].map(|key| account(&journal, key));
        assert_eq!(call((&alice, &bob, &carol), |_| ()).wait(), Ok(()));
        store.fail(|operation| match operation {
            StoreOperation::Commit(_) => StoreFault::AnswerLost,
            StoreOperation::Settle(_) => StoreFault::Unavailable,
            _ => StoreFault::None,
        });
        let asked = alice.ask(Deposit(1));
        let called = call(&bob, |bob| bob.persist(Changed { by: 1 }));
        // They have been decided on.
        while events_of(&store, "alice") + events_of(&store, "bob") < 2 {
            pass(Duration::from_millis(1));
        }
        let closed = journal.close(Duration::from_millis(50)).wait().unwrap();
        let Err(CloseError { unsettled, deliveries: 0, is_store_open: false, .. }) = closed else {
            panic!("{closed:?}")
        };
        // (On a busy machine, another actor may not have ended then.)
        for key in ["alice", "bob"] {
            assert!(unsettled.iter().any(|id| id.key() == key), "{unsettled:?}");
        }
        assert_eq!(asked.wait(), Err(AskError::Cancelled));
        assert_eq!(called.wait(), Err(Broken::Cancelled));
        is_told(carol.ask(Deposit(1)).wait());
        store.heal();
        // It may be stored, and is.
        assert_eq!((found(&store, "alice").balance, found(&store, "bob").balance), (1, 1));
    });
}

/// A store that does not answer whether a commit has happened, and counts commits behind its end.
#[derive(Clone)]
struct Silent {
    store: MemoryStore,
    unanswered: Arc<Mutex<Vec<Told<CommitSettlement>>>>,
    late: Arc<Mutex<Option<usize>>>,
}

layer!(Silent);

impl Layer for Silent {
    fn pass(&self, work: Work) {
        self.late.lock().unwrap().iter_mut().for_each(|late| *late += 1);
        work(&self.store);
    }

    fn take_settle(&self, _: CommitId, done: Told<CommitSettlement>) {
        self.unanswered.lock().unwrap().push(done);
    }

    fn end(&self, done: StoreCallback<()>) {
        self.late.lock().unwrap().get_or_insert(0);
        done(());
    }
}

impl Silent {
    fn new() -> Self {
        let (store, unanswered, late) = Default::default();
        Self { store, unanswered, late }
    }

    /// Loses the answers of commits.
    fn lose_answers(&self) {
        self.store.fail(|operation| match operation {
            StoreOperation::Commit(_) => StoreFault::AnswerLost,
            _ => StoreFault::None,
        });
    }
}

/// Neither behaviours nor commands wait for that, and each who has closed the journal hears of it.
#[test]
fn e25_an_outcome_that_no_one_settles_is_given_up_by_each_that_closes() {
    everywhere_with_faults(|_| {
        let silent = Silent::new();
        let journal = Journal::new(silent.clone());
        let [alice, bob, carol] = ["alice", "bob", "carol"].map(|key| account(&journal, key));
        assert_eq!(call((&alice, &bob, &carol), |_| ()).wait(), Ok(()));
        silent.lose_answers();
        let step = call((&alice, &bob), |(alice, bob)| {
            alice.persist(Changed { by: 1 });
            bob.persist(Changed { by: 1 });
        });
        let asked = carol.ask(Deposit(1));
        while silent.unanswered.lock().unwrap().len() < 2 {
            pass(Duration::from_millis(1));
        }
        let patient = journal.close(LONG);
        let hasty = journal.close(Duration::from_millis(20));
        for closed in [hasty, patient] {
            let unsettled = closed.wait().unwrap().unwrap_err().unsettled;
            for key in ["alice", "bob", "carol"] {
                assert!(unsettled.iter().any(|id| id.key() == key), "{unsettled:?}");
            }
        }
        assert_eq!(step.wait(), Err(Broken::Cancelled));
        assert_eq!(asked.wait(), Err(AskError::Cancelled));
        silent.unanswered.lock().unwrap().clear();
    });
}

/// Nothing that closes a journal holds a lock where another simulated thread may go on.
#[test]
fn e25_a_journal_is_closed_twice_in_all_orders() {
    Sim::new().config(Config::new().runs(200)).check(|| {
        let store = MemoryStore::new();
        let journal = Journal::builder(store)
            .publishes(|_: Publication<Mail>| async { Ok::<_, CommitRefusal>(()) })
            .build();
        assert_eq!(call(&account(&journal, "alice"), |alice| alice.publish(Mail)).wait(), Ok(()));
        let mut log = journal.log::<Account>(Position::ZERO);
        let follows = sim::thread(move || log.wait_next().is_err());
        let closed = [(); 2].map(|()| journal.close(LONG));
        closed.into_iter().for_each(|closed| assert_eq!(closed.wait().unwrap(), Ok(())));
        assert_eq!(follows.wait(), Ok(true));
    });
}

/// A decision that is made after the deadline stores nothing, and gets that error.
#[test]
fn e25_a_store_is_asked_nothing_behind_its_end() {
    let silent = Silent::new();
    let journal = Journal::new(silent.clone());
    let alice = account(&journal, "alice");
    assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
    let (begins, begun) = std::sync::mpsc::channel();
    let (goes_on, may_go_on) = std::sync::mpsc::channel();
    let step = call(&alice, move |alice| {
        begins.send(()).unwrap();
        may_go_on.recv().unwrap();
        alice.persist(Changed { by: 1 });
    });
    begun.recv().unwrap();
    let closed = journal.close(Duration::ZERO).wait().unwrap();
    assert_eq!(closed.unwrap_err().unsettled.len(), 1);
    goes_on.send(()).unwrap();
    let told = step.wait();
    assert!(matches!(&told, Err(Broken::NotCommitted(why)) if is_closed(why)), "{told:?}");
    assert_eq!(*silent.late.lock().unwrap(), Some(0));
    assert_eq!(found(&silent.store, "alice").balance, 1);
}

/// How many events of an account are stored.
fn events_of(store: &MemoryStore, key: &str) -> usize {
    let id = EntityId::new(Account::KIND, key);
    wait(|done| store.events(id, Seq::ZERO, 9, done)).unwrap().len()
}

/// It does not answer at all, and is reported as open.
#[test]
fn e25_a_store_that_hangs_is_named_at_the_deadline() {
    everywhere_with_faults(|_| {
        let manual = Manual::default();
        let journal = Journal::new(Hangs(manual.clone(), Arc::default()));
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        manual.hold();
        let asked = alice.ask(Deposit(1));
        while manual.len() < 1 {
            pass(Duration::from_millis(1));
        }
        let closed = journal.close(Duration::from_millis(20)).wait().unwrap();
        let error = closed.unwrap_err();
        assert!(error.is_store_open, "{error}");
        assert_eq!(error.unsettled.len(), 1);
        assert!(error.to_string().contains("`bank.account/alice` may be stored"), "{error}");
        assert_eq!(asked.wait(), Err(AskError::Cancelled));
        manual.release();
        assert_eq!(found(&manual.1, "alice").balance, 2);
    });
}

/// A store that is never closed, and those who wait for that.
#[derive(Clone)]
struct Hangs(Manual, Arc<Mutex<Vec<StoreCallback<()>>>>);

layer!(Hangs);

impl Layer for Hangs {
    fn pass(&self, work: Work) {
        self.0.pass(work);
    }

    fn take_commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        self.0.take_commit(commit, done);
    }

    fn end(&self, done: StoreCallback<()>) {
        self.1.lock().unwrap().push(done);
    }
}

#[stored(name = "mail")]
#[derive(Message)]
struct Mail;

#[derive(Message)]
struct Leave;

impl Decide<Leave> for Account {
    fn decide(account: &mut Durable<Self>, _: Leave) {
        account.persist(Changed { by: 1 });
        account.publish(Mail);
        let due = account.now() + Duration::from_secs(3_600);
        account.set_timer("later", due, Mail);
    }
}

impl Decide<Mail> for Account {
    fn decide(account: &mut Durable<Self>, _: Mail) {
        account.persist(Changed { by: 100 });
    }
}

/// One that is under way is published once, timers stay in the store, and the runtime does not wait
/// for them.
#[test]
fn e25_messages_and_timers_stay_in_the_store() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let (begun, goes_on) = (Cown::new(0), Cown::new(None));
        let (count, waits) = (begun.clone(), goes_on.clone());
        let journal = Journal::builder(store.clone())
            .receives::<Account, Mail>()
            .publishes(move |_: Publication<Mail>| {
                let (resolver, gone_on) = Promise::channel();
                when(&count, |count| *count += 1);
                when(&waits, move |waits| *waits = Some(resolver));
                gone_on
            })
            .build();
        let resumed = journal.resume().wait().unwrap().unwrap();
        assert_eq!(resumed.messages, 0);
        account(&journal, "alice").ask(Leave).wait().unwrap();
        while call(&goes_on, |goes_on| goes_on.is_none()).wait().unwrap() {
            pass(Duration::from_millis(1));
        }
        let closed = journal.close(LONG);
        let resolver: Option<coact::promise::Resolver<()>> =
            call(&goes_on, |goes_on| goes_on.take()).wait().unwrap();
        resolver.unwrap().resolve(());
        assert_eq!(closed.wait().unwrap(), Ok(()));
        let next = Journal::builder(store)
            .receives::<Account, Mail>()
            .publishes(|_: Publication<Mail>| async { Ok::<_, CommitRefusal>(()) })
            .build();
        let resumed = next.resume().wait().unwrap().unwrap();
        assert_eq!((resumed.messages, resumed.timers), (0, 1));
        assert_eq!(call(&begun, |begun| *begun).wait(), Ok(1));
        next.close(LONG).wait().unwrap().unwrap();
    });
}

/// Actors that start while the journal is closed, and those that a supervisor restarts.
#[test]
fn e25_an_actor_that_starts_meanwhile_asks_the_store_nothing() {
    coact::sim::Sim::new().config(coact::sim::Config::new().runs(200)).allow_faults(true).check(
        || {
            let closable = Closable::new(&MemoryStore::new());
            let journal = Journal::new(closable.clone());
            let far = journal.clone();
            let other = coact::sim::thread(move || {
                let asked: Vec<_> =
                    (0..3).map(|key| account(&far, &key.to_string()).ask(Deposit(1))).collect();
                for asked in asked {
                    match asked.wait() {
                        Ok(balance) => assert_eq!(balance, 1),
                        told => is_told(told),
                    }
                }
            });
            assert_eq!(journal.close(LONG).wait().unwrap(), Ok(()));
            other.wait().unwrap();
            closable.assert_closed();
        },
    );
}

//! Confirmed questions: the answers of an entity that may have another owner.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact::actor::AskError;
use coact::behaviour::scope;
use coact::cown::read_all;
use coact::durable::store::{
    Commit, CommitId, CommitSettlement, StoreCallback, StoreFault, StoreOperation, StoreOutcome,
    StoreReader, wait,
};
use coact::durable::{
    CommitRefusal, Decide, DifferentStores, Durable, Journal, MemoryStore, NotCommitted, Position,
    StoreError, confirmed, pipelined,
};
use coact::prelude::*;
use coact::{Broken, call_here, try_call, when_here, when_or_else};
use coact_tests::{Dice, Log, everywhere, everywhere_with_faults};

use crate::bank::{Account, Addresses, Balance, Changed, Deposit, Withdraw, account, found};
use crate::histories::seeds;
use crate::manual::Manual;
use crate::slow::Slow;

type Address = Addr<Durable<Account>>;

/// Answers, and does something when that is told. Looks again if it is asked to.
#[derive(Message)]
#[message(reply = i64)]
struct Look(Log<i64>);

impl Decide<Look> for Account {
    fn decide(account: &mut Durable<Self>, Look(seen): Look) -> i64 {
        let balance = account.balance;
        account.on_commit(move || seen.push(balance));
        balance
    }
}

/// Rejects an amount that is not covered, with a confirmed answer.
#[derive(Message)]
#[message(reply = bool)]
struct Pay(i64);

impl Decide<Pay> for Account {
    fn decide(account: &mut Durable<Self>, Pay(by): Pay) -> bool {
        let is_covered = account.balance >= by;
        if is_covered {
            account.persist(Changed { by: -by });
        } else {
            account.confirm();
        }
        is_covered
    }
}

#[derive(Message)]
#[message(reply = i64)]
struct Fail;

impl Decide<Fail> for Account {
    fn decide(account: &mut Durable<Self>, _: Fail) -> i64 {
        account.confirm();
        panic!("no answer");
    }
}

fn is_fenced(why: &NotCommitted) -> bool {
    matches!(why.why(), Some(CommitRefusal::Fenced { .. }))
}

fn is_unavailable(why: &NotCommitted) -> bool {
    matches!(why.why(), Some(StoreError::Unavailable { .. }))
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(
    told: Result<T, Broken>,
    is_right: fn(&NotCommitted) -> bool,
) {
    match told {
        Err(Broken::NotCommitted(why)) => assert!(is_right(&why), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_failed<T: std::fmt::Debug>(
    told: Result<T, AskError>,
    is_right: fn(&NotCommitted) -> bool,
) {
    match told {
        Err(AskError::NotCommitted(why)) => assert!(is_right(&why), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// An account with 1, of which another owner has made 3. Returns both actors.
fn replaced(store: &MemoryStore, key: &str) -> [Address; 2] {
    let old = account(&Journal::new(Slow::new(store, 200, 1)), key);
    assert_eq!(old.ask(Deposit(1)).wait(), Ok(1));
    let new = account(&Journal::new(store.clone()), key);
    assert_eq!(new.ask(Deposit(2)).wait(), Ok(3));
    [old, new]
}

fn position(store: &MemoryStore) -> Position {
    wait(|done| store.position(done)).unwrap()
}

#[test]
fn e8_an_owner_that_was_replaced_answers_from_what_it_has_read() {
    everywhere(|| {
        let store = MemoryStore::new();
        let [old, new] = replaced(&store, "alice");
        assert_eq!(old.ask(Balance).wait(), Ok(1));
        assert_eq!(call(&old, |old| old.balance).wait(), Ok(1));
        assert_eq!(call(old.read(), |old| old.balance).wait(), Ok(1));
        assert_eq!(old.ask(Withdraw(2)).wait(), Ok(Err("overdrawn")));
        // Until it is to store something.
        assert_failed(old.ask(Deposit(4)).wait(), is_fenced);
        assert!(old.ended().wait().is_ok());
        assert_eq!(new.ask(Balance).wait(), Ok(3));
    });
}

#[test]
fn e27_an_owner_that_was_replaced_confirms_nothing_and_stops() {
    type Question = fn(&Address) -> Result<i64, NotCommitted>;

    fn of_behaviour(told: Result<i64, Broken>) -> Result<i64, NotCommitted> {
        told.map_err(|broken| match broken {
            Broken::NotCommitted(why) => why,
            other => panic!("{other:?}"),
        })
    }

    fn of_command(told: Result<i64, AskError>) -> Result<i64, NotCommitted> {
        told.map_err(|error| match error {
            AskError::NotCommitted(why) => why,
            other => panic!("{other:?}"),
        })
    }

    let questions: [Question; 8] = [
        |of| of_command(of.ask(confirmed(Balance)).wait()),
        |of| of_command(of.ask(confirmed(confirmed(Look(Log::new())))).wait()),
        |of| of_command(of.ask(Pay(9)).wait().map(|_| 1)),
        |of| of_behaviour(call(confirmed(of), |of| of.balance).wait()),
        |of| of_behaviour(call(confirmed(of.read()), |of| of.balance).wait()),
        |of| of_behaviour(call(confirmed(pipelined(of)), |of| of.balance).wait()),
        |of| of_behaviour(call(pipelined(confirmed(of.read())), |of| of.balance).wait()),
        |of| {
            let told = call(of, |of| {
                of.confirm();
                of.balance
            });
            of_behaviour(told.wait())
        },
    ];
    everywhere(move || {
        for question in questions {
            let store = MemoryStore::new();
            let [old, new] = replaced(&store, "alice");
            let before = position(&store);
            let why = question(&old).unwrap_err();
            assert!(is_fenced(&why), "{why}");
            let ended = old.ended().wait().unwrap();
            assert!(
                matches!(&ended, ExitReason::Failed(why) if why.contains("bank.account/alice")),
                "{ended}"
            );
            // The owner of now is none the wiser, and nothing was stored.
            assert_eq!((question(&new).is_ok(), position(&store)), (true, before));
            assert!(new.ask(Deposit(4)).wait().is_ok());
        }
    });
}

#[test]
fn e27_members_are_confirmed_together() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 200, 2));
        let [alice, bob] = ["alice", "bob"].map(|key| account(&journal, key));
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let both = || call(confirmed((&alice, &bob)), |(a, b)| (a.balance, b.balance)).wait();
        assert_eq!(both(), Ok((1, 0)));
        // One of them, only read.
        let elsewhere = account(&Journal::new(store.clone()), "bob");
        assert_eq!(elsewhere.ask(Deposit(5)).wait(), Ok(5));
        let seen = Log::new();
        let far = seen.clone();
        let told = call((confirmed(&alice), bob.read()), move |(alice, bob)| {
            alice.on_commit(move || far.push("effect"));
            alice.balance + bob.balance
        });
        assert_refused(told.wait(), is_fenced);
        assert!(bob.ended().wait().is_ok());
        assert!(seen.is_empty());
        // The other goes on, and the next owner here is right.
        assert_eq!(alice.ask(confirmed(Balance)).wait(), Ok(1));
        let bob = account(&journal, "bob");
        let both = call(confirmed((alice.read(), bob.read())), |(a, b)| (a.balance, b.balance));
        assert_eq!(both.wait(), Ok((1, 5)));
    });
}

/// Ignores the outcome.
#[test]
fn e27_a_question_comes_behind_what_it_has_seen() {
    everywhere(|| {
        for is_stored in [true, false] {
            let store = Manual::default();
            let alice = account(&Journal::new(store.clone()), "alice");
            assert_eq!(alice.ask(confirmed(Balance)).wait(), Ok(0));
            store.hold();
            let (log, answered) = (Log::new(), Log::new());
            let (first, second) = (log.clone(), answered.clone());
            let deposit = alice.ask(Deposit(5));
            let asked = alice.ask(confirmed(Look(first)));
            let called = call(confirmed(pipelined(&alice)), move |alice| {
                alice.on_commit(move || second.push("called"));
                alice.balance
            });
            let far = store.clone();
            let seen = Log::new();
            let told = seen.clone();
            when(pipelined(&alice), move |_| {
                // (The deposit, and the two questions behind it.)
                told.push(far.len());
                if is_stored { far.release() } else { far.refuse_first() }
            });
            if is_stored {
                assert_eq!((deposit.wait(), asked.wait(), called.wait()), (Ok(5), Ok(5), Ok(5)));
                assert_eq!((log.take(), answered.len()), (vec![5], 1));
            } else {
                assert_failed(deposit.wait(), |why| !is_fenced(why));
                assert!(matches!(asked.wait(), Err(AskError::NotCommitted(_))));
                assert!(matches!(called.wait(), Err(Broken::NotCommitted(_))));
                assert!(log.is_empty() && answered.is_empty());
            }
            let is = if is_stored { 5 } else { 0 };
            assert_eq!(alice.ask(confirmed(Balance)).wait(), Ok(is));
            assert_eq!(call(confirmed(&alice), |alice| alice.balance).wait(), Ok(is));
            assert_eq!(seen.take(), [3]);
        }
    });
}

/// Others neither wait for it nor are refused with it.
#[test]
fn e27_commands_go_on_behind_a_question_that_is_refused() {
    everywhere(|| {
        let store = Manual::default();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        store.hold();
        let asked = alice.ask(confirmed(Balance));
        let looked = alice.ask(Balance);
        let deposit = alice.ask(Deposit(5));
        let far = store.clone();
        when(pipelined(&alice), move |_| far.refuse_first());
        assert_failed(asked.wait(), |why| !is_fenced(why));
        assert_eq!((looked.wait(), deposit.wait()), (Ok(1), Ok(6)));
        assert_eq!(alice.ask(confirmed(Balance)).wait(), Ok(6));
    });
}

/// The state is still valid: nothing is recovered, and nothing settled.
#[test]
fn e27_a_store_that_is_away_confirms_nothing() {
    everywhere(|| {
        for fault in [StoreFault::Unavailable, StoreFault::AnswerLost] {
            let store = MemoryStore::new();
            let alice = account(&Journal::new(store.clone()), "alice");
            assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
            let others = Arc::new(AtomicU32::new(0));
            let far = Arc::clone(&others);
            store.fail(move |operation| {
                if matches!(operation, StoreOperation::Commit(commit) if commit.is_check()) {
                    return fault.clone();
                }
                far.fetch_add(1, SeqCst);
                StoreFault::None
            });
            let seen = Log::new();
            assert_failed(alice.ask(confirmed(Look(seen.clone()))).wait(), is_unavailable);
            assert_refused(call(confirmed(&alice), |one| one.balance).wait(), is_unavailable);
            let told = call(confirmed(pipelined(alice.read())), |one| one.balance);
            assert_refused(told.wait(), is_unavailable);
            assert!(alice.ask(Pay(7)).wait().is_err());
            assert!(seen.is_empty());
            assert_eq!(alice.ask(Balance).wait(), Ok(1));
            assert_eq!(others.load(SeqCst), 0, "nothing else was asked of the store");
            store.heal();
            assert_eq!(alice.ask(confirmed(Look(seen.clone()))).wait(), Ok(1));
            assert_eq!(alice.ask(Deposit(2)).wait(), Ok(3));
            assert_eq!(seen.take(), [1]);
        }
    });
}

/// A commit before it whose outcome is unknown is settled first; a question that is lost with it is
/// none.
#[test]
fn e27_an_unknown_outcome_is_settled_before_the_question_behind_it() {
    everywhere(|| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(Slow::new(&store, 200, 3)), "alice");
        assert_eq!(alice.ask(Balance).wait(), Ok(0));
        let left = AtomicU32::new(1);
        store.fail(move |operation| match operation {
            StoreOperation::Commit(_) if left.swap(0, SeqCst) > 0 => StoreFault::AnswerLost,
            _ => StoreFault::None,
        });
        let deposit = alice.ask(Deposit(5));
        let asked = alice.ask(confirmed(Balance));
        assert_eq!((deposit.wait(), asked.wait()), (Ok(5), Ok(5)));
        assert_eq!(found(&store, "alice").balance, 5);
    });
}

#[test]
fn e27_members_of_two_stores_are_not_confirmed() {
    everywhere_with_faults(|_| {
        let (one, other) = (Journal::new(MemoryStore::new()), Journal::new(MemoryStore::new()));
        let (alice, bob) = (account(&one, "alice"), account(&other, "bob"));
        let is_of_two = |why: &NotCommitted| why.why::<DifferentStores>().is_some();
        let both = call(confirmed((&alice, &bob)), |(a, b)| a.balance + b.balance);
        assert_refused(both.wait(), is_of_two);
        let both = call(confirmed(pipelined((&alice, bob.read()))), |(a, b)| a.balance + b.balance);
        assert_refused(both.wait(), is_of_two);
        assert_eq!(call((&alice, &bob), |(a, b)| a.balance + b.balance).wait(), Ok(0));
    });
}

#[test]
fn e27_a_panic_confirms_nothing_and_others_go_on() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let checks = Arc::new(AtomicU32::new(0));
        let far = Arc::clone(&checks);
        store.fail(move |operation| {
            let is_check = matches!(operation, StoreOperation::Commit(commit) if commit.is_check());
            far.fetch_add(is_check.into(), SeqCst);
            StoreFault::None
        });
        assert!(matches!(alice.ask(Fail).wait(), Err(AskError::Panicked(_))));
        let failed = call(confirmed(&alice), |alice| {
            alice.confirm();
            panic!("half way");
        });
        assert_eq!(failed.wait(), Err(Broken::Panicked("half way".into())));
        // What comes next is not confirmed for the sake of those.
        assert_eq!(alice.ask(Balance).wait(), Ok(1));
        assert_eq!(call(&alice, |alice| alice.balance).wait(), Ok(1));
        assert_eq!(checks.load(SeqCst), 0);
        assert_eq!(alice.ask(confirmed(Balance)).wait(), Ok(1));
        assert_eq!(alice.ask(Balance).wait(), Ok(1));
        assert_eq!(checks.load(SeqCst), 1);
        // What persists something is not checked once more.
        assert_eq!(alice.ask(confirmed(Deposit(1))).wait(), Ok(2));
        assert_eq!(alice.ask(Pay(2)).wait(), Ok(true));
        assert_eq!(checks.load(SeqCst), 1);
    });
}

#[test]
fn e27_all_forms_of_behaviours_can_be_confirmed() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 300, 3));
        let all: Addresses = ["a", "b", "c"].map(|key| account(&journal, key)).into();
        let (a, b) = (&all[0], &all[1]);
        let log = Log::new();
        let note = |name| {
            let log = log.clone();
            move |balance: i64| log.push((name, balance))
        };
        a.send(Deposit(1)).unwrap();
        let (first, second, third) = (note("when"), note("slice"), note("batch"));
        when(confirmed(a), move |a| {
            let balance = a.balance;
            a.on_commit(move || first(balance));
        });
        when_or_else(confirmed([a, b]), |_| (), |why| panic!("{why}"));
        assert!(coact::try_when(confirmed(&all), |_| ()).is_ok());
        let read = call(confirmed(read_all(&all)), |all| all.iter().map(|it| it.balance).sum());
        assert_eq!(read.wait(), Ok(1));
        when(confirmed(&all), move |mut all| {
            let first = all.iter_mut().next().unwrap();
            let balance = first.balance;
            first.on_commit(move || second(balance));
        });
        Batch::new()
            .when(confirmed(a), move |a| {
                let balance = a.balance;
                a.on_commit(move || third(balance));
            })
            .when((a, confirmed(b.read())), |(a, _)| a.persist(Changed { by: 6 }))
            .spawn();
        when_here(confirmed(a), |_| ());
        let here = call_here(confirmed((a, b)), |(a, b)| a.balance + b.balance);
        let tried = try_call((confirmed(a), b.read()), |(a, b)| (a.balance, b.balance));
        let chained = call(confirmed(b), |b| b.balance + 1)
            .then(confirmed(a), |a, one| a.balance + one.unwrap());
        assert_eq!((here.wait(), tried.unwrap().wait()), (Ok(7), Ok((7, 0))));
        assert_eq!(chained.wait(), Ok(8));
        let (resolver, timed) = Promise::channel();
        coact::time::after(Duration::from_micros(10), confirmed(b), move |b| {
            b.on_commit(move || resolver.resolve(()));
        });
        timed.wait().unwrap();
        assert_eq!(log.take(), [("when", 1), ("slice", 1), ("batch", 1)]);
    });
}

#[test]
fn e27_a_scope_waits_until_a_question_is_confirmed() {
    coact_tests::check(|| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(Slow::new(&store, 300, 4)), "alice");
        let mut seen = -1;
        scope(|scope| {
            scope.when(confirmed(alice.read()), |alice| seen = alice.balance);
        });
        assert_eq!(seen, 0);
    });
}

#[test]
fn e27_what_waits_for_the_store_at_the_end_of_a_runtime_is_cancelled() {
    let runtime = coact_tests::runtime(2, &coact_tests::Faults::new());
    let entered = runtime.enter();
    let store = Manual::default();
    let alice = account(&Journal::new(store.clone()), "alice");
    assert_eq!(alice.ask(Balance).wait(), Ok(0));
    store.hold();
    let asked = alice.ask(confirmed(Balance));
    let called = call(confirmed(pipelined(&alice)), |alice| alice.balance);
    while store.len() < 2 {
        std::thread::yield_now();
    }
    drop(entered);
    let report = runtime.shutdown(Duration::from_millis(1));
    assert!(!report.is_complete());
    assert_eq!(asked.wait(), Err(AskError::Cancelled));
    assert_eq!(called.wait(), Err(Broken::Cancelled));
    store.release();
}

/// Two processes take an account from each other all the time. Each answer that is confirmed has in
/// it all that was told to be stored before it was asked for, by either of them.
#[test]
fn e27_a_confirmed_answer_is_never_older_than_what_was_told_before() {
    everywhere_with_faults(|_| {
        for seed in seeds(3) {
            let store = MemoryStore::new();
            let journals = [seed, seed + 1].map(|seed| Journal::new(Slow::new(&store, 100, seed)));
            let (told, dice) = (Arc::new(AtomicI64::new(0)), Arc::new(Mutex::new(Dice::new(seed))));
            let writer = {
                let (told, journals, dice) = (told.clone(), journals.clone(), dice.clone());
                coact::runtime::spawn_future(async move {
                    for _ in 0..30 {
                        let journal = &journals[dice.lock().unwrap().below(2)];
                        let asked = account(journal, "alice").ask(Deposit(1));
                        if let Ok(balance) = asked.await {
                            told.fetch_max(balance, SeqCst);
                        }
                    }
                })
            };
            let mut confirmed_answers = 0;
            for round in 0..60 {
                let journal = &journals[dice.lock().unwrap().below(2)];
                // (Its actor may have been replaced a while ago.)
                let alice = account(journal, "alice");
                let before = told.load(SeqCst);
                let answer = match round % 3 {
                    0 => alice.ask(confirmed(Balance)).wait().ok(),
                    1 => call(confirmed(alice.read()), |alice| alice.balance).wait().ok(),
                    _ => call(confirmed(pipelined(&alice)), |alice| alice.balance).wait().ok(),
                };
                if let Some(answer) = answer {
                    confirmed_answers += 1;
                    assert!(answer >= before, "{seed}: {answer} is older than {before}");
                }
            }
            writer.wait().unwrap();
            let last = account(&journals[0], "alice");
            let (asked, is) = (last.ask(confirmed(Balance)).wait(), found(&store, "alice").balance);
            assert!(asked.is_err() || asked == Ok(is), "{asked:?}, and {is}");
            assert!(confirmed_answers > 0);
        }
    });
}

/// A store that asks for the settlement of a check, or drops its answer, has not stored anything.
#[derive(Clone)]
struct Forgetful(MemoryStore, Log<CommitId>);

crate::layers::layer!(Forgetful);

impl crate::layers::Layer for Forgetful {
    fn pass(&self, work: crate::layers::Work) {
        work(&self.0);
    }

    fn take_commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        use coact::durable::Store;
        if commit.is_check() {
            self.1.push(commit.id());
            drop(done);
        } else {
            self.0.commit(commit, done);
        }
    }
}

#[test]
fn e27_a_store_that_drops_the_answer_has_not_confirmed_it() {
    everywhere_with_faults(|_| {
        use coact::durable::Store;
        let store = Forgetful(MemoryStore::new(), Log::new());
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        assert_failed(alice.ask(confirmed(Balance)).wait(), is_unavailable);
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(2));
        // It was not settled by the journal: so this is the first that asks.
        let ids = store.1.take();
        assert_eq!(ids.len(), 1);
        assert_eq!(wait(|done| store.0.settle(ids[0], done)), Ok(CommitSettlement::Aborted));
    });
}

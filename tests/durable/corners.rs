//! Abuse of durable actors: states that are exchanged, panics
//! everywhere, owners that get in each other's way.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use coact::Broken;
use coact::actor::{AskError, ExitReason};
use coact::durable::store::{StoreFault, StoreOperation};
use coact::durable::{
    AlreadyOwned, Decide, Durable, EntityId, EventSourced, Journal, LogError, MemoryStore,
    Position, RecoveryError, RecoveryFault, Snapshots, StoreError, stored,
};
use coact::prelude::*;
use coact::supervise::{Supervisor, permanent};
use coact_tests::{Faults, everywhere, everywhere_with_faults, runtime};

use crate::bank::{Account, Balance, Changed, Deposit, UNLUCKY, account, found};
use crate::failures::pass;
use crate::layers::{Layer, Work, layer};
use crate::manual::Manual;
use crate::slow::Slow;

/// A command that is a closure.
struct Run<R>(Decision<R>);

type Decision<R> = Box<dyn FnOnce(&mut Durable<Account>) -> R + Send>;

impl<R> Run<R> {
    fn new(run: impl FnOnce(&mut Durable<Account>) -> R + Send + 'static) -> Self {
        Self(Box::new(run))
    }
}

impl<R: Send + 'static> Message for Run<R> {
    type Reply = R;
}

impl<R: Send + 'static> Decide<Run<R>> for Account {
    fn decide(account: &mut Durable<Self>, Run(run): Run<R>) -> R {
        run(account)
    }
}

fn impatient(store: impl coact::durable::Store) -> Journal {
    Journal::builder(store).patience(Duration::from_millis(30)).build()
}

#[test]
fn e8_one_that_was_replaced_does_not_take_the_entity_back() {
    everywhere(|| {
        let store = MemoryStore::new();
        let old = account(&Journal::new(store.clone()), "alice");
        assert_eq!(old.ask(Deposit(1)).wait(), Ok(1));
        let new = account(&Journal::new(store.clone()), "alice");
        assert_eq!(new.ask(Deposit(2)).wait(), Ok(3));
        let refused = call(&old, |old| old.persist(Changed { by: 100 })).wait();
        assert!(matches!(refused, Err(Broken::NotCommitted(_))), "{refused:?}");
        assert!(matches!(old.ended().wait(), Ok(ExitReason::Failed(_))));
        assert_eq!(new.ask(Deposit(4)).wait(), Ok(7));
    });
}

/// The refusal comes while a command looks at what is refused, and on its own thread.
#[test]
fn e5_a_look_at_what_is_refused_is_refused_as_well() {
    everywhere(|| {
        let store = Manual::default();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        store.hold();
        let written = alice.ask(Deposit(10));
        let effect = Arc::new(AtomicBool::new(false));
        let (far, refusing) = (Arc::clone(&effect), store.clone());
        let seen = alice.ask(Run::new(move |account| {
            assert_eq!(refusing.len(), 1);
            refusing.refuse();
            account.on_commit(move || far.store(true, SeqCst));
            account.balance
        }));
        assert!(matches!(written.wait(), Err(AskError::NotCommitted(_))));
        assert!(matches!(seen.wait(), Err(AskError::NotCommitted(_))));
        assert_eq!(alice.ask(Balance).wait(), Ok(1));
        assert!(!effect.load(SeqCst));
    });
}

/// The same, if the refusal is known and handled while the command still looks.
#[test]
fn e5_a_look_that_is_slower_than_the_refusal_is_refused_as_well() {
    let runtime = runtime(2, &Faults::new());
    let _entered = runtime.enter();
    let store = Manual::default();
    let alice = account(&Journal::new(store.clone()), "alice");
    assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
    store.hold();
    let written = alice.ask(Deposit(10));
    let ((begin, begun), (go_on, gone_on)) = (mpsc::channel(), mpsc::channel());
    let seen = alice.ask(Run::new(move |account| {
        begin.send(()).unwrap();
        gone_on.recv().unwrap();
        account.balance
    }));
    begun.recv().unwrap();
    store.refuse();
    assert!(matches!(written.wait(), Err(AskError::NotCommitted(_))));
    go_on.send(()).unwrap();
    assert!(matches!(seen.wait(), Err(AskError::NotCommitted(_))));
    assert_eq!(alice.ask(Balance).wait(), Ok(1));
}

#[test]
fn e5_who_reads_behind_a_refusal_reads_what_is_stored() {
    everywhere(|| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        store.fail(|operation| match operation {
            StoreOperation::Commit(_) => StoreFault::Unavailable,
            _ => StoreFault::None,
        });
        assert!(alice.ask(Deposit(1)).wait().is_err());
        store.heal();
        let seen = loop {
            match call(alice.read(), |alice| alice.balance).wait() {
                // It was there before the actor could look after itself.
                Err(Broken::NotCommitted(_)) => {}
                seen => break seen,
            }
        };
        assert_eq!(seen, Ok(1));
    });
}

#[test]
fn e8_another_actor_of_an_entity_waits_and_is_told_why() {
    everywhere(|| {
        let journal = impatient(MemoryStore::new());
        let first = account(&journal, "alice");
        assert_eq!(first.ask(Deposit(1)).wait(), Ok(1));
        let second = spawn(journal.durable::<Account>("alice"));
        let both = call((&first, &second), |(first, second)| (first.balance, second.balance));
        let refused = second.ask(Deposit(1)).wait();
        let Err(AskError::NotCommitted(why)) = refused else { panic!("{refused:?}") };
        assert_eq!(why.why(), Some(&AlreadyOwned(EntityId::new("bank.account", "alice"))));
        assert!(matches!(both.wait(), Err(Broken::NotCommitted(_))));
        // The first does not care.
        assert_eq!(first.ask(Deposit(1)).wait(), Ok(2));
        drop(first);
        let taken_over = loop {
            match second.ask(Deposit(1)).wait() {
                Err(AskError::NotCommitted(_)) => pass(Duration::from_millis(10)),
                told => break told,
            }
        };
        assert_eq!(taken_over, Ok(3));
    });
}

#[test]
fn e8_a_supervised_actor_and_one_by_its_key_do_not_block_each_other() {
    everywhere(|| {
        let journal = impatient(MemoryStore::new());
        let (supervisor, far) = (Supervisor::dynamic().spawn(), journal.clone());
        let child = permanent(move || far.durable::<Account>("alice"));
        let child = supervisor.start_child(child).wait().unwrap();
        assert_eq!(child.ask(Deposit(1)).wait(), Ok(1));
        // It is the same one.
        assert_eq!(account(&journal, "alice").ask(Deposit(1)).wait(), Ok(2));
        // Another one of its own waits, and is told why.
        let other = spawn(journal.durable::<Account>("alice"));
        let refused = other.ask(Balance).wait();
        assert!(matches!(refused, Err(AskError::NotCommitted(_))), "{refused:?}");
        assert_eq!(child.ask(Deposit(1)).wait(), Ok(3));
    });
}

#[test]
fn e4_what_was_sent_to_an_address_that_is_gone_is_handled_though_another_waits() {
    everywhere(|| {
        let journal = Journal::new(Slow::new(&MemoryStore::new(), 200, 1));
        let alice = account(&journal, "alice");
        let before = [alice.ask(Deposit(1)), alice.ask(Deposit(2))];
        drop(alice);
        let next = spawn(journal.durable::<Account>("alice"));
        assert_eq!(before.map(|asked| asked.wait()), [Ok(1), Ok(3)]);
        assert_eq!(next.ask(Deposit(4)).wait(), Ok(7));
    });
}

/// A refused commit of a former actor does not stop the next one.
#[test]
fn e8_what_an_actor_has_left_concerns_the_next_one_in_nothing() {
    everywhere(|| {
        let store = Manual::default();
        let journal = Journal::builder(store.clone()).most_active(0).build();
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        store.hold();
        let (left, ended) = (alice.ask(Deposit(2)), alice.ended());
        drop(alice);
        // It was sent, so it comes.
        ended.wait().unwrap();
        assert_eq!(store.len(), 1);
        // Then another process takes the entity.
        let elsewhere = account(&Journal::new(store.1.clone()), "alice");
        assert_eq!(elsewhere.ask(Deposit(4)).wait(), Ok(5));
        let next = account(&journal, "alice");
        let seen = next.ask(Balance);
        store.release();
        assert!(matches!(left.wait(), Err(AskError::NotCommitted(_))));
        assert_eq!(seen.wait(), Ok(5));
        assert_eq!(next.ask(Deposit(8)).wait(), Ok(13));
    });
}

#[test]
fn e12_an_actor_does_not_depend_on_the_runtime_of_another_one() {
    let store = MemoryStore::new();
    let journal = impatient(store.clone());
    let [one, other] = [1, 2].map(|workers| runtime(workers, &Faults::new()));
    let alice = {
        let _entered = one.enter();
        account(&journal, "alice")
    };
    assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
    {
        let _entered = other.enter();
        let second = spawn(journal.durable::<Account>("alice"));
        assert!(second.ask(Balance).wait().is_err());
    }
    other.shutdown(Duration::from_secs(1));
    assert_eq!(alice.ask(Deposit(1)).wait(), Ok(2));
    // It still hears that it was replaced.
    let _entered = one.enter();
    assert_eq!(found(&store, "alice").balance, 2);
    assert!(matches!(alice.ask(Deposit(1)).wait(), Err(AskError::NotCommitted(_))));
    assert!(matches!(alice.ended().wait(), Ok(ExitReason::Failed(_))));
}

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("dropped");
        }
    }
}

#[test]
fn e5_an_effect_that_panics_where_it_is_dropped_changes_nothing() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        store.fail(|operation| match operation {
            StoreOperation::Commit(_) => StoreFault::Unavailable,
            _ => StoreFault::None,
        });
        let refused = call(&alice, |alice| {
            alice.persist(Changed { by: 1 });
            let panics = PanicsOnDrop;
            alice.on_commit(move || drop(panics));
        });
        assert!(matches!(refused.wait(), Err(Broken::NotCommitted(_))));
        store.heal();
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(2));
    });
}

#[test]
fn e6_a_store_that_panics_has_lost_the_answer() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let alice = account(&impatient(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        store.fail(|operation| match operation {
            StoreOperation::Commit(_) => panic!("a store of bad quality"),
            _ => StoreFault::None,
        });
        let stepped = call(&alice, |alice| alice.persist(Changed { by: 1 })).wait();
        assert!(matches!(stepped, Err(Broken::NotCommitted(_))), "{stepped:?}");
        assert!(matches!(alice.ask(Deposit(1)).wait(), Err(AskError::NotCommitted(_))));
        store.fail(|_| panic!("a store of worse quality"));
        drop(alice);
        let again = account(&impatient(store.clone()), "alice").ask(Balance).wait();
        let Err(AskError::NotCommitted(why)) = again else { panic!("{again:?}") };
        assert!(matches!(why.why(), Some(StoreError::Unavailable { .. })), "{why}");
        store.heal();
        assert_eq!(found(&store, "alice").balance, 1);
    });
}

/// An entity whose parts panic where a test wants it.
#[derive(Default)]
struct Fragile {
    applied: u32,
    drops: bool,
}

#[stored(name = "step")]
struct Step {
    #[n(0)]
    panics: bool,
    #[n(1)]
    drops: bool,
}

impl Drop for Step {
    fn drop(&mut self) {
        if self.drops && !thread::panicking() {
            panic!("an event is dropped");
        }
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        if self.drops && !thread::panicking() {
            panic!("a state is dropped");
        }
    }
}

impl EventSourced for Fragile {
    const KIND: &'static str = "fragile";
    type Event = Step;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, step: &Step) {
        self.applied += 1;
        if step.panics && self.applied > 1 {
            self.drops = true;
            panic!("an event is applied");
        }
    }

    fn snapshots() -> Option<Snapshots<Self>> {
        assert!(SOUND.load(SeqCst), "snapshots are asked for");
        None
    }
}

static SOUND: AtomicBool = AtomicBool::new(true);

#[derive(Message)]
#[message(reply = u32)]
struct Applied;

impl Decide<Applied> for Fragile {
    fn decide(fragile: &mut Durable<Self>, _: Applied) -> u32 {
        fragile.applied
    }
}

/// Stores such steps, as another program might.
fn with_steps(steps: &[(bool, bool)]) -> MemoryStore {
    use coact::durable::Store;
    use coact::durable::store::{Commit, StoreOutcome, wait, write};
    let (store, id) = (MemoryStore::new(), EntityId::new("fragile", "x"));
    let claim = wait(|done| store.claim(id.clone(), done)).unwrap();
    let (mut commit, mut hash) = (Commit::new(), claim.hash);
    let member = commit.member(id, claim.epoch, claim.last);
    for (panics, drops) in steps {
        let mut step = Step { panics: *panics, drops: *drops };
        hash = member.event(write(&step).unwrap(), hash);
        step.drops = false;
    }
    assert!(matches!(wait(|done| store.commit(commit, done)), StoreOutcome::Committed(_)));
    store
}

/// It is abandoned at once, with the reason.
fn is_given_up(store: &MemoryStore) {
    let fragile = Journal::new(store.clone()).entity::<Fragile>("x");
    let (asked, called) = (fragile.ask(Applied), call(&fragile, |fragile| fragile.applied));
    let ended = fragile.ended().wait().unwrap();
    let ExitReason::Failed(reason) = &ended else { panic!("{ended}") };
    assert!(reason.contains("fragile/x"), "{reason}");
    match asked.wait() {
        Err(AskError::Stopped(other)) => assert_eq!(other, ended),
        Err(AskError::NotCommitted(why)) => {
            let error = why.why::<RecoveryError>().unwrap();
            assert!(matches!(error.why, RecoveryFault::Panicked(_)), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert!(called.wait().is_err());
}

#[test]
fn e7_a_panic_anywhere_in_a_recovery_ends_it() {
    everywhere_with_faults(|_| {
        is_given_up(&with_steps(&[(false, false), (false, true)]));
        is_given_up(&with_steps(&[(false, false), (true, false)]));
        SOUND.store(false, SeqCst);
        let unsound =
            catch_unwind(AssertUnwindSafe(|| is_given_up(&with_steps(&[(false, false)]))));
        SOUND.store(true, SeqCst);
        assert!(unsound.is_ok());
    });
}

#[test]
fn e1_a_command_does_not_exchange_its_state() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone());
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let bob = journal.durable::<Account>("bob");
        let exchanged = alice.ask(Run::new(move |account| {
            account.persist(Changed { by: 10 });
            *account = bob;
        }));
        assert!(matches!(exchanged.wait(), Err(AskError::Panicked(_))));
        let standalone = alice.ask(Run::new(|account| {
            account.persist(Changed { by: 10 });
            *account = Durable::standalone(Account::default());
        }));
        assert!(matches!(standalone.wait(), Err(AskError::Panicked(_))));
        assert_eq!(alice.ask(Balance).wait(), Ok(1));
    });
}

#[test]
fn e1_a_panic_of_apply_that_is_caught_is_one_of_the_decision() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let torn = |account: &mut Durable<Account>| {
            let caught =
                catch_unwind(AssertUnwindSafe(|| account.persist(Changed { by: UNLUCKY })));
            assert!(caught.is_err());
            account.persist(Changed { by: 1 });
        };
        let told = alice.ask(Run::new(torn)).wait();
        assert!(matches!(told, Err(AskError::Panicked(_))), "{told:?}");
        assert_eq!(alice.ask(Balance).wait(), Ok(1));
        assert!(matches!(call(&alice, torn).wait(), Err(Broken::Panicked(_))));
        assert_eq!(alice.ask(Balance).wait(), Ok(1));
    });
}

#[test]
fn e8_two_types_of_one_kind_are_told() {
    struct Impostor;
    impl EventSourced for Impostor {
        const KIND: &'static str = Account::KIND;
        type Event = Changed;
        fn new(_: &EntityId) -> Self {
            Self
        }
        fn apply(&mut self, _: &Changed) {}
    }
    coact_tests::check(|| {
        let journal = Journal::new(MemoryStore::new());
        let alice = account(&journal, "alice");
        let is_told = |impose: &dyn Fn()| {
            let told = catch_unwind(AssertUnwindSafe(impose)).unwrap_err();
            let message = coact_tests::message_of(&*told);
            for part in ["`bank.account`", "::Account`", "::Impostor`"] {
                assert!(message.contains(part), "{message}");
            }
        };
        is_told(&|| drop(journal.durable::<Impostor>("alice")));
        is_told(&|| drop(journal.entity::<Impostor>("another")));
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        drop(alice);
        is_told(&|| drop(journal.entity::<Impostor>("alice")));
        assert_eq!(account(&journal, "alice").ask(Deposit(1)).wait(), Ok(2));
    });
}

/// The store answers on a thread of its own while the runtime ends: every wait ends.
#[test]
fn e12_all_that_waits_is_told_at_a_shutdown() {
    for round in 0..rounds() {
        let (tell, answers) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let store = thread::spawn(move || answers.into_iter().for_each(|answer| answer()));
        let runtime = runtime(2, &Faults::new());
        let promises: Vec<_> = {
            let _entered = runtime.enter();
            let journal = Journal::new(Elsewhere(MemoryStore::new(), tell));
            let all: Vec<_> = (0..3).map(|key| account(&journal, &key.to_string())).collect();
            let step = |n: usize| {
                call((&all[n % 3], &all[(n + 1) % 3]), |(one, other)| {
                    one.persist(Changed { by: 1 });
                    other.persist(Changed { by: 1 });
                })
            };
            (0..8).map(step).collect()
        };
        runtime.shutdown(Duration::from_micros(7 * round % 400));
        let (told, all) = mpsc::channel();
        let waits = thread::spawn(move || {
            promises.into_iter().for_each(|promise| drop(promise.wait()));
            told.send(()).unwrap();
        });
        all.recv_timeout(coact_tests::PATIENCE).expect("all promises are told");
        waits.join().unwrap();
        store.join().unwrap();
    }
}

/// (The race that it looks for comes once in some hundred rounds.)
fn rounds() -> u64 {
    std::env::var("COACT_SHUTDOWNS").ok().and_then(|text| text.parse().ok()).unwrap_or(600)
}

/// A store whose thread answers.
struct Elsewhere(MemoryStore, mpsc::Sender<Box<dyn FnOnce() + Send>>);

layer!(Elsewhere);

impl Layer for Elsewhere {
    fn pass(&self, work: Work) {
        let store = self.0.clone();
        let _ = self.1.send(Box::new(move || work(&store)));
    }
}

/// A thread that waits for events which never come.
#[test]
fn r1_logs_end_with_their_runtime() {
    let journal = Journal::new(MemoryStore::new());
    let runtime = runtime(1, &Faults::new());
    let (tell, told) = mpsc::channel();
    let threads = [None, Some(Duration::from_secs(3_600))].map(|every| {
        let log = journal.log::<Account>(Position::ZERO);
        let mut log = match every {
            Some(every) => log.poll_every(every),
            None => log,
        };
        let (home, tell) = (runtime.handle(), tell.clone());
        thread::spawn(move || {
            let _entered = home.enter();
            tell.send(log.wait_next().map(drop)).unwrap();
        })
    });
    // (Wherever they are by now.)
    pass(Duration::from_millis(20));
    runtime.shutdown(Duration::from_millis(1));
    for thread in threads {
        let error = told.recv_timeout(coact_tests::PATIENCE).expect("it is told");
        assert_eq!(error, Err(LogError::Ended));
        thread.join().unwrap();
    }
}

/// What lasts is measured by one clock, though a step is over actors of two runtimes, of which one
/// is older.
#[test]
fn e10_patience_is_the_same_for_entities_of_several_runtimes() {
    let patience = Duration::from_millis(200);
    let runtimes = [0, 1].map(|_| {
        let runtime = runtime(1, &Faults::new());
        pass(Duration::from_millis(500));
        runtime
    });
    for homes in [[0, 1], [1, 0]] {
        let store = MemoryStore::new();
        store.fail(|operation| match operation {
            StoreOperation::Claim(id) if id.key() == "b" => StoreFault::Unavailable,
            _ => StoreFault::None,
        });
        let journal = Journal::builder(store).patience(patience).build();
        let [a, b] = [("a", homes[0]), ("b", homes[1])].map(|(key, home)| {
            let _entered = runtimes[home].enter();
            account(&journal, key)
        });
        let began = Instant::now();
        let step = call((&a, &b), |(a, _)| a.persist(Changed { by: 1 }));
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn(move || tell.send(step.wait()).unwrap());
        let error = told.recv_timeout(coact_tests::PATIENCE).expect("it is told").unwrap_err();
        assert!(matches!(error, Broken::NotCommitted(_)), "{error}");
        assert!(began.elapsed() >= patience / 2, "{:?}", began.elapsed());
        thread.join().unwrap();
    }
}

//! Pipelined behaviours: what they may see before it is stored, and what others see of that.

use std::time::Duration;

use coact::actor::AskError;
use coact::behaviour::{Batch, scope};
use coact::cown::read_all;
use coact::durable::store::{StoreFault, StoreOperation};
use coact::durable::{DifferentStores, Journal, MemoryStore, pipelined};
use coact::prelude::*;
use coact::{Broken, call_here, try_call, when_here};
use coact_tests::{Dice, Faults, Log, everywhere, everywhere_with_faults, runtime};

use crate::bank::{Account, Addresses, Balance, Changed, Deposit, account, found};
use crate::manual::Manual;
use crate::slow::Slow;

type Two<'a> = (&'a mut Durable<Account>, &'a mut Durable<Account>);
type Durable<E> = coact::durable::Durable<E>;

/// Moves a cent. Returns the balances.
fn cent((from, to): Two<'_>) -> (i64, i64) {
    from.persist(Changed { by: -1 });
    to.persist(Changed { by: 1 });
    (from.balance, to.balance)
}

/// Two recovered accounts, in a store that holds commits back.
fn two_held(store: &Manual) -> [Addr<Durable<Account>>; 2] {
    let journal = Journal::new(store.clone());
    let two = ["alice", "bob"].map(|key| account(&journal, key));
    call(two.each_ref(), |_| ()).wait().unwrap();
    store.hold();
    two
}

fn balances(all: &Addresses) -> Promise<Vec<i64>> {
    call(all, |all| all.iter().map(|one| one.balance).collect())
}

fn is_refused<T>(told: &Result<T, Broken>) -> bool {
    matches!(told, Err(Broken::NotCommitted(_)))
}

#[test]
fn e23_pipelined_behaviours_wait_for_no_commit() {
    everywhere(|| {
        let store = Manual::default();
        let [alice, bob] = two_held(&store);
        let told: Vec<_> = (0..20).map(|_| call(pipelined((&alice, &bob)), cent)).collect();
        let far = store.clone();
        let last = call(pipelined((&alice, bob.read())), move |(alice, bob)| {
            assert_eq!(far.len(), 20);
            far.release();
            (alice.balance, bob.balance)
        });
        for (n, told) in (1..).zip(told) {
            assert_eq!(told.wait(), Ok((-n, n)));
        }
        assert_eq!(last.wait(), Ok((-20, 20)));
        assert_eq!((found(&store.1, "alice").balance, found(&store.1, "bob").balance), (-20, 20));
    });
}

#[test]
fn e23_nobody_else_sees_what_is_not_stored() {
    everywhere(|| {
        let store = Manual::default();
        let journal = Journal::new(store.clone());
        let all: Addresses = ["alice", "bob"].map(|key| account(&journal, key)).into();
        let (alice, bob) = (&all[0], &all[1]);
        call(&all, |_| ()).wait().unwrap();
        store.hold();
        let (log, effects) = (Log::new(), Log::new());
        let far = effects.clone();
        let moved = call(pipelined((alice, bob)), move |two| {
            two.0.on_commit(move || far.push("effect"));
            cent(two)
        });
        let look = || {
            let (log, store, effects) = (log.clone(), store.1.clone(), effects.clone());
            move |balance| log.push((balance, events(&store, "alice"), effects.len()))
        };
        let (first, second, third) = (look(), look(), look());
        when(alice, move |alice| first(alice.balance));
        when(alice.read(), move |alice| second(alice.balance));
        let far = store.clone();
        when(pipelined(bob), move |_| far.release());
        when(read_all(&all), move |all| third(all[0].balance));
        assert_eq!(moved.wait(), Ok((-1, 1)));
        call(&all, |_| ()).wait().unwrap();
        assert_eq!(log.take(), [(-1, 1, 1); 3]);
    });
}

fn events(store: &MemoryStore, key: &str) -> usize {
    use coact::durable::store::{StoreReader, wait};
    use coact::durable::{EntityId, Seq};
    let id = EntityId::new("bank.account", key);
    wait(|done| store.events(id, Seq::ZERO, 100, done)).unwrap().len()
}

/// A decision that has seen a refused one is refused, and the states are as if neither had been.
#[test]
fn e23_a_refusal_is_one_of_all_that_has_seen_it() {
    everywhere(|| {
        let store = Manual::default();
        let journal = Journal::new(store.clone());
        let all: Addresses = ["a", "b", "c", "d"].map(|key| account(&journal, key)).into();
        call(&all, |_| ()).wait().unwrap();
        let effects = Log::new();
        for _ in 0..2 {
            store.hold();
            // From each to the next.
            let moved: Vec<_> = all
                .windows(2)
                .map(|two| {
                    let effects = effects.clone();
                    call(pipelined((&two[0], &two[1])), move |two| {
                        two.0.on_commit(move || effects.push(()));
                        cent(two)
                    })
                })
                .collect();
            let far = store.clone();
            let seen = call(pipelined((all[3].read(), all[2].read())), move |(d, c)| {
                far.refuse_first();
                (c.balance, d.balance)
            });
            let later = balances(&all);
            assert!(moved.into_iter().all(|moved| is_refused(&moved.wait())));
            assert!(is_refused(&seen.wait()));
            assert_eq!(later.wait(), Ok(vec![0; 4]));
            assert!(effects.is_empty());
        }
        // It is over then.
        store.hold();
        let moved = call(pipelined((&all[0], &all[1])), cent);
        let far = store.clone();
        let seen = call(pipelined(all[1].read()), move |b| {
            far.release();
            b.balance
        });
        assert_eq!((moved.wait(), seen.wait()), (Ok((-1, 1)), Ok(1)));
    });
}

/// One that was decided on apart from what is refused is stored, though another that has seen both
/// is not.
#[test]
fn e23_a_refusal_is_none_of_others() {
    let runtime = runtime(2, &Faults::new());
    let _entered = runtime.enter();
    let store = Manual::default();
    let journal = Journal::new(store.clone());
    let all: Addresses = ["a", "b", "c", "d"].map(|key| account(&journal, key)).into();
    call(&all, |_| ()).wait().unwrap();
    store.hold();
    let reaches = |commits| {
        while store.len() < commits {
            std::thread::yield_now();
        }
    };
    let refused = call(pipelined((&all[0], &all[1])), cent);
    reaches(1);
    let stored = call(pipelined((&all[2], &all[3])), cent);
    reaches(2);
    let both = call(pipelined((&all[1], &all[2])), cent);
    reaches(3);
    store.refuse_first();
    assert!(is_refused(&refused.wait()) && is_refused(&both.wait()));
    assert_eq!(stored.wait(), Ok((-1, 1)));
    assert_eq!(balances(&all).wait(), Ok(vec![0, 0, -1, 1]));
}

/// An entity that a refused decision only read goes on as if that had never been.
#[test]
fn e23_who_was_only_read_by_what_is_refused_goes_on() {
    everywhere(|| {
        let store = Manual::default();
        let [alice, bob] = two_held(&store);
        let refused = call(pipelined((alice.read(), &bob)), |(alice, bob)| {
            bob.persist(Changed { by: 1 + alice.balance });
        });
        // Both come behind a part of that.
        let asked = alice.ask(Balance);
        let looked = call(pipelined(alice.read()), |alice| alice.balance);
        let far = store.clone();
        let of_bob = call(pipelined(bob.read()), move |bob| {
            far.refuse_first();
            bob.balance
        });
        assert!(is_refused(&refused.wait()) && is_refused(&of_bob.wait()));
        assert_eq!((asked.wait(), looked.wait()), (Ok(0), Ok(0)));
        store.hold();
        let stored = alice.ask(Deposit(5));
        let far = store.clone();
        let looked = call(pipelined(&alice), move |alice| {
            far.release();
            alice.balance
        });
        assert_eq!((stored.wait(), looked.wait()), (Ok(5), Ok(5)));
    });
}

/// A command that has begun anew on what was to be deleted has not, if that is refused: not even
/// one whose number is that of what is there.
#[test]
fn e5_what_was_decided_behind_a_deletion_that_is_refused_is_refused() {
    #[derive(Message)]
    #[message(reply = ())]
    struct Delete;
    impl coact::durable::Decide<Delete> for Account {
        fn decide(account: &mut Durable<Self>, _: Delete) {
            account.delete();
        }
    }

    everywhere(|| {
        let store = Manual::default();
        let alice = account(&Journal::new(store.clone()), "alice");
        (1..=3)
            .for_each(|n| assert_eq!(alice.ask(Deposit(n)).wait(), Ok([1, 3, 6][n as usize - 1])));
        store.hold();
        let deleted = alice.ask(Delete);
        let behind: Vec<_> = (1..=6).map(|n| alice.ask(Deposit(100 * n))).collect();
        let far = store.clone();
        let looked = call(pipelined(&alice), move |_| far.refuse_first());
        assert!(deleted.wait().is_err());
        assert!(behind.into_iter().all(|asked| asked.wait().is_err()));
        assert!(is_refused(&looked.wait()));
        assert_eq!(alice.ask(Balance).wait(), Ok(6));
        assert_eq!(found(&store.1, "alice").changes, [1, 2, 3]);
    });
}

/// Effects and results leave in the order of the decisions, for each entity and across them.
#[test]
fn e23_what_follows_leaves_in_the_order_of_the_decisions() {
    const ACCOUNTS: usize = 5;
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 200, 1));
        let keys: Vec<String> = (0..ACCOUNTS).map(|n| n.to_string()).collect();
        let all: Addresses = keys.iter().map(|key| account(&journal, key)).collect();
        let (mut dice, done) = (Dice::new(2), Log::new());
        let mut used = Vec::new();
        for n in 0..80 {
            let (from, to) = (dice.below(ACCOUNTS), dice.below(ACCOUNTS));
            let effect = done.clone();
            if from == to {
                all[from].send(Deposit(0)).unwrap();
                when(pipelined(&all[from]), move |one| one.on_commit(move || effect.push(n)));
            } else {
                when(pipelined((&all[from], &all[to])), move |two| {
                    two.1.on_commit(move || effect.push(n));
                    cent(two);
                });
            }
            used.push([from, to]);
        }
        let sum = call(read_all(&all), |all| all.iter().map(|one| one.balance).sum::<i64>());
        assert_eq!(sum.wait(), Ok(0));
        let done = done.take();
        assert_eq!(done.len(), 80);
        for (at, later) in done.iter().enumerate() {
            for earlier in done[at + 1..].iter().filter(|earlier| *earlier < later) {
                let (a, b) = (used[*earlier], used[*later]);
                assert!(a.iter().all(|one| !b.contains(one)), "{later} before {earlier}: {done:?}");
            }
        }
    });
}

#[test]
fn e23_all_forms_of_behaviours_can_be_pipelined() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 300, 3));
        let all: Addresses = ["a", "b", "c"].map(|key| account(&journal, key)).into();
        let (a, b) = (&all[0], &all[1]);
        when(pipelined(a), |a| a.persist(Changed { by: 1 }));
        assert!(
            coact::try_when(pipelined([a, b]), |all| all
                .into_iter()
                .for_each(|one| one.persist(Changed { by: 2 })))
            .is_ok()
        );
        let tried = try_call((pipelined(a), b.read()), |(a, b)| {
            a.persist(Changed { by: 3 });
            (a.balance, b.balance)
        });
        when(pipelined(&all), |all| all.into_iter().for_each(|one| one.persist(Changed { by: 4 })));
        Batch::new()
            .when(pipelined(a), |a| a.persist(Changed { by: 5 }))
            .when((a, b), |(a, b)| {
                a.persist(Changed { by: 6 });
                b.persist(Changed { by: 6 });
            })
            .spawn();
        when_here(pipelined(a), |a| a.persist(Changed { by: 7 }));
        let here = call_here(pipelined((a, b)), |(a, b)| {
            a.persist(Changed { by: 8 });
            b.balance
        });
        let chained = call(pipelined(b), |b| b.balance).then(pipelined(a), |a, b| {
            a.persist(Changed { by: b.unwrap() });
            a.balance
        });
        let (resolver, timed) = Promise::channel();
        coact::time::after(Duration::from_micros(10), pipelined(b), move |b| {
            b.persist(Changed { by: 9 });
            b.on_commit(move || resolver.resolve(()));
        });
        assert_eq!(tried.unwrap().wait(), Ok((6, 2)));
        assert_eq!(here.wait(), Ok(12));
        assert_eq!(chained.wait(), Ok(48));
        timed.wait().unwrap();
        assert_eq!(found(&store, "a").changes, [1, 2, 3, 4, 5, 6, 7, 8, 12]);
        assert_eq!(found(&store, "b").changes, [2, 4, 6, 9]);
        assert_eq!(found(&store, "c").changes, [4]);
    });
}

#[test]
fn e23_a_scope_waits_until_a_pipelined_behaviour_is_stored() {
    coact_tests::check(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 300, 4));
        let alice = account(&journal, "alice");
        let (by, mut seen) = (vec![1, 2, 3], 0);
        scope(|scope| {
            let pipelined = pipelined(&alice);
            scope.when(pipelined, |alice| {
                by.iter().for_each(|by| alice.persist(Changed { by: *by }));
                seen = alice.balance;
            });
        });
        assert_eq!((seen, found(&store, "alice").changes), (6, by));
    });
}

#[test]
fn e23_a_panic_stores_nothing_and_others_go_on() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 300, 6));
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        let before = call(pipelined((&alice, &bob)), cent);
        let failed = call(pipelined((&alice, &bob)), |two| {
            cent(two);
            panic!("half way");
        });
        let next = call(pipelined((&alice, &bob)), cent);
        assert_eq!(failed.wait(), Err::<(), _>(Broken::Panicked("half way".into())));
        assert_eq!((before.wait(), next.wait()), (Ok((-1, 1)), Ok((-2, 2))));
        assert_eq!((found(&store, "alice").balance, found(&store, "bob").balance), (-2, 2));
    });
}

#[test]
fn e23_members_of_two_stores_are_refused() {
    everywhere_with_faults(|_| {
        let (one, other) = (Journal::new(MemoryStore::new()), Journal::new(MemoryStore::new()));
        let (alice, bob) = (account(&one, "alice"), account(&other, "bob"));
        let refused = call(pipelined((&alice, &bob)), cent).wait();
        let Err(Broken::NotCommitted(why)) = refused else { panic!("{refused:?}") };
        assert_eq!(why.why::<DifferentStores>(), Some(&DifferentStores));
        let seen = call(pipelined((&alice, &bob)), |(alice, bob)| (alice.balance, bob.balance));
        assert_eq!(seen.wait(), Ok((0, 0)));
    });
}

/// What is decided behind a commit whose outcome is unknown waits until that is settled.
#[test]
fn e23_an_unknown_outcome_is_settled_before_what_comes_behind_it() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 200, 7));
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        call((&alice, &bob), |_| ()).wait().unwrap();
        let first = std::sync::atomic::AtomicBool::new(true);
        store.fail(move |operation| match operation {
            StoreOperation::Commit(_) if first.swap(false, std::sync::atomic::Ordering::SeqCst) => {
                StoreFault::AnswerLost
            }
            _ => StoreFault::None,
        });
        let effects = Log::new();
        let told: Vec<_> = (0..5)
            .map(|n| {
                let effects = effects.clone();
                call(pipelined((&alice, &bob)), move |two| {
                    two.1.on_commit(move || effects.push(n));
                    cent(two)
                })
            })
            .collect();
        let told: Vec<_> = told.into_iter().map(Promise::wait).collect();
        assert_eq!(told, (1..=5).map(|n| Ok((-n, n))).collect::<Vec<_>>());
        assert_eq!(effects.take(), [0, 1, 2, 3, 4]);
    });
}

/// Those who only read the same two accounts, named in either order, do not wait for each other.
#[test]
fn e23_readers_of_the_same_accounts_wait_for_no_one_another() {
    let runtime = runtime(4, &Faults::new());
    let _entered = runtime.enter();
    let store = MemoryStore::new();
    let journal = Journal::new(Slow::new(&store, 20, 8));
    let (a, b) = (account(&journal, "a"), account(&journal, "b"));
    for _ in 0..300 {
        let moved = call(pipelined((&a, &b)), cent);
        let told: Vec<_> = (0..40)
            .map(|n| match n % 2 {
                0 => call(pipelined((a.read(), b.read())), |(a, b)| a.balance + b.balance),
                _ => call(pipelined((b.read(), a.read())), |(b, a)| a.balance + b.balance),
            })
            .collect();
        told.into_iter().for_each(|told| assert_eq!(told.wait(), Ok(0)));
        assert!(moved.wait().is_ok());
    }
}

/// The end of a runtime reaches what follows from a long chain of pending steps.
#[test]
fn e23_what_is_on_its_way_at_the_end_of_a_runtime_is_cancelled() {
    const CHAIN: usize = 20_000;
    let store = Manual::default();
    let ended = runtime(2, &Faults::new());
    let told: Vec<_> = {
        let _entered = ended.enter();
        let journal = Journal::builder(store.clone()).most_active(CHAIN).build();
        let all: Addresses = (0..=CHAIN).map(|n| account(&journal, &n.to_string())).collect();
        call(&all[..32], |_| ()).wait().unwrap();
        all.iter().for_each(|one| assert_eq!(one.ask(Balance).wait(), Ok(0)));
        store.hold();
        all.windows(2).map(|two| call(pipelined((&two[0], &two[1])), cent)).collect()
    };
    while store.len() < CHAIN {
        std::thread::yield_now();
    }
    let report = ended.shutdown(Duration::from_millis(1));
    assert!(!report.is_complete());
    store.release();
    for told in told {
        assert_eq!(told.wait(), Err(Broken::Cancelled));
    }
}

/// The same if an entity waits for a pending commit of another one, whose outcome is told last.
#[test]
fn e23_what_waits_for_another_at_the_end_of_a_runtime_is_cancelled() {
    let store = Manual::default();
    let ended = runtime(1, &Faults::new());
    let (looked, asked) = {
        let _entered = ended.enter();
        let [alice, bob] = two_held(&store);
        let of_alice = alice.ask(Deposit(1));
        let looked = call(pipelined((&alice, &bob)), |_| ());
        let of_bob = bob.ask(Deposit(1));
        while store.len() < 2 {
            std::thread::yield_now();
        }
        call(&Cown::new(()), |()| ()).wait().unwrap();
        (looked, [of_alice, of_bob])
    };
    assert!(!ended.shutdown(Duration::from_millis(1)).is_complete());
    store.release_backwards();
    assert_eq!(looked.wait(), Err(Broken::Cancelled));
    asked.into_iter().for_each(|asked| assert_eq!(asked.wait(), Err(AskError::Cancelled)));
}

//! As many actors of one kind as are needed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use coact::Context;
use coact::actor::ActorId;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::routing::{Pool, RouteError, Router, Routing};
use coact::sim::{self, Sim};
use coact::system::Host;
use coact_tests::{Dice, Log, PATIENCE, check, check_with_faults, fail, finally, panic_of};

use crate::hosts::{everywhere, system};

struct Worker {
    handled: Log<u32>,
    ended: Log<ExitReason>,
}

impl Actor for Worker {
    fn stopped(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        self.ended.push(reason.clone());
    }
}

/// A job; the number 13 brings bad luck.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Job(u32);

impl Message for Job {
    type Reply = ActorId;
}

impl Handler<Job> for Worker {
    fn handle(&mut self, job: Job, context: &mut Context<Self>) -> ActorId {
        if job.0 == 13 {
            fail("bad luck");
        }
        self.handled.push(job.0);
        context.id()
    }
}

fn pool(size: usize, strategy: Routing) -> (Pool<Worker>, Log<u32>, Log<ExitReason>) {
    let (handled, ended) = (Log::new(), Log::new());
    let logs = (handled.clone(), ended.clone());
    let make = move || Worker { handled: logs.0.clone(), ended: logs.1.clone() };
    (Pool::builder(make).size(size).strategy(strategy).spawn(), handled, ended)
}

fn sorted(log: &Log<u32>) -> Vec<u32> {
    let mut log = log.take();
    log.sort_unstable();
    log
}

#[test]
fn members_share_the_work() {
    check(|| {
        let (pool, handled, ended) = pool(3, Routing::RoundRobin);
        let by: Vec<_> = (0..6).map(|n| pool.ask(Job(n)).wait().unwrap()).collect();
        let members: Vec<_> = pool.members().iter().map(Addr::id).collect();
        assert_eq!(by[..3], members);
        assert_eq!(by[3..], members);
        assert_eq!(pool.broadcast(Job(6)), Ok(3));
        assert!(members.contains(&pool.ask_first(Job(7)).wait().unwrap()));
        drop(pool);
        finally(move || {
            assert_eq!(handled.len(), 6 + 3 + 3);
            assert_eq!(ended.take(), vec![ExitReason::Normal; 3]);
        });
    });
}

#[test]
fn a_key_has_its_member() {
    check(|| {
        let (pool, _, _) = pool(4, Routing::RoundRobin);
        for key in ["a", "b", "c"] {
            let member = pool.ask_by(&key, Job(1)).wait().unwrap();
            assert_eq!(pool.ask_by(&key, Job(2)).wait(), Ok(member));
            pool.send_by(&key, Job(3)).unwrap();
        }
    });
}

#[test]
fn a_member_that_panics_goes_on_with_its_messages() {
    check_with_faults(|faults| {
        let (pool, handled, ended) = pool(2, Routing::SmallestMailbox);
        let members = pool.members();
        let asks: Vec<_> = (0..30).map(|n| pool.ask(Job(n))).collect();
        let failed = asks.into_iter().filter_map(|ask| ask.wait().err()).collect::<Vec<_>>();
        assert_eq!(failed, [AskError::Panicked("bad luck".into())]);
        assert_eq!(pool.members(), members);
        // The hook is told before those who ask.
        assert_eq!(faults.len(), 1);
        finally(move || {
            assert_eq!(sorted(&handled), (0..30).filter(|n| *n != 13).collect::<Vec<_>>());
            let first = ended.take()[0].clone();
            assert_eq!(first, ExitReason::Panicked("bad luck".into()));
            drop((pool, members));
        });
    });
}

#[test]
fn a_member_that_panics_too_often_ends_and_is_replaced_at_a_resize() {
    check_with_faults(|_| {
        let log = Log::new();
        let make = move || Worker { handled: log.clone(), ended: Log::new() };
        let pool = Pool::builder(make).intensity(2, Duration::from_secs(3600)).spawn();
        let [member] = pool.members().try_into().unwrap();
        for _ in 0..3 {
            assert_eq!(pool.ask(Job(13)).wait(), Err(AskError::Panicked("bad luck".into())));
        }
        assert_eq!(member.ended().wait(), Ok(ExitReason::Panicked("bad luck".into())));
        assert_eq!(pool.size(), 0);
        assert_eq!(pool.send(Job(1)), Err(RouteError::NoRoutee(Job(1))));
        pool.resize(2);
        assert_eq!(pool.size(), 2);
        pool.ask(Job(1)).wait().unwrap();
    });
}

/// Panics when it starts, and when it is dropped.
struct Doomed;

impl Actor for Doomed {
    fn started(&mut self, _: &mut Context<Self>) {
        fail("doomed");
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        fail("even so");
    }
}

#[test]
fn members_that_cannot_start_are_given_up() {
    check_with_faults(|_| {
        let pool = Pool::new(2, || Doomed);
        for member in pool.members() {
            assert_eq!(member.ended().wait(), Ok(ExitReason::Panicked("doomed".into())));
        }
        assert_eq!(pool.size(), 0);
    });
}

#[test]
fn a_state_that_cannot_be_made() {
    check_with_faults(|_| {
        let message = panic_of(|| Pool::<Worker>::new(1, || fail("no worker")));
        assert_eq!(message, "no worker");
        // After a panic it ends the member.
        let made = Arc::new(AtomicUsize::new(0));
        let pool = Pool::new(1, move || match made.fetch_add(1, Ordering::Relaxed) {
            0 => Worker { handled: Log::new(), ended: Log::new() },
            _ => fail("no other worker"),
        });
        let member = pool.members().remove(0);
        pool.send(Job(13)).unwrap();
        assert_eq!(member.ended().wait(), Ok(ExitReason::Panicked("no other worker".into())));
    });
}

#[test]
fn a_pool_grows_and_shrinks_without_losing_messages() {
    check(|| {
        let (pool, handled, ended) = pool(2, Routing::RoundRobin);
        let mut next = 100;
        for size in [4, 1, 3, 0, 2] {
            for _ in 0..20 {
                pool.send(Job(next)).unwrap();
                next += 1;
            }
            pool.resize(size);
            assert_eq!(pool.size(), size);
            if size == 0 {
                assert!(pool.send(Job(0)).is_err());
                pool.resize(1);
            }
        }
        finally(move || {
            assert_eq!(sorted(&handled), (100..next).collect::<Vec<_>>());
            assert!(ended.take().iter().all(ExitReason::is_normal));
            drop(pool);
        });
    });
}

#[test]
fn resizing_against_sending_under_every_schedule() {
    Sim::new().check(|| {
        let (pool, handled, _) = pool(3, Routing::RoundRobin);
        let resizers = [1, 2].map(|size| {
            let pool = pool.clone();
            sim::thread(move || pool.resize(size))
        });
        let asks: Vec<_> = (0..6).map(|n| pool.ask(Job(n))).collect();
        for ask in asks {
            ask.wait().unwrap();
        }
        for resizer in resizers {
            resizer.wait().unwrap();
        }
        assert!([1, 2].contains(&pool.size()));
        assert_eq!(sorted(&handled), (0..6).collect::<Vec<_>>());
    });
}

#[test]
fn a_pool_stands_behind_a_router() {
    check(|| {
        let router = Router::new(Routing::RoundRobin);
        let pools = [pool(2, Routing::RoundRobin), pool(2, Routing::RoundRobin)];
        for (pool, _, _) in &pools {
            router.add(pool.clone());
        }
        for n in 0..4 {
            router.ask(Job(n)).wait().unwrap();
        }
        finally(move || {
            for (_, handled, _) in &pools {
                assert_eq!(handled.len(), 2);
            }
        });
    });
}

/// A job in which some workers panic.
struct Risky {
    number: u32,
    fails: bool,
}

impl Message for Risky {
    type Reply = ();
}

impl Handler<Risky> for Worker {
    fn handle(&mut self, job: Risky, _: &mut Context<Self>) {
        if job.fails {
            fail("as planned");
        }
        self.handled.push(job.number);
    }
}

#[test]
fn across_panics_and_resizes_each_message_is_handled_once_or_is_the_one_that_panicked() {
    for seed in 0..20 {
        check_with_faults(move |_| {
            let mut dice = Dice::new(seed);
            let handled = Log::new();
            let log = handled.clone();
            let make = move || Worker { handled: log.clone(), ended: Log::new() };
            let strategy = [Routing::RoundRobin, Routing::SmallestMailbox][dice.below(2)];
            let hour = Duration::from_secs(3600);
            let pool = Pool::builder(make).size(3).strategy(strategy).intensity(1000, hour).spawn();
            let mut expected = Vec::new();
            for number in 0..60 {
                let fails = dice.below(6) == 0;
                pool.send(Risky { number, fails }).unwrap();
                if !fails {
                    expected.push(number);
                }
                if dice.below(10) == 0 {
                    pool.resize(1 + dice.below(5));
                }
            }
            finally(move || {
                assert_eq!(sorted(&handled), expected, "seed {seed}");
                drop(pool);
            });
        });
    }
}

/// Whatever can be set of an actor can be set of members, those that come later included.
#[test]
fn members_have_the_settings_that_they_are_given() {
    everywhere(|place| {
        let make = || Worker { handled: Log::new(), ended: Log::new() };
        let builder = Pool::builder(make).size(2);
        let builder = match place.host() {
            None => builder,
            Some(host) => builder.on(host),
        };
        let each = |worker: coact::actor::Spawn<Worker>| worker.mailbox(Mailbox::bounded(3).fail());
        let pool = builder.each(each).spawn();
        pool.resize(3);
        for member in pool.members() {
            assert_eq!(member.mailbox().capacity(), Some(3));
            assert_eq!(member.ask(Job(13)).wait(), Err(AskError::Panicked("bad luck".into())));
            assert_eq!(member.ask(Job(1)).wait(), Ok(member.id()));
        }
    });
}

/// New members belong where the pool does, on whatever thread it is resized.
#[test]
fn detached_members_belong_to_the_family_of_their_pool() {
    let system = system();
    let make = || Worker { handled: Log::new(), ended: Log::new() };
    let pool = system.run(|| Pool::builder(make).on(Host::detached()).spawn());
    pool.resize(2);
    let homes: Vec<_> = pool.members().iter().map(Addr::runtime).collect();
    assert_ne!(homes[0], homes[1], "a thread each");
    assert!(homes.iter().all(|home| home.group_root() == system.runtime()));
    drop(pool);
    assert!(system.shutdown(PATIENCE).is_complete());
}

//! Moving actors from one runtime to another while they run.

use std::thread;

use coact::Context;
use coact::prelude::*;
use coact::runtime::MoveError;
use coact::system::{Host, PumpActors, System};
use coact_tests::Log;

/// Notes what comes, and how often it was restarted. The log outlives the state.
struct Clerk {
    log: Log<(usize, u32)>,
    restarts: Log<()>,
}

impl Actor for Clerk {
    fn restarted(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.restarts.push(());
    }
}

struct Numbered(usize, u32);

impl Message for Numbered {
    type Reply = ();
}

impl Handler<Numbered> for Clerk {
    fn handle(&mut self, Numbered(sender, number): Numbered, _: &mut Context<Self>) {
        self.log.push((sender, number));
    }
}

struct Name;

impl Message for Name {
    type Reply = String;
}

impl Handler<Name> for Clerk {
    fn handle(&mut self, _: Name, _: &mut Context<Self>) -> String {
        thread::current().name().unwrap_or_default().to_owned()
    }
}

fn system() -> System {
    System::builder()
        .workers(2)
        .dispatcher("left", |d| d.workers(1))
        .dispatcher("right", |d| d.workers(1).throughput(2))
        .build()
        .unwrap()
}

fn clerk() -> (coact::actor::Spawn<Clerk>, Log<(usize, u32)>, Log<()>) {
    let (log, restarts) = (Log::new(), Log::new());
    let (in_log, in_restarts) = (log.clone(), restarts.clone());
    let make = move || Clerk { log: in_log.clone(), restarts: in_restarts.clone() };
    (actor(make()).restartable(make), log, restarts)
}

/// Each sender's numbers are there once, and in order.
fn assert_in_order(log: &Log<(usize, u32)>, senders: usize, each: u32) {
    let mut next = vec![0; senders];
    for (sender, number) in log.take() {
        assert_eq!(number, next[sender], "of sender {sender}");
        next[sender] += 1;
    }
    assert_eq!(next, vec![each; senders]);
}

#[test]
fn a_moved_actor_runs_at_its_new_place() {
    let system = system();
    let clerk = system.run(|| clerk().0.spawn());
    for _ in 0..10 {
        for name in ["left", "right"] {
            clerk.move_to(system.dispatcher(name).unwrap()).unwrap();
            assert_eq!(clerk.ask(Name).wait().unwrap(), format!("{name}-0"));
            assert_eq!(clerk.runtime().name(), name);
        }
    }
    clerk.restart().unwrap();
    assert_eq!(clerk.ask(Name).wait().unwrap(), "right-0");
}

/// Senders, behaviours over it and others, restarts and suspensions, while it is moved about.
#[test]
fn order_is_kept_while_an_actor_is_moved() {
    const SENDERS: usize = 3;
    const EACH: u32 = 3000;
    let system = system();
    let (left, right) = (system.dispatcher("left").unwrap(), system.dispatcher("right").unwrap());
    let homes = [left, system.runtime(), right];
    for host in [Host::from(left), Host::caller(), Host::detached(), Host::blocking()] {
        let (clerk, log, restarts) = clerk();
        let entered = system.enter();
        let clerk = clerk.on(host).spawn();
        let others = homes.map(|home| actor(Plain(0)).on(home).spawn());
        drop(entered);
        thread::scope(|scope| {
            for sender in 0..SENDERS {
                let (clerk, others) = (clerk.clone(), &others);
                scope.spawn(move || send_all(&clerk, others, sender, EACH));
            }
            scope.spawn(|| {
                for round in 0..300 {
                    clerk.move_to(homes[round % 3]).unwrap();
                    match round % 30 {
                        10 => clerk.restart().unwrap(),
                        20 => clerk.suspend().unwrap(),
                        25 => clerk.resume().unwrap(),
                        _ => thread::yield_now(),
                    }
                }
            });
        });
        system.wait_idle();
        assert_in_order(&log, SENDERS, EACH);
        assert_eq!(restarts.len(), 10);
        let sums = others.map(|other| call(&other, |other| other.0).wait().unwrap());
        assert_eq!(sums.iter().sum::<u32>(), SENDERS as u32 * EACH / 3);
        assert!(homes.contains(&clerk.runtime()));
    }
}

struct Plain(u32);

impl Actor for Plain {}

/// Two messages, then a behaviour, which stands in the same order.
fn send_all(clerk: &Addr<Clerk>, others: &[Addr<Plain>], sender: usize, count: u32) {
    for number in 0..count {
        if number % 3 < 2 {
            clerk.send(Numbered(sender, number)).unwrap();
            continue;
        }
        let other = &others[number as usize / 3 % others.len()];
        when((other, clerk), move |(other, clerk)| {
            other.0 += 1;
            clerk.log.push((sender, number));
        });
    }
}

#[test]
fn moves_are_simulated() {
    coact::sim::check(|| {
        let system = system();
        let (clerk, log, _) = clerk();
        let clerk = system.run(|| clerk.spawn());
        let threads = [0, 1].map(|sender| {
            let clerk = clerk.clone();
            coact::sim::thread(move || {
                for number in 0..6 {
                    clerk.send(Numbered(sender, number)).unwrap();
                }
            })
        });
        for name in ["left", "right", "left"] {
            clerk.move_to(system.dispatcher(name).unwrap()).unwrap();
            clerk.restart().unwrap();
        }
        for thread in threads {
            thread.wait().unwrap();
        }
        system.wait_idle();
        assert_in_order(&log, 2, 6);
    });
}

/// The move stands behind what came before it.
#[test]
fn a_suspended_actor_is_moved_when_it_goes_on() {
    let system = system();
    let clerk = system.run(|| clerk().0.spawn());
    clerk.suspend().unwrap();
    system.wait_idle();
    clerk.move_to(system.dispatcher("left").unwrap()).unwrap();
    assert_eq!(clerk.runtime(), system.runtime());
    clerk.resume().unwrap();
    assert_eq!(clerk.ask(Name).wait().unwrap(), "left-0");
}

#[test]
fn an_actor_that_is_moved_leaves_its_callers() {
    let system = system();
    let clerk = system.run(|| clerk().0.on(Host::caller()).spawn());
    let me = thread::current().name().unwrap_or_default().to_owned();
    assert_eq!(clerk.ask(Name).wait().unwrap(), me);
    clerk.move_to(system.dispatcher("left").unwrap()).unwrap();
    assert_eq!(clerk.ask(Name).wait().unwrap(), "left-0");
}

/// The last address may be in transit in a move.
#[test]
fn a_move_does_not_keep_an_actor_from_its_end() {
    let system = system();
    let log = Log::new();
    struct LastHandleCheck(Log<String>);
    impl Actor for LastHandleCheck {
        fn stopped(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
            self.0.push(reason.to_string());
        }
    }
    let moved = system.spawn(LastHandleCheck(log.clone()));
    moved.move_to(system.dispatcher("left").unwrap()).unwrap();
    drop(moved);
    system.wait_idle();
    assert_eq!(log.take(), ["it was done"]);
    // One that has ended is not moved, and nothing else happens.
    let ended = system.spawn(LastHandleCheck(log.clone()));
    ended.kill().unwrap();
    ended.ended().wait().unwrap();
    ended.move_to(system.dispatcher("left").unwrap()).unwrap();
    system.wait_idle();
    // Nor does it move its group.
    let entered = system.enter();
    let group = Group::new();
    let [ended, other] = [(); 2].map(|()| actor(Plain(0)).in_group(&group).spawn());
    drop(entered);
    ended.kill().unwrap();
    ended.ended().wait().unwrap();
    ended.move_to(system.dispatcher("left").unwrap()).unwrap();
    system.wait_idle();
    assert_eq!(other.runtime(), system.runtime());
}

#[test]
fn actors_of_pumps_stay() {
    let system = system();
    let pump = Runtime::builder().build_pumped().unwrap();
    let pinned = pump.spawn(Plain(0));
    assert_eq!(pinned.move_to(system.runtime()), Err(MoveError::Pinned));
    let plain = system.spawn(Plain(0));
    assert_eq!(plain.move_to(pump.runtime()), Err(MoveError::ToPump));
    pump.run_until_idle(&[]);
}

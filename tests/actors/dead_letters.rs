//! When an end is told, what the actor has left is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coact::Context;
use coact::actor::{Down, Exited};
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::promise::Resolver;
use coact::sim::{self, Config, Sim};
use coact::system::System;
use coact_tests::{PATIENCE, check_with_faults, side_by_side};

/// Counts what it has handled.
struct Clerk(Arc<AtomicU64>);

impl Actor for Clerk {}

struct Case;

impl Message for Case {
    type Reply = ();
}

impl Handler<Case> for Clerk {
    fn handle(&mut self, _: Case, _: &mut Context<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// An actor, and how much it has handled.
#[derive(Clone)]
struct Office {
    clerk: Addr<Clerk>,
    handled: Arc<AtomicU64>,
}

impl Office {
    fn new(setup: impl FnOnce(coact::actor::Spawn<Clerk>) -> coact::actor::Spawn<Clerk>) -> Self {
        let handled = Arc::<AtomicU64>::default();
        Self { clerk: setup(actor(Clerk(Arc::clone(&handled)))).spawn(), handled }
    }

    /// Sends some; returns how many of those calls were over before the actor had ended.
    fn send_some(&self) -> u64 {
        let sent = || self.clerk.send(Case).is_ok() && !self.clerk.has_ended();
        (0..4).map(|_| u64::from(sent())).sum()
    }

    /// The messages of this number that were not handled are counted by now.
    fn assert_counted(&self, accepted: u64) {
        let counted = self.clerk.dead_letters() + self.handled.load(Ordering::Relaxed);
        assert!(counted >= accepted, "of {accepted} messages {counted} are accounted for");
    }
}

type Setup = fn(coact::actor::Spawn<Clerk>) -> coact::actor::Spawn<Clerk>;

const SETUPS: [Setup; 3] = [
    |clerk| clerk,
    |clerk| clerk.mailbox(Mailbox::lanes(2)),
    |clerk| clerk.mailbox(Mailbox::bounded(99)),
];

/// Several threads send while another one stops the actor; the first is asked for its end before
/// that, or after.
#[test]
fn m10_all_that_was_sent_before_the_end_is_counted_when_it_is_told() {
    for setup in SETUPS {
        for asks_first in [true, false] {
            let config = Config::new().runs(300);
            Sim::new().config(config).check(move || {
                let office = Office::new(setup);
                let early = asks_first.then(|| office.clerk.ended());
                let senders = [0; 2].map(|_| {
                    let office = office.clone();
                    sim::thread(move || office.send_some())
                });
                let stop = office.clerk.clone();
                let stopper = sim::thread(move || stop.stop().unwrap());
                let accepted = senders.map(|sender| sender.wait().unwrap()).iter().sum();
                stopper.wait().unwrap();
                let ended = early.unwrap_or_else(|| office.clerk.ended());
                assert_eq!(ended.wait(), Ok(ExitReason::Shutdown));
                office.assert_counted(accepted);
            });
        }
    }
}

#[test]
fn m10_all_that_was_sent_before_the_end_is_counted_on_real_workers() {
    let system = System::builder().workers(2).build().unwrap();
    let _entered = system.enter();
    for round in 0..400_usize {
        let office = Office::new(SETUPS[round % SETUPS.len()]);
        let early = (round % 2 == 0).then(|| office.clerk.ended());
        let accepted = Arc::new(AtomicU64::new(0));
        let send = || {
            let (office, accepted) = (office.clone(), Arc::clone(&accepted));
            Box::new(move || _ = accepted.fetch_add(office.send_some(), Ordering::Relaxed))
                as Box<dyn FnOnce() + Send>
        };
        let stop = office.clerk.clone();
        side_by_side([send(), Box::new(move || stop.stop().unwrap()), send(), send(), send()]);
        let ended = early.unwrap_or_else(|| office.clerk.ended());
        assert_eq!(ended.wait_timeout(PATIENCE).expect("it is told"), Ok(ExitReason::Shutdown));
        office.assert_counted(accepted.load(Ordering::Relaxed));
    }
}

/// A monitor, a link or a closure that hears of it may count, too. (Which hears of it first is not
/// promised: so each is waited for.)
#[test]
fn however_the_end_is_told() {
    struct Heir {
        of: Addr<Clerk>,
        as_monitor: Option<Resolver<u64>>,
        by_link: Option<Resolver<u64>>,
    }
    impl Heir {
        fn count(&self, told: Option<Resolver<u64>>) {
            told.expect("it is told once").resolve(self.of.dead_letters());
        }
    }
    impl Actor for Heir {
        fn started(&mut self, context: &mut Context<Self>) {
            context.trap_exits();
            context.link(&self.of);
            context.monitor(&self.of);
        }
    }
    impl Handler<Down> for Heir {
        fn handle(&mut self, _: Down, _: &mut Context<Self>) {
            let told = self.as_monitor.take();
            self.count(told);
        }
    }
    impl Handler<Exited> for Heir {
        fn handle(&mut self, _: Exited, _: &mut Context<Self>) {
            let told = self.by_link.take();
            self.count(told);
        }
    }
    Sim::new().config(Config::new().runs(300)).check(|| {
        let office = Office::new(|clerk| clerk);
        let [monitor, link, closure] = [0; 3].map(|_| Promise::channel());
        let (as_monitor, by_link) = (Some(monitor.0), Some(link.0));
        let heir = spawn(Heir { of: office.clerk.clone(), as_monitor, by_link });
        coact::call(&heir, |_| ()).wait().unwrap();
        let clerk = office.clerk.downgrade();
        office.clerk.on_down(move |_| closure.0.resolve(clerk.upgrade().unwrap().dead_letters()));
        office.clerk.suspend().unwrap();
        assert_eq!(office.send_some(), 4);
        office.clerk.stop().unwrap();
        office.clerk.ended().wait().unwrap();
        let counts = [monitor.1, link.1, closure.1].map(|told| told.wait().unwrap());
        assert_eq!(counts, [4, 4, 4]);
    });
}

/// What stands behind a behaviour that waits for another actor waits with it, and the end does not.
#[test]
fn an_end_is_told_while_a_behaviour_cannot_run() {
    check_with_faults(|_| {
        let (one, other) = (Office::new(|clerk| clerk), Office::new(|clerk| clerk));
        one.clerk.suspend().unwrap();
        other.clerk.suspend().unwrap();
        when((&one.clerk, &other.clerk), |_| ());
        assert_eq!(other.send_some(), 4);
        other.clerk.stop().unwrap();
        // Again and again: soon the behaviour has the one that has ended, and waits for the other.
        for _ in 0..20 {
            assert_eq!(other.clerk.ended().wait(), Ok(ExitReason::Shutdown));
        }
        one.clerk.resume().unwrap();
        // What stands behind it is counted when it comes.
        coact::call(&one.clerk, |_| ()).wait().unwrap();
        let log = other.clone();
        coact_tests::finally(move || log.assert_counted(4));
    });
}

/// What an actor is told by itself and by its like does not make others hold it up.
#[test]
fn what_is_told_to_an_actor_alone_is_no_behaviour_over_several() {
    struct Links;
    impl Message for Links {
        type Reply = ();
    }
    impl Handler<Links> for Clerk {
        fn handle(&mut self, _: Links, context: &mut Context<Self>) {
            context.spawn(async {}, |_, (), _| ());
            context.ask_timeout(&context.address(), Case, PATIENCE, |_, _, _| ());
        }
    }
    let system = System::builder().workers(2).build().unwrap();
    let _entered = system.enter();
    for round in 0..200 {
        let office = Office::new(|clerk| clerk);
        office.clerk.ask(Links).wait().unwrap();
        office.clerk.suspend().unwrap();
        if round % 2 == 0 {
            office.clerk.drain().unwrap();
        } else {
            office.clerk.stop().unwrap();
        }
        let sent = || office.clerk.send(Case).is_ok() && !office.clerk.has_ended();
        let accepted = (0..50).filter(|_| sent()).count() as u64;
        let _ = office.clerk.resume();
        let ended = office.clerk.ended().wait_timeout(PATIENCE).expect("it is told");
        assert_eq!(ended, Ok(ExitReason::Shutdown));
        office.assert_counted(accepted);
    }
}

/// A closure that comes too late runs on the actor's host, and not within the call.
#[test]
fn a_late_closure_runs_on_the_host() {
    fn again(actor: Addr<Clerk>, left: u32, told: coact::promise::Resolver<Option<String>>) {
        actor.clone().on_down(move |_| match left {
            0 => told.resolve(std::thread::current().name().map(str::to_owned)),
            _ => again(actor, left - 1, told),
        });
    }
    let runtime = Runtime::builder().name("late").workers(1).build().unwrap();
    let _entered = runtime.enter();
    for has_multi_cown_waiters in [false, true] {
        let (one, other) = (Office::new(|clerk| clerk), Office::new(|clerk| clerk));
        if has_multi_cown_waiters {
            when((&one.clerk, &other.clerk), |_| ());
        }
        one.clerk.stop().unwrap();
        one.clerk.ended().wait().unwrap();
        let (told, by) = Promise::channel();
        again(one.clerk.clone(), 20_000, told);
        assert_eq!(by.wait().unwrap().as_deref(), Some("late-0"), "{has_multi_cown_waiters}");
    }
}

/// No queue is left in which anything could come behind.
#[test]
fn an_end_is_told_in_a_runtime_that_ends() {
    for _ in 0..20 {
        let system = System::builder().workers(2).build().unwrap();
        let entered = system.enter();
        let office = Office::new(|clerk| clerk);
        let ended = office.clerk.ended();
        office.clerk.suspend().unwrap();
        office.send_some();
        drop(entered);
        drop(system);
        assert!(ended.wait_timeout(PATIENCE).expect("it is told").is_ok());
        let late = office.clerk.ended();
        assert!(late.wait_timeout(PATIENCE).expect("it is told").is_ok());
    }
}

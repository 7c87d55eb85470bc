//! What can be set of an actor can be set of a child, and stays through its restarts.

use std::cell::Cell;
use std::rc::Rc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use coact::Context;
use coact::Group;
use coact::actor::SendActor;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::registry::{LookupError, NameTaken, lookup, registry};
use coact::sim::Sim;
use coact::supervise::{
    Child, ChildState, Restart, StartError, Strategy, Supervisor, permanent, transient,
};
use coact::system::Host;
use coact_tests::{Log, PATIENCE, check, check_with_faults, fail, finally, panic_of};

use super::{Bomb, Ping, Worker, boom};
use crate::hosts::{Place, everywhere, system};

const STRATEGIES: [Strategy; 4] =
    [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne, Strategy::Dynamic];

fn place<A: SendActor>(child: Child<A>, place: Place) -> Child<A> {
    match place.host() {
        None => child,
        Some(host) => child.on(host),
    }
}

/// Which of three children start anew when the one in the middle fails.
fn renewed(strategy: Strategy) -> [bool; 3] {
    match strategy {
        Strategy::OneForAll => [true, true, true],
        Strategy::RestForOne => [false, true, true],
        _ => [false, true, false],
    }
}

#[test]
fn children_of_every_strategy_live_on_every_host() {
    everywhere(|host| {
        for strategy in STRATEGIES {
            let log = Log::new();
            let mut tree = Supervisor::with(strategy);
            let children = ["a", "b", "c"].map(|name| {
                let child = permanent(Worker::make(name, &log));
                let mailbox = Mailbox::bounded(7).fail();
                tree.child(place(child, host).named(name).mailbox(mailbox))
            });
            let homes = children.each_ref().map(Addr::runtime);
            let supervisor = tree.spawn();
            for child in &children {
                assert_eq!(child.ask(Ping).wait(), Ok(1));
            }
            assert_eq!(children[1].ask(Bomb).wait(), Err(AskError::Panicked("boom".into())));
            let renewed = renewed(strategy);
            let restarts = renewed.iter().filter(|renewed| **renewed).count() as u64;
            let is_done = |counts: coact::supervise::ChildCounts| {
                (counts.running, counts.restarts) == (3, restarts)
            };
            while !is_done(supervisor.counts().wait().unwrap()) {}
            for (at, child) in children.iter().enumerate() {
                let count = if renewed[at] { 1 } else { 2 };
                assert_eq!(child.ask(Ping).wait(), Ok(count), "{strategy:?}: child {at}");
                assert_eq!(child.runtime(), homes[at]);
                assert_eq!(child.mailbox().capacity(), Some(7));
                assert_eq!(lookup::<Worker>(["a", "b", "c"][at]).as_ref(), Ok(child));
            }
            supervisor.stop().unwrap();
            for child in children {
                assert_eq!(child.ended().wait(), Ok(ExitReason::Shutdown));
            }
            assert_eq!(registry().names().len(), 0);
        }
    });
}

/// On every host, a child that is down takes no message, and handles all of them when it is up
/// again.
#[test]
fn messages_wait_for_a_child_that_is_down_on_every_host() {
    everywhere(|host| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one();
        let mailbox = Mailbox::bounded(2).fail();
        let child = place(permanent(Worker::make("a", &log)), host).mailbox(mailbox);
        let child = tree.child(child);
        let supervisor = tree.spawn();
        child.ask(Ping).wait().unwrap();
        supervisor.terminate_child(child.id()).wait().unwrap();
        let asked = [child.ask(Ping), child.ask(Ping)];
        assert!(matches!(child.send(Ping), Err(SendError::Full(Ping))));
        supervisor.restart_child(child.id()).wait().unwrap();
        assert_eq!(asked.map(Ask::wait), [Ok(1), Ok(2)]);
    });
}

/// Says on which thread it is.
struct Whereabouts;

impl Actor for Whereabouts {}

struct Where;

impl Message for Where {
    type Reply = ThreadId;
}

impl Handler<Where> for Whereabouts {
    fn handle(&mut self, _: Where, _: &mut Context<Self>) -> ThreadId {
        thread::current().id()
    }
}

#[test]
fn a_detached_child_keeps_its_thread_and_gives_it_back() {
    let system = system();
    system.run(|| {
        let mut tree = Supervisor::one_for_one();
        let child = tree.child(permanent(|| Whereabouts).on(Host::detached()));
        let supervisor = tree.spawn();
        let before = child.ask(Where).wait().unwrap();
        let other = actor(Whereabouts).on(Host::detached()).spawn();
        assert_ne!(other.ask(Where).wait().unwrap(), before);
        when(&child, |_| fail("boom"));
        assert_eq!(child.ask(Where).wait().unwrap(), before);
        supervisor.stop().unwrap();
        child.ended().wait().unwrap();
        let next = actor(Whereabouts).on(Host::detached()).spawn();
        assert_eq!(next.ask(Where).wait().unwrap(), before);
    });
    assert!(system.shutdown(PATIENCE).is_complete());
}

#[test]
fn a_supervisor_lives_on_any_host() {
    everywhere(|host| {
        let log = Log::new();
        let on = |tree: coact::supervise::Tree| match host.host() {
            None => tree,
            Some(host) => tree.on(host),
        };
        let mut above = on(Supervisor::one_for_one());
        let mut below = on(Supervisor::one_for_one()).intensity(0, Duration::MAX);
        let worker = below.child(permanent(Worker::make("a", &log)));
        let below = above.child(below);
        let above = above.spawn();
        worker.send(Bomb).unwrap();
        assert_eq!(worker.ask(Ping).wait(), Ok(1));
        assert!(!below.has_ended());
        above.stop().unwrap();
        assert_eq!(worker.ended().wait(), Ok(ExitReason::Shutdown));
        below.ended().wait().unwrap();
    });
}

#[test]
fn children_in_a_group_stay_in_it() {
    check_with_faults(|_| {
        let log = Log::new();
        let group = Group::new();
        let mut tree = Supervisor::one_for_all();
        let [a, b] = ["a", "b"].map(|name| {
            tree.child(permanent(Worker::make(name, &log)).in_group(&group).named(name))
        });
        let supervisor = tree.spawn();
        let pair = |a: &Addr<Worker>, b: &Addr<Worker>| {
            call((a, b), |(a, b)| (a.handled, b.handled)).wait()
        };
        a.ask(Ping).wait().unwrap();
        assert_eq!(pair(&a, &b), Ok((1, 0)));
        b.send(Bomb).unwrap();
        b.ask(Ping).wait().unwrap();
        assert_eq!(pair(&a, &b), Ok((0, 1)));
        assert_eq!(a.runtime(), group.runtime());
        finally(move || drop(supervisor));
    });
}

/// A shut gate shuts the group.
#[test]
fn a_group_waits_for_a_member_that_is_down() {
    Sim::new().check(|| {
        let log = Log::new();
        let group = Group::new();
        let mut tree = Supervisor::one_for_one();
        let [a, b] =
            ["a", "b"].map(|name| tree.child(permanent(Worker::make(name, &log)).in_group(&group)));
        let supervisor = tree.spawn();
        assert_eq!(b.ask(Ping).wait(), Ok(1));
        supervisor.terminate_child(a.id()).wait().unwrap();
        let asked = b.ask(Ping).timeout(Duration::from_secs(3600));
        assert!(matches!(asked.wait(), Err(AskError::Timeout(_))));
        supervisor.restart_child(a.id()).wait().unwrap();
        assert_eq!(b.ask(Ping).wait(), Ok(3));
    });
}

/// What no other thread may touch.
struct Window {
    drawn: Rc<Cell<u32>>,
    on: ThreadId,
}

impl Window {
    fn new() -> Self {
        Self { drawn: Rc::default(), on: thread::current().id() }
    }
}

impl Actor for Window {
    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        assert_eq!(thread::current().id(), self.on);
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        assert_eq!(thread::current().id(), self.on);
    }
}

struct Draw(u32);

impl Message for Draw {
    type Reply = u32;
}

impl Handler<Draw> for Window {
    fn handle(&mut self, Draw(by): Draw, _: &mut Context<Self>) -> u32 {
        if by == 0 {
            fail("boom");
        }
        self.drawn.set(self.drawn.get() + by);
        self.drawn.get()
    }
}

/// Neither the thread that declares it nor the one that runs its supervisor is the child's.
#[test]
fn a_child_that_is_not_send_is_restarted_on_its_thread() {
    let pump = Runtime::builder().panic_hook(|_| ()).build_pumped().unwrap();
    let home = pump.runtime();
    let program = thread::spawn(move || {
        let runtime = Runtime::builder().workers(2).panic_hook(|_| ()).build().unwrap();
        runtime.run(|| {
            let mut tree = Supervisor::one_for_all();
            let child = Child::local(home, Restart::Permanent, Window::new).named("window");
            let window = tree.child(child.mailbox(Mailbox::bounded(9)));
            let supervisor = tree.spawn();
            assert_eq!(window.ask(Draw(7)).wait(), Ok(7));
            assert_eq!(window.ask(Draw(0)).wait(), Err(AskError::Panicked("boom".into())));
            assert_eq!(window.ask(Draw(2)).wait(), Ok(2));
            assert_eq!((window.runtime(), window.mailbox().capacity()), (home, Some(9)));
            supervisor.stop().unwrap();
            assert_eq!(window.ended().wait(), Ok(ExitReason::Shutdown));
        });
    });
    while !program.is_finished() {
        pump.run_future(pump.runtime().sleep(Duration::from_millis(1))).unwrap();
    }
    program.join().unwrap();
}

#[test]
fn a_child_that_is_bound_to_a_thread_joins_no_group_elsewhere() {
    let pump = Runtime::builder().build_pumped().unwrap();
    let elsewhere = Group::new();
    let _entered = pump.enter();
    let local = |group: &Group| {
        Child::local(pump.runtime(), Restart::Permanent, Window::new).in_group(group)
    };
    let mut tree = Supervisor::one_for_one();
    let message = panic_of(|| drop(tree.child(local(&elsewhere).named("window"))));
    assert!(message.contains("is bound to the thread of"), "{message}");
    let spawned =
        || coact::actor::actor_local(Window::new()).in_group(&elsewhere).named("window").spawn();
    let message = panic_of(|| drop(spawned()));
    assert!(message.contains("is bound to the thread of"), "{message}");
    assert!(lookup::<Window>("window").is_err());
    // Neither has kept its name.
    let here = Group::new();
    let window = tree.child(local(&here).named("window"));
    let supervisor = tree.spawn();
    assert_eq!(pump.run_future(window.ask(Draw(7))), Ok(7));
    supervisor.stop().unwrap();
    pump.run_future(window.ended()).unwrap();
    let message = panic_of(|| {
        drop(Child::local(Runtime::global().handle(), Restart::Permanent, Window::new));
    });
    assert!(message.contains("bound to the thread of a pump"), "{message}");
}

#[test]
fn a_name_that_is_taken_is_told_and_the_child_given_back() {
    check(|| {
        let log = Log::new();
        let holder = actor(Worker::make("a", &log)()).named("taken").spawn();
        let mut tree = Supervisor::one_for_one();
        let child = permanent(Worker::make("b", &log)).named("free").named("taken");
        let taken: NameTaken<_> = tree.try_child(child).unwrap_err();
        assert_eq!((&*taken.name, taken.holder), ("taken", holder.id()));
        assert_eq!(lookup::<Worker>("free").unwrap_err(), LookupError::Unknown);
        let supervisor = tree.spawn();
        let late = supervisor.start_child(permanent(Worker::make("b", &log)).named("taken")).wait();
        let Err(StartError::NameTaken(late)) = late else { panic!("the name is taken: {late:?}") };
        assert_eq!((&*late.name, late.holder), ("taken", holder.id()));
        holder.stop().unwrap();
        holder.ended().wait().unwrap();
        let child = supervisor.start_child(taken.unused).wait().unwrap();
        assert_eq!(lookup::<Worker>("taken").unwrap(), child);
        assert_eq!(lookup::<Worker>("free").unwrap(), child);
        let info = supervisor.children().wait().unwrap().pop().unwrap();
        assert_eq!(info.name.as_deref(), Some("free"), "the first name is its label");
        finally(move || drop(supervisor));
    });
}

#[test]
fn a_child_keeps_its_name_while_it_is_down_and_loses_it_at_its_end() {
    check_with_faults(|_| {
        let log = Log::new();
        let supervisor = Supervisor::dynamic().spawn();
        let child = transient(Worker::make("a", &log)).named("worker");
        let child = supervisor.start_child(child).wait().unwrap();
        supervisor.terminate_child(child.id()).wait().unwrap();
        let info = supervisor.children().wait().unwrap().pop().unwrap();
        assert_eq!(info.state, ChildState::Stopped);
        assert_eq!(lookup::<Worker>("worker").unwrap(), child);
        supervisor.restart_child(child.id()).wait().unwrap();
        child.send(Bomb).unwrap();
        assert_eq!(child.ask(Ping).wait(), Ok(1));
        assert_eq!(lookup::<Worker>("worker").unwrap(), child);
        supervisor.delete_child(child.id()).wait().unwrap();
        assert_eq!(lookup::<Worker>("worker").unwrap_err(), LookupError::Unknown);
        let never =
            supervisor.start_child(permanent(|| -> Worker { fail("boom") }).named("worker"));
        assert_eq!(never.wait().unwrap_err(), StartError::Failed(boom()));
        assert_eq!(lookup::<Worker>("worker").unwrap_err(), LookupError::Unknown);
        finally(move || drop(supervisor));
    });
}

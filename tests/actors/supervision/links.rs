//! Links of supervised actors: whose end is told to whom, and when.

use std::time::Duration;

use coact::Context;
use coact::actor::{AnyAddr, Exited};
use coact::prelude::*;
use coact::sim::Sim;
use coact::supervise::{Backoff, Supervisor, permanent, temporary};
use coact::time::sleep;
use coact_tests::{Log, PATIENCE, check_with_faults, fail, finally};

use super::{Bomb, Worker, boom};
use crate::world::{Diary, Do};

/// Links itself.
struct LinkWith(AnyAddr);

impl Message for LinkWith {
    type Reply = ();
}

impl Handler<LinkWith> for Worker {
    fn handle(&mut self, LinkWith(other): LinkWith, context: &mut Context<Self>) {
        context.link(&other);
    }
}

fn link(one: &Addr<Diary>, other: &AnyAddr) {
    let other = other.clone();
    one.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| context.link(&other)))
        .wait()
        .unwrap();
}

#[test]
fn m10_a_child_that_is_not_restarted_takes_along_whom_its_last_life_has_linked() {
    check_with_faults(|_| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one();
        let child = tree.child(temporary(Worker::make("child", &log)));
        let supervisor = tree.spawn();
        let (other, _) = Diary::spawn();
        child.ask(LinkWith(other.to_any())).wait().unwrap();
        let _ = child.send(Bomb);
        let reason = ExitReason::Linked(child.id(), boom().into());
        assert_eq!(other.ended().wait(), Ok(reason));
        drop(supervisor);
    });
}

#[test]
fn a_link_of_a_life_that_was_replaced_is_over() {
    check_with_faults(|_| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one();
        let child = tree.child(permanent(Worker::make("child", &log)));
        let supervisor = tree.spawn();
        let (other, _) = Diary::spawn();
        child.ask(LinkWith(other.to_any())).wait().unwrap();
        assert!(child.ask(Bomb).wait().is_err());
        // The second life ends for good; it has asked for no link.
        coact::call(&child, |_| ()).wait().unwrap();
        child.kill().unwrap();
        supervisor.delete_child(child.id()).wait().unwrap();
        child.ended().wait().unwrap();
        coact::call(&other, |_| ()).wait().expect("nothing was told to it");
    });
}

#[test]
fn a_restart_that_fails_ends_the_links_of_the_last_life_with_the_actor() {
    check_with_faults(|_| {
        let log = Log::new();
        let mut make = Worker::make("only", &log);
        let (state, mut is_late) = (make(), false);
        let again = move || {
            assert!(!std::mem::replace(&mut is_late, true), "it is asked once");
            fail("no more")
        };
        let actor = actor(state).restartable(again).spawn();
        let (other, _) = Diary::spawn();
        actor.ask(LinkWith(other.to_any())).wait().unwrap();
        actor.restart().unwrap();
        let reason = ExitReason::Panicked("no more".into());
        assert_eq!(actor.ended().wait(), Ok(reason.clone()));
        assert_eq!(other.ended().wait(), Ok(ExitReason::Linked(actor.id(), reason.into())));
    });
}

/// A child that is down for so long, and its supervisor.
fn down_for(pause: Duration, log: &Log<String>) -> (Addr<Worker>, Supervisor) {
    let tree = Supervisor::one_for_one().intensity(9, Duration::from_secs(3600));
    let mut tree = tree.backoff(Backoff::constant(pause));
    let child = tree.child(permanent(Worker::make("child", log)));
    let supervisor = tree.spawn();
    let _ = child.ask(Bomb).wait();
    (child, supervisor)
}

#[test]
fn a_link_that_is_set_while_the_child_is_down_holds_when_it_is_up() {
    Sim::new().allow_faults(true).check(|| {
        let log = Log::new();
        let (child, _supervisor) = down_for(Duration::from_secs(1), &log);
        let (other, _) = Diary::spawn();
        link(&other, &child.to_any());
        coact::call(&child, |_| ()).wait().expect("it is up again");
        log.take();
        other.send(crate::world::Bomb).unwrap();
        other.ended().wait().unwrap();
        coact::call(&child, |_| ()).wait().expect("it is up again");
        let down = ExitReason::Linked(other.id(), boom().into());
        assert_eq!(log.take(), [format!("child down: {down}"), format!("child again: {down}")]);
    });
}

#[test]
fn m10_a_child_that_was_down_hears_of_the_end_of_its_link_when_it_is_up() {
    Sim::new().allow_faults(true).check(|| {
        let log = Log::new();
        let (child, _supervisor) = down_for(Duration::from_secs(1), &log);
        let (other, _) = Diary::spawn();
        link(&other, &child.to_any());
        other.send(crate::world::Bomb).unwrap();
        other.ended().wait().unwrap();
        assert_eq!(log.take(), ["child up", "child down: it panicked: boom"]);
        // Behind the first life that hears of it.
        sleep(Duration::from_secs(5)).wait().unwrap();
        coact::call(&child, |_| ()).wait().expect("it is up again");
        let down = ExitReason::Linked(other.id(), boom().into());
        let again = |why: &ExitReason| format!("child again: {why}");
        assert_eq!(log.take(), [again(&boom()), format!("child down: {down}"), again(&down)]);
    });
}

/// Traps exits in each of its lives.
struct Trapper(Log<String>);

impl Actor for Trapper {
    fn started(&mut self, context: &mut Context<Self>) {
        self.0.push("up".into());
        context.trap_exits();
    }
}

impl Handler<Exited> for Trapper {
    fn handle(&mut self, exited: Exited, _: &mut Context<Self>) {
        self.0.push(exited.reason.to_string());
    }
}

impl Handler<Bomb> for Trapper {
    fn handle(&mut self, _: Bomb, _: &mut Context<Self>) {
        fail("boom");
    }
}

#[test]
fn a_child_that_traps_exits_is_told_of_those_that_came_while_it_was_down() {
    Sim::new().allow_faults(true).check(|| {
        let log = Log::new();
        let own = log.clone();
        let tree = Supervisor::one_for_one().intensity(9, Duration::from_secs(3600));
        let mut tree = tree.backoff(Backoff::constant(Duration::from_secs(1)));
        let child = tree.child(permanent(move || Trapper(own.clone())));
        let _supervisor = tree.spawn();
        let (early, late) = (Diary::spawn().0, Diary::spawn().0);
        link(&early, &child.to_any());
        let _ = child.ask(Bomb).wait();
        link(&late, &child.to_any());
        for other in [&early, &late] {
            other.send(crate::world::Bomb).unwrap();
            other.ended().wait().unwrap();
        }
        assert_eq!(log.take(), ["up"]);
        sleep(Duration::from_secs(5)).wait().unwrap();
        coact::call(&child, |_| ()).wait().expect("it is up again");
        let boom = "it panicked: boom";
        assert_eq!(log.take(), ["up", boom, boom]);
    });
}

#[test]
fn who_links_itself_with_a_child_that_is_down_hears_of_its_end() {
    check_with_faults(|_| {
        let log = Log::new();
        let (child, supervisor) = down_for(Duration::from_secs(3600), &log);
        let (other, _) = Diary::spawn();
        link(&other, &child.to_any());
        supervisor.kill().unwrap();
        let ended = child.ended().wait_timeout(PATIENCE).expect("its supervisor has ended");
        let reason = ended.unwrap();
        if reason.is_normal() {
            finally(move || assert!(coact::call(&other, |_| ()).wait().is_ok()));
        } else {
            let linked = ExitReason::Linked(child.id(), reason.into());
            assert_eq!(other.ended().wait(), Ok(linked));
        }
    });
}

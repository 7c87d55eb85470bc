//! Links and monitors.

use coact::prelude::*;
use coact_tests::{check, check_with_faults, finally};

use crate::world::{Bomb, Diary, Do, Enough, Note};

/// Links two actors, and waits until it is done.
fn link(one: &Addr<Diary>, other: &Addr<Diary>) {
    let peer = other.clone();
    let link = move |_: &mut Diary, context: &mut Context<Diary>| context.link(&peer);
    one.ask(Do(link)).wait().unwrap();
}

fn trap(diary: &Addr<Diary>) {
    diary
        .ask(Do(|_: &mut Diary, context: &mut Context<Diary>| context.trap_exits()))
        .wait()
        .unwrap();
}

#[test]
fn a_failure_spreads_along_links() {
    check_with_faults(|_| {
        let [(a, _), (b, _), (c, _)] = [Diary::spawn(), Diary::spawn(), Diary::spawn()];
        link(&a, &b);
        link(&c, &b);
        a.send(Bomb).unwrap();
        let boom = ExitReason::Panicked("boom".into());
        assert_eq!(a.ended().wait(), Ok(boom.clone()));
        let linked = ExitReason::Linked(a.id(), boom.into());
        assert_eq!(b.ended().wait(), Ok(linked.clone()));
        assert_eq!(c.ended().wait(), Ok(ExitReason::Linked(b.id(), linked.into())));
    });
}

#[test]
fn a_normal_end_does_not_spread() {
    check(|| {
        let [(a, _), (b, _)] = [Diary::spawn(), Diary::spawn()];
        link(&a, &b);
        a.send(Enough).unwrap();
        a.ended().wait().unwrap();
        assert_eq!(b.ask(Note("alive")).wait(), Ok(2));
    });
}

#[test]
fn exits_can_be_trapped() {
    check_with_faults(|_| {
        let [(a, _), (b, log)] = [Diary::spawn(), Diary::spawn()];
        trap(&b);
        link(&a, &b);
        a.send(Bomb).unwrap();
        a.ended().wait().unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "exited: it panicked: boom"]);
            drop(b);
        });
    });
}

#[test]
fn a_link_with_an_actor_that_has_ended_counts_as_its_end() {
    check(|| {
        let [(a, _), (b, log)] = [Diary::spawn(), Diary::spawn()];
        a.kill().unwrap();
        a.ended().wait().unwrap();
        trap(&b);
        link(&b, &a);
        finally(move || {
            assert_eq!(log.take(), ["started", "exited: there was no such actor"]);
            drop((a, b));
        });
    });
}

#[test]
fn two_that_link_each_other_at_once_are_linked() {
    check(|| {
        let [(a, _), (b, _)] = [Diary::spawn(), Diary::spawn()];
        let (to_a, to_b) = (a.clone(), b.clone());
        let one = a.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| context.link(&to_b)));
        let two = b.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| context.link(&to_a)));
        one.wait().unwrap();
        two.wait().unwrap();
        a.kill().unwrap();
        let linked = ExitReason::Linked(a.id(), ExitReason::Killed.into());
        assert_eq!(b.ended().wait(), Ok(linked));
    });
}

#[test]
fn a_link_can_be_undone() {
    check(|| {
        let [(a, _), (b, _)] = [Diary::spawn(), Diary::spawn()];
        link(&a, &b);
        let peer = b.any();
        a.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| context.unlink(&peer)))
            .wait()
            .unwrap();
        a.kill().unwrap();
        a.ended().wait().unwrap();
        assert_eq!(b.ask(Note("alive")).wait(), Ok(2));
    });
}

#[test]
fn a_monitor_tells_the_end_once() {
    check(|| {
        let [(a, _), (b, log)] = [Diary::spawn(), Diary::spawn()];
        let peer = a.clone();
        b.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
            context.monitor(&peer);
            let dropped = context.monitor(&peer);
            peer.demonitor(dropped);
        }))
        .wait()
        .unwrap();
        a.send(Enough).unwrap();
        a.ended().wait().unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "down: it was done"]);
            drop((a, b));
        });
    });
}

#[test]
fn a_monitor_of_an_actor_that_has_ended_tells_at_once() {
    check(|| {
        let (a, _) = Diary::spawn();
        a.kill().unwrap();
        assert_eq!(a.ended().wait(), Ok(ExitReason::Killed));
        assert_eq!(a.ended().wait(), Ok(ExitReason::Killed));
    });
}

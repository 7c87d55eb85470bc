//! Links and monitors.

use coact::Context;
use coact::actor::MonitorId;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::supervise::Supervisor;
use coact_tests::{check, check_with_faults, fail, finally};

use crate::world::{Bomb, Diary, Do, Enough, Note};

/// Links two actors, and waits until it is done.
fn link(one: &Addr<Diary>, other: &Addr<Diary>) {
    let peer = other.clone();
    let link = move |_: &mut Diary, context: &mut Context<Diary>| context.link(&peer);
    one.ask(Do(link)).wait().unwrap();
}

/// Has one monitor the other.
fn monitor(one: &Addr<Diary>, other: &Addr<Diary>) -> MonitorId {
    let (peer, (resolver, id)) = (other.clone(), Promise::channel());
    let monitor = move |_: &mut Diary, context: &mut Context<Diary>| {
        resolver.resolve(context.monitor(&peer));
    };
    one.ask(Do(monitor)).wait().unwrap();
    id.wait().unwrap()
}

fn trap(diary: &Addr<Diary>) {
    diary
        .ask(Do(|_: &mut Diary, context: &mut Context<Diary>| context.trap_exits()))
        .wait()
        .unwrap();
}

#[test]
fn m10_a_failure_spreads_along_links() {
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
fn an_actor_that_no_longer_traps_exits_ends_with_its_links() {
    check_with_faults(|_| {
        let [(a, _), (b, _)] = [Diary::spawn(), Diary::spawn()];
        trap(&b);
        link(&a, &b);
        let untrap = |_: &mut Diary, context: &mut Context<Diary>| context.untrap_exits();
        b.ask(Do(untrap)).wait().unwrap();
        a.send(Bomb).unwrap();
        let linked = ExitReason::Linked(a.id(), ExitReason::Panicked("boom".into()).into());
        assert_eq!(b.ended().wait(), Ok(linked));
    });
}

#[test]
fn m10_a_link_with_an_actor_that_has_ended_counts_as_its_end() {
    check(|| {
        let [(a, _), (b, log)] = [Diary::spawn(), Diary::spawn()];
        a.kill().unwrap();
        a.ended().wait().unwrap();
        trap(&b);
        link(&b, &a);
        finally(move || {
            assert_eq!(log.take(), ["started", "exited: it was killed"]);
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
        let peer = b.to_any();
        a.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| context.unlink(&peer)))
            .wait()
            .unwrap();
        a.kill().unwrap();
        a.ended().wait().unwrap();
        assert_eq!(b.ask(Note("alive")).wait(), Ok(2));
    });
}

#[test]
fn links_and_monitors_take_addresses_of_all_kinds() {
    check(|| {
        let [(a, _), (b, log)] = [Diary::spawn(), Diary::spawn()];
        let supervisor = Supervisor::one_for_one().spawn();
        let (weak, any, above) = (a.downgrade(), a.to_any(), supervisor.clone());
        trap(&b);
        b.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
            context.link(&weak);
            context.unlink(&any);
            context.link(weak.clone());
            context.link(&above);
            context.unlink(&above);
            context.monitor(any);
            context.monitor(&above);
        }))
        .wait()
        .unwrap();
        a.kill().unwrap();
        a.ended().wait().unwrap();
        supervisor.kill().unwrap();
        supervisor.ended().wait().unwrap();
        finally(move || {
            let mut told = log.take();
            told.sort_unstable();
            let killed = ["down: it was killed", "down: it was killed", "exited: it was killed"];
            assert_eq!(told, [&killed[..], &["started"]].concat());
            drop(b);
        });
    });
}

#[test]
fn a_monitor_of_an_actor_that_nobody_reaches_any_more_tells_at_once() {
    check(|| {
        let (b, log) = Diary::spawn();
        let gone = Diary::spawn().0.downgrade();
        b.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| _ = context.monitor(&gone)))
            .wait()
            .unwrap();
        finally(move || {
            let told = log.take();
            assert!(told.len() == 2 && told[1].starts_with("down: "), "{told:?}");
            drop(b);
        });
    });
}

#[test]
fn an_actor_undoes_monitors_of_its_own_only() {
    check(|| {
        let [(a, _), (b, log), (c, other_log)] = [Diary::spawn(), Diary::spawn(), Diary::spawn()];
        let undo = |id: MonitorId| {
            Do(move |_: &mut Diary, context: &mut Context<Diary>| context.demonitor(id))
        };
        let (mine, yours) = (monitor(&b, &a), monitor(&c, &a));
        b.ask(undo(yours)).wait().unwrap();
        for _ in 0..2 {
            b.ask(undo(mine)).wait().unwrap();
        }
        a.kill().unwrap();
        a.ended().wait().unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started"]);
            assert_eq!(other_log.take(), ["started", "down: it was killed"]);
            drop((b, c));
        });
    });
}

#[test]
fn m10_a_monitor_tells_the_end_once() {
    check(|| {
        let [(a, _), (b, log)] = [Diary::spawn(), Diary::spawn()];
        let peer = a.clone();
        b.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
            context.monitor(&peer);
            let dropped = context.monitor(&peer);
            context.demonitor(dropped);
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
fn m10_a_monitor_of_an_actor_that_has_ended_tells_at_once() {
    check(|| {
        let (a, _) = Diary::spawn();
        a.kill().unwrap();
        assert_eq!(a.ended().wait(), Ok(ExitReason::Killed));
        assert_eq!(a.ended().wait(), Ok(ExitReason::Killed));
    });
}

/// Links and monitors are promised to tell of an end: a mailbox does not choose among them.
#[test]
fn a_full_mailbox_loses_no_news_of_ends() {
    let one = || Mailbox::bounded(1);
    for mailbox in [one().fail(), one().wait(), one().drop_newest(), one().drop_oldest()] {
        check(move || {
            let [(a, _), (b, _)] = [Diary::spawn(), Diary::spawn()];
            let (watcher, log) = Diary::new();
            let watcher = actor(watcher).mailbox(mailbox.clone()).spawn();
            trap(&watcher);
            link(&watcher, &a);
            let peer = b.clone();
            watcher
                .ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
                    context.monitor(&peer);
                }))
                .wait()
                .unwrap();
            watcher.suspend().unwrap();
            watcher.send(Note("the only one")).unwrap();
            a.kill().unwrap();
            a.ended().wait().unwrap();
            b.kill().unwrap();
            b.ended().wait().unwrap();
            watcher.resume().unwrap();
            finally(move || {
                let told = log.take();
                assert_eq!(told[..2], ["started", "the only one"]);
                // Two ends, and so no order between them.
                let mut ends = told[2..].to_vec();
                ends.sort();
                assert_eq!(ends, ["down: it was killed", "exited: it was killed"]);
                drop((a, b, watcher));
            });
        });
    }
}

/// A child that ends before the link has come to it ends as any other: with its own reason.
#[test]
fn a_linked_child_may_end_at_once() {
    struct Brief(bool);
    impl Actor for Brief {
        fn started(&mut self, context: &mut Context<Self>) {
            if self.0 {
                fail("stillborn");
            }
            context.stop();
        }
    }
    check_with_faults(|_| {
        let (parent, log) = Diary::spawn();
        let bear = |fails| {
            Do(move |_: &mut Diary, context: &mut Context<Diary>| {
                context.spawn_linked(Brief(fails));
            })
        };
        parent.ask(bear(false)).wait().unwrap();
        parent.ask(Note("alive")).wait().unwrap();
        parent.ask(bear(true)).wait().unwrap();
        let Ok(ExitReason::Linked(_, why)) = parent.ended().wait() else {
            panic!("the parent ended for another reason")
        };
        assert_eq!(*why, ExitReason::Panicked("stillborn".into()));
        assert!(log.take().contains(&"alive".to_owned()));
    });
}

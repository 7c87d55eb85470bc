//! Messages that are set aside, and handled again.

use std::time::Duration;

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::time::sleep;
use coact_tests::{Faults, Log, check, check_with_faults, fail, finally, runtime};

/// Sets items aside until it is opened.
struct Shop {
    open: bool,
    log: Log<String>,
}

impl Actor for Shop {
    fn restarted(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.log.push("restarted".into());
    }
}

struct Item(u32);

impl Message for Item {
    type Reply = u32;
}

impl Receive<Item> for Shop {
    fn receive(&mut self, item: Item, reply: Reply<u32>, context: &mut Context<Self>) {
        if !self.open {
            if let Err(full) = context.stash(item, reply) {
                self.log.push(format!("no room for {}", full.message.0));
                full.reply.fail(AskError::Full);
            }
            return;
        }
        match item.0 {
            13 => panic!("thirteen"),
            17 => {
                self.open = false;
                self.log.push("closed".into());
            }
            19 => context.stop(),
            23 => {
                context.hold(reply, |shop, _| {
                    Box::pin(async move {
                        sleep(Duration::from_millis(1)).await.unwrap();
                        shop.log.push("held".into());
                        23
                    })
                });
                return;
            }
            other => self.log.push(other.to_string()),
        }
        reply.send(item.0);
    }
}

/// Opens the shop.
struct Open;

impl Message for Open {
    type Reply = usize;
}

impl Handler<Open> for Shop {
    fn handle(&mut self, _: Open, context: &mut Context<Self>) -> usize {
        self.open = true;
        context.unstash_all();
        context.stashed()
    }
}

/// Opens the shop, for this number of those that wait.
struct Admit(usize);

impl Message for Admit {
    type Reply = usize;
}

impl Handler<Admit> for Shop {
    fn handle(&mut self, admit: Admit, context: &mut Context<Self>) -> usize {
        self.open = true;
        context.unstash(admit.0);
        context.stashed()
    }
}

fn shop(mailbox: Mailbox) -> (Addr<Shop>, Log<String>) {
    let (shop, log) = unspawned();
    (shop.mailbox(mailbox).spawn(), log)
}

fn unspawned() -> (coact::actor::Spawn<Shop>, Log<String>) {
    let log = Log::new();
    let make = move |log: &Log<String>, open| Shop { open, log: log.clone() };
    let again = log.clone();
    (actor(make(&log, false)).restartable(move || make(&again, true)), log)
}

fn send_all(shop: &Addr<Shop>, items: impl IntoIterator<Item = u32>) {
    items.into_iter().for_each(|item| shop.send(Item(item)).unwrap());
}

#[test]
fn what_was_set_aside_comes_again_in_order_before_what_is_newer() {
    check(|| {
        let (shop, log) = shop(Mailbox::unbounded());
        send_all(&shop, 1..4);
        shop.send(Open).unwrap();
        send_all(&shop, 4..6);
        when(&shop, |shop| shop.log.push("behaviour".into()));
        finally(move || {
            assert_eq!(log.take(), ["1", "2", "3", "4", "5", "behaviour"]);
            drop(shop);
        });
    });
}

#[test]
fn only_so_many_come_again() {
    check(|| {
        let (shop, log) = shop(Mailbox::unbounded());
        let asks = [1, 2, 17, 3, 4].map(|item| shop.ask(Item(item)));
        assert_eq!(shop.ask(Admit(0)).wait(), Ok(5), "none come");
        assert_eq!(shop.ask(Admit(2)).wait(), Ok(5));
        assert_eq!(shop.ask(Admit(2)).wait(), Ok(3));
        // The last one found the shop closed, and is set aside once more, behind the fourth.
        send_all(&shop, [5]);
        assert_eq!(shop.ask(Admit(usize::MAX)).wait(), Ok(3));
        assert_eq!(asks.map(|ask| ask.wait().unwrap()), [1, 2, 17, 3, 4]);
        finally(move || {
            assert_eq!(log.take(), ["1", "2", "closed", "4", "3", "5"]);
            drop(shop);
        });
    });
}

#[test]
fn what_is_set_aside_once_more_waits_once_more() {
    check(|| {
        let (shop, log) = shop(Mailbox::unbounded());
        let asks = [1, 17, 2, 3].map(|item| shop.ask(Item(item)));
        assert_eq!(shop.ask(Open).wait(), Ok(4));
        send_all(&shop, [4]);
        assert_eq!(shop.ask(Open).wait(), Ok(3));
        assert_eq!(asks.map(|ask| ask.wait().unwrap()), [1, 17, 2, 3]);
        finally(move || {
            assert_eq!(log.take(), ["1", "closed", "2", "3", "4"]);
            drop(shop);
        });
    });
}

#[test]
fn the_stash_has_a_limit_if_it_is_given_one() {
    check(|| {
        let (shop, log) = shop(Mailbox::unbounded().stash(2));
        let asks = [1, 2, 3].map(|item| shop.ask(Item(item)));
        shop.send(Open).unwrap();
        assert_eq!(asks.map(|ask| ask.wait()), [Ok(1), Ok(2), Err(AskError::Full)]);
        finally(move || {
            assert_eq!(log.take(), ["no room for 3", "1", "2"]);
            drop(shop);
        });
    });
}

/// What is set aside takes no room.
#[test]
fn the_stash_is_not_the_mailbox() {
    check(|| {
        let (shop, log) = shop(Mailbox::bounded(1));
        for item in 1..10 {
            shop.send_blocking(Item(item)).unwrap();
        }
        shop.send_blocking(Open).unwrap();
        finally(move || {
            assert_eq!(log.take().len(), 9);
            assert_eq!(shop.mailbox().len(), 0);
        });
    });
}

#[test]
fn a_restart_lets_it_come_again() {
    check(|| {
        let (shop, log) = shop(Mailbox::unbounded());
        let first = shop.ask(Item(1));
        send_all(&shop, [2]);
        call(&shop, |_| ()).wait().unwrap();
        shop.restart().unwrap();
        send_all(&shop, [3]);
        assert_eq!(first.wait(), Ok(1));
        finally(move || {
            assert_eq!(log.take(), ["restarted", "1", "2", "3"]);
            drop(shop);
        });
    });
}

#[test]
fn an_end_fails_what_is_set_aside() {
    check(|| {
        let (shop, log) = shop(Mailbox::unbounded());
        let asks = [1, 2].map(|item| shop.ask(Item(item)));
        call(&shop, |_| ()).wait().unwrap();
        shop.stop().unwrap();
        let stopped = || Err(AskError::Stopped(ExitReason::Shutdown));
        assert_eq!(asks.map(|ask| ask.wait()), [stopped(), stopped()]);
        finally(move || {
            assert_eq!(shop.dead_letters(), 2);
            assert!(log.is_empty());
        });
    });
}

#[test]
fn an_end_among_what_comes_again_fails_the_rest() {
    check(|| {
        let (shop, log) = shop(Mailbox::unbounded());
        let asks = [1, 19, 2].map(|item| shop.ask(Item(item)));
        shop.send(Open).unwrap();
        let rest = shop.ask(Item(3));
        let normal = || Err(AskError::Stopped(ExitReason::Normal));
        assert_eq!(asks.map(|ask| ask.wait()), [Ok(1), Ok(19), normal()]);
        assert_eq!(rest.wait(), normal());
        finally(move || assert_eq!(log.take(), ["1"]));
    });
}

#[test]
fn a_panic_among_what_comes_again_fails_the_actor() {
    check_with_faults(|faults| {
        let (shop, log) = shop(Mailbox::unbounded());
        let asks = [1, 13, 2].map(|item| shop.ask(Item(item)));
        shop.send(Open).unwrap();
        let reason = ExitReason::Panicked("thirteen".into());
        let expected = [
            Ok(1),
            Err(AskError::Panicked("thirteen".into())),
            Err(AskError::Stopped(reason.clone())),
        ];
        assert_eq!(asks.map(|ask| ask.wait()), expected);
        assert_eq!(shop.ended().wait(), Ok(reason));
        assert_eq!(faults.len(), 1);
        finally(move || assert_eq!(log.take(), ["1"]));
    });
}

#[test]
fn a_hold_among_what_comes_again_holds_the_rest() {
    check(|| {
        let (shop, log) = shop(Mailbox::unbounded());
        send_all(&shop, [1, 23, 2]);
        shop.send(Open).unwrap();
        send_all(&shop, [3]);
        finally(move || {
            assert_eq!(log.take(), ["1", "held", "2", "3"]);
            drop(shop);
        });
    });
}

#[test]
fn a_long_stash_is_interrupted_by_signals_and_others() {
    check(|| {
        let (shop, log) = shop(Mailbox::unbounded());
        send_all(&shop, 100..1000);
        shop.send(Open).unwrap();
        send_all(&shop, [5]);
        assert_eq!(call(&shop, |shop| shop.log.len()).wait(), Ok(901));
        send_all(&shop, [17]);
        send_all(&shop, 100..1000);
        shop.send(Open).unwrap();
        shop.suspend().unwrap();
        shop.stop().unwrap();
        finally(move || {
            let log = log.take();
            assert_eq!(log[900], "5");
            assert!(log.len() <= 1 + 900 + 901);
            drop(shop);
        });
    });
}

#[test]
fn the_last_address_lets_what_comes_again_come() {
    check(|| {
        let (shop, log) = shop(Mailbox::unbounded());
        send_all(&shop, 100..300);
        shop.send(Open).unwrap();
        drop(shop);
        finally(move || assert_eq!(log.take().len(), 200));
    });
}

#[test]
fn a_shutdown_drops_what_is_set_aside() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let (shop, log) = runtime.run(|| shop(Mailbox::unbounded()));
    let asks = [1, 2].map(|item| shop.ask(Item(item)));
    runtime.wait_idle();
    assert_eq!(runtime.shutdown(Duration::from_millis(20)).stuck_workers, 0);
    drop(shop);
    assert!(asks.into_iter().all(|ask| ask.wait().is_err()));
    assert!(log.is_empty());
}

/// Each of them is dropped for itself: two panics at once would be the process's end.
#[test]
fn a_shutdown_survives_what_is_set_aside_and_panics() {
    struct Grenade;
    impl Drop for Grenade {
        fn drop(&mut self) {
            fail("thrown away");
        }
    }
    impl Message for Grenade {
        type Reply = ();
    }
    struct Keeper;
    impl Actor for Keeper {}
    impl Receive<Grenade> for Keeper {
        fn receive(&mut self, grenade: Grenade, reply: Reply<()>, context: &mut Context<Self>) {
            context.stash(grenade, reply).unwrap();
        }
    }
    let faults = Faults::new();
    let runtime = coact_tests::runtime(1, &faults);
    let keeper = runtime.run(|| spawn(Keeper));
    let asks = [keeper.ask(Grenade), keeper.ask(Grenade)];
    runtime.wait_idle();
    assert_eq!(runtime.shutdown(Duration::from_millis(20)).stuck_workers, 0);
    drop(keeper);
    assert!(asks.into_iter().all(|ask| ask.wait().is_err()));
}

/// As all messages do: a shut gate shuts the group.
#[test]
fn what_comes_again_waits_while_another_member_of_the_group_does() {
    for workers in [1, 2] {
        let runtime = runtime(workers, &Faults::new());
        let _entered = runtime.enter();
        let group = Group::new();
        let (shop, log) = unspawned();
        let shop = shop.in_group(&group).spawn();
        let other = actor(Shop { open: true, log: Log::new() }).in_group(&group).spawn();
        send_all(&shop, [1, 2]);
        runtime.wait_idle();
        other.suspend().unwrap();
        shop.restart().unwrap();
        shop.send(Item(3)).unwrap();
        runtime.wait_idle();
        assert_eq!(log.take(), ["restarted"]);
        other.resume().unwrap();
        runtime.wait_idle();
        assert_eq!(log.take(), ["1", "2", "3"]);
    }
}

/// A member that is held keeps the others out, those that come again too.
#[test]
fn what_comes_again_waits_while_another_member_of_the_group_is_held() {
    coact::sim::check(|| {
        let group = Group::new();
        let (shop, log) = unspawned();
        let shop = shop.in_group(&group).spawn();
        let other = actor(Shop { open: true, log: log.clone() }).in_group(&group).spawn();
        send_all(&shop, [1]);
        let held = other.ask(Item(23));
        shop.restart().unwrap();
        assert_eq!(held.wait(), Ok(23));
        call(&shop, |_| ()).wait().unwrap();
        let log = log.take();
        let at = |entry: &str| log.iter().position(|other| other == entry).unwrap();
        // Set aside, it has come before the other one was held: or it comes again when that is
        // over.
        assert!(at("held") < at("1") || at("restarted") < at("1"), "{log:?}");
        drop((shop, other));
    });
}

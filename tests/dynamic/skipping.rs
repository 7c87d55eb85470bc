//! Messages that no case takes for now.

use coact::dynamic::{
    DynActor, DynContext, DynMessage, StateAddr, atom, cases, dyn_actor, spawn_dyn_with,
};
use coact::mailbox::{Lane, Mailbox};
use coact::prelude::*;
use coact::pubsub::{DropCause, MessageDropped, events};
use coact_tests::{Log, check, everywhere};

/// Takes integers while it is open, and those above its limit only once that is higher.
struct Gate {
    limit: i32,
    log: Vec<String>,
}

fn gate() -> impl Fn(&mut DynContext<Gate>) + Send + Sync + 'static {
    |me| closed(me)
}

fn closed(me: &mut DynContext<Gate>) {
    me.become_(cases! { |me: &mut DynContext<Gate>|
        (atom!("open")) => {
            me.state_mut().log.push("open".into());
            open(me);
        },
        (atom!("end")) => me.stop(),
    });
}

fn open(me: &mut DynContext<Gate>) {
    me.become_(cases! { |me: &mut DynContext<Gate>|
        (n: i32) if n <= me.state().limit => {
            me.state_mut().log.push(n.to_string());
            me.reply(n);
        },
        (atom!("limit"), n: i32) => {
            me.state_mut().log.push(format!("limit {n}"));
            me.state_mut().limit = n;
        },
        (atom!("close")) => closed(me),
        (atom!("end")) => me.stop(),
    });
}

fn log(of: &StateAddr<Gate>) -> Vec<String> {
    call(of, |gate| std::mem::take(&mut gate.log)).wait().unwrap()
}

fn new() -> Gate {
    Gate { limit: 10, log: Vec::new() }
}

#[test]
fn d1_they_are_tried_again_before_all_that_waits() {
    everywhere(|| {
        let it = spawn_dyn_with(new(), gate());
        for n in [1, 2, 20, 3] {
            it.send(n).unwrap();
        }
        it.send(atom!("open")).unwrap();
        // Behind the skipped ones, though it is spawned before the next message.
        when(&it, |gate| gate.log.push("behaviour".into()));
        it.send(4).unwrap();
        it.send((atom!("limit"), 30)).unwrap();
        it.send(5).unwrap();
        assert_eq!(
            log(&it),
            ["open", "1", "2", "3", "behaviour", "4", "limit 30", "20", "5"],
            "a guard is asked again after each message"
        );
    });
}

#[test]
fn d1_closing_again_leaves_the_others() {
    everywhere(|| {
        let it = spawn_dyn_with(new(), gate());
        it.send(1).unwrap();
        it.send(atom!("close")).unwrap();
        it.send(2).unwrap();
        it.send(atom!("open")).unwrap();
        assert_eq!(log(&it), ["open", "1"], "it is closed in front of the second");
        it.send(atom!("open")).unwrap();
        assert_eq!(log(&it), ["open", "2"]);
    });
}

#[test]
fn d3_they_count_in_a_bounded_mailbox() {
    check(|| {
        let it = dyn_actor(new(), gate()).mailbox(Mailbox::bounded(3).fail()).spawn();
        for n in 1..=3 {
            it.send(n).unwrap();
        }
        // All of them are skipped by now, and still there.
        assert_eq!(log(&it), [""; 0]);
        assert!(matches!(it.send(4), Err(SendError::Full(tuple)) if tuple.get(0) == Some(&4)));
        assert_eq!(it.ask(5).wait().map(drop), Err(AskError::Full));
        // The way out is not a message.
        it.restart().unwrap_or_default();
        assert!(it.ended().wait().is_ok());

        let it = dyn_actor(new(), gate()).mailbox(Mailbox::bounded(3).fail()).spawn();
        it.send(1).unwrap();
        it.send(2).unwrap();
        it.send(atom!("open")).unwrap();
        assert_eq!(log(&it), ["open", "1", "2"]);
        for _ in 0..3 {
            // One that is skipped has its room only as long.
            it.send(99).unwrap();
            assert_eq!(log(&it), [""; 0]);
            it.send((atom!("limit"), 100)).unwrap();
            assert_eq!(log(&it), ["limit 100", "99"]);
            it.send((atom!("limit"), 10)).unwrap();
            assert_eq!(log(&it), ["limit 10"]);
        }
    });
}

#[test]
fn a_case_has_the_room_of_its_message() {
    check(|| {
        let it = dyn_actor(0, |me: &mut DynContext<i32>| {
            me.become_(cases! { |me: &mut DynContext<i32>|
                (0) => me.reply("done"),
                (n: i32) => {
                    *me.state_mut() += n;
                    let reply = me.address();
                    me.forward(&reply, n - 1).unwrap();
                },
            });
        })
        .mailbox(Mailbox::bounded(1).fail())
        .spawn();
        assert_eq!(it.ask(4).wait().unwrap().get::<String>(0).unwrap(), "done");
        assert_eq!(call(&it, |sum| *sum).wait(), Ok(10));
    });
}

#[test]
fn d3_the_oldest_is_dropped_for_the_newest() {
    check(|| {
        let dropped = Log::new();
        let seen = dropped.clone();
        let it = dyn_actor(new(), gate()).mailbox(Mailbox::bounded(2).drop_oldest()).spawn();
        let id = it.id();
        let _subscription = events().subscribe_fn(move |event: MessageDropped| {
            if event.actor == id {
                seen.push(event.cause == DropCause::Policy);
            }
        });
        for n in 1..=5 {
            it.send(n).unwrap();
            // It is skipped by now.
            assert_eq!(log(&it), [""; 0]);
        }
        it.send(atom!("open")).unwrap();
        assert_eq!(log(&it), ["open", "4", "5"]);
        assert_eq!(dropped.take(), [true; 3]);
    });
}

#[test]
fn d3_their_asks_fail_when_the_actor_ends() {
    everywhere(|| {
        let it = spawn_dyn_with(new(), gate());
        let asks: Vec<_> = (0..3).map(|n| it.ask(n)).collect();
        it.send(atom!("end")).unwrap();
        for ask in asks {
            assert_eq!(ask.wait().map(drop), Err(AskError::Stopped(ExitReason::Normal)));
        }
        assert_eq!(it.dead_letters(), 3);
        // Also where it has no say.
        let it = spawn_dyn_with(new(), gate());
        let ask = it.ask(1);
        assert_eq!(log(&it), [""; 0]);
        it.kill().unwrap();
        assert_eq!(ask.wait().map(drop), Err(AskError::Stopped(ExitReason::Killed)));
        it.ended().wait().unwrap();
        assert_eq!(it.dead_letters(), 1);
    });
}

#[test]
fn d1_a_stop_comes_between_them() {
    everywhere(|| {
        let it = spawn_dyn_with(0, |me| {
            me.become_(cases! { |me: &mut DynContext<i32>|
                (atom!("open")) => me.become_(cases! { |me: &mut DynContext<i32>|
                    (n: i32) => {
                        *me.state_mut() += n;
                        if n == 2 {
                            me.stop();
                        }
                    },
                }),
            });
        });
        let asks: Vec<_> = (1..=4).map(|n| it.ask(n)).collect();
        it.send(atom!("open")).unwrap();
        let ended: Vec<_> = asks.into_iter().map(|ask| ask.wait().map(drop).unwrap_err()).collect();
        assert_eq!(ended[..2], [AskError::NoReply, AskError::NoReply]);
        assert_eq!(ended[2], AskError::Stopped(ExitReason::Normal));
    });
}

#[test]
fn d2_many_are_no_burden_to_others() {
    check(|| {
        let it = spawn_dyn_with(0_u64, |me| {
            fn small(me: &mut DynContext<u64>) {
                me.become_(cases! { |me: &mut DynContext<u64>|
                    (n: u8) => { *me.state_mut() += u64::from(n); large(me); },
                    (atom!("all")) => me.become_(cases! { |me: &mut DynContext<u64>|
                        (_: String) => *me.state_mut() += 1,
                    }),
                });
            }
            fn large(me: &mut DynContext<u64>) {
                me.become_(cases! { |me: &mut DynContext<u64>|
                    (n: u32) => { *me.state_mut() += u64::from(n); small(me); },
                });
            }
            small(me);
        });
        for _ in 0..70_000 {
            it.send("skipped").unwrap();
        }
        for _ in 0..10_000 {
            it.send(1_u8).unwrap();
            it.send(1_u32).unwrap();
        }
        it.send(atom!("all")).unwrap();
        assert_eq!(call(&it, |sum| *sum).wait(), Ok(90_000));
    });
}

#[test]
fn d1_the_stash_of_the_program_is_another_one() {
    everywhere(|| {
        let it = spawn_dyn_with(Vec::new(), |me| {
            me.become_(cases! { |me: &mut DynContext<Vec<i32>>|
                (atom!("stash"), n: i32) => {
                    let message = DynMessage::new((atom!("stashed"), n));
                    me.actor().stash(message, Reply::unwanted()).expect("there is no limit");
                },
                (atom!("open")) => me.become_(cases! { |me: &mut DynContext<Vec<i32>>|
                    (n: i32) => me.state_mut().push(n),
                    (atom!("stashed"), n: i32) => me.state_mut().push(n),
                    (atom!("unstash")) => me.actor().unstash_all(),
                }),
            });
        });
        it.send(1).unwrap();
        it.send(2).unwrap();
        it.send((atom!("stash"), 100)).unwrap();
        it.send(atom!("open")).unwrap();
        it.send(3).unwrap();
        it.send(atom!("unstash")).unwrap();
        it.send(4).unwrap();
        assert_eq!(call(&it, |taken| taken.clone()).wait(), Ok(vec![1, 2, 3, 100, 4]));
    });
}

#[test]
fn d3_the_view_of_a_mailbox_counts_them() {
    check(|| {
        let lane = || Lane::bounded(4).fail();
        let it = dyn_actor(new(), gate())
            .mailbox(Mailbox::lanes(2).lane(0, lane()).lane(1, lane()))
            .spawn();
        for n in 0..4 {
            it.send(n).unwrap();
        }
        assert_eq!(log(&it), [""; 0]);
        assert_eq!(it.mailbox().lane(1).map(|lane| lane.len()), Some(4));
        assert!(it.send(5).is_err());
        // There is room for what opens the gate.
        it.send_in(0, atom!("open")).unwrap();
        assert_eq!(log(&it), ["open", "0", "1", "2", "3"]);
    });
}

#[test]
fn they_can_be_seen() {
    check(|| {
        let it = spawn_dyn_with(new(), gate());
        it.send(1).unwrap();
        it.send("text").unwrap();
        let skipped = call(&**it, |actor: &mut DynActor| actor.skipped()).wait().unwrap();
        let tuples: Vec<_> = skipped.iter().map(|skipped| skipped.tuple().to_string()).collect();
        assert_eq!(tuples, ["(1,)", "(\"text\",)"]);
        assert!(skipped[0].to_string().contains("`i32`"), "{}", skipped[0]);
    });
}

//! Who has sent a message, and where a reply goes.

use std::ops::ControlFlow::{Break, Continue};

use coact::dynamic::{
    AnyTuple, DynAddr, DynContext, DynThread, atom, cases, dyn_actor, fiber, spawn_dyn,
    spawn_dyn_with,
};
use coact::mailbox::{Lane, Mailbox};
use coact::prelude::*;
use coact_tests::{Log, everywhere};

/// An actor that replies with what it gets.
fn echo() -> DynAddr {
    spawn_dyn(|me: &mut DynContext| {
        me.become_(cases! { |me: &mut DynContext| message => me.reply((atom!("echo"), message)) });
    })
}

#[test]
fn d7_a_reply_to_a_message_is_a_message() {
    everywhere(|| {
        let (log, echo) = (Log::new(), echo());
        let said = log.clone();
        let it = spawn_dyn(move |me: &mut DynContext| {
            me.send(&echo, 1).unwrap();
            me.become_(cases! { |me: &mut DynContext|
                (atom!("echo"), what: AnyTuple) => {
                    said.push((what.to_string(), me.sender() == Some(echo.clone()), me.is_asked()));
                    me.stop();
                },
            });
        });
        it.ended().wait().unwrap();
        assert_eq!(log.take(), [("(1,)".to_owned(), true, false)]);
    });
}

/// Whatever the mailbox of the one that replies, and however it was sent.
#[test]
fn d7_a_reply_comes_through_every_kind_of_mailbox() {
    let mailboxes: [fn() -> Mailbox; 6] = [
        Mailbox::unbounded,
        || Mailbox::bounded(9),
        || Mailbox::bounded(9).drop_oldest(),
        || Mailbox::bounded(9).fail(),
        || Mailbox::lanes(2),
        || Mailbox::lanes(2).lane(1, Lane::bounded(2).fail()),
    ];
    everywhere(move || {
        for mailbox in mailboxes {
            for lane in [None, Some(0)] {
                let log = Log::new();
                let becomes = dyn_actor((), |me: &mut DynContext| {
                    me.become_(cases! { |me: &mut DynContext|
                        (1) => me.reply("at once"),
                        (2) => {
                            let mut reply = me.take_reply();
                            reply.send("later");
                        },
                    });
                });
                let waits = fiber((), |me: &mut DynThread| {
                    me.receive_loop(cases! { |me: &mut DynThread|
                        (2) => { me.reply("body"); Break(()) },
                        (1) => { me.reply("body"); Continue(()) },
                    });
                });
                let others: [DynAddr; 2] = [
                    becomes.mailbox(mailbox()).spawn().into(),
                    waits.mailbox(mailbox()).spawn().into(),
                ];
                let said = log.clone();
                let it = spawn_dyn(move |me: &mut DynContext| {
                    for other in &others {
                        for n in [1, 2] {
                            match lane {
                                None => me.send(other, n).unwrap(),
                                Some(lane) => me.send_in(lane, other, n).unwrap(),
                            }
                        }
                    }
                    let (said, others) = (said.clone(), others.clone());
                    me.become_(cases! { |me: &mut DynContext| (what: String) => {
                        said.push(what);
                        if said.len() == 2 * others.len() {
                            me.stop();
                        }
                    }});
                });
                it.ended().wait().unwrap();
                let mut all = log.take();
                all.sort();
                assert_eq!(all, ["at once", "body", "body", "later"]);
            }
        }
    });
}

#[test]
fn without_a_sender_a_reply_goes_nowhere() {
    everywhere(|| {
        let it = spawn_dyn_with(Vec::new(), |me| {
            me.become_(cases! { |me: &mut DynContext<Vec<bool>>|
                (n: i32) => {
                    let known = me.sender().is_some();
                    me.state_mut().push(known);
                    me.reply(n);
                    me.reply(n);
                },
            });
        });
        it.send(1).unwrap();
        assert_eq!(it.ask(2).wait().unwrap().get(0), Some(&2));
        assert_eq!(call(&it, |known| known.clone()).wait(), Ok(vec![false, false]));
    });
}

#[test]
fn an_actor_can_send_to_itself_and_reply() {
    everywhere(|| {
        let log = Log::new();
        let said = log.clone();
        let it = spawn_dyn(move |me: &mut DynContext| {
            let own = me.address();
            me.send(&own, 3).unwrap();
            me.become_(cases! { |me: &mut DynContext|
                (n: i32) => {
                    said.push((n, me.sender() == Some(me.address())));
                    match n {
                        0 => me.stop(),
                        1 => me.take_reply().send(n - 1),
                        _ => me.reply(n - 1),
                    }
                },
            });
        });
        drop(it.ended().wait());
        assert_eq!(log.take(), [(3, true), (2, true), (1, true), (0, true)]);
    });
}

#[test]
fn d7_what_is_forwarded_keeps_its_sender_its_tag_and_its_asker() {
    everywhere(|| {
        let log = Log::new();
        let said = log.clone();
        let back = spawn_dyn(move |me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext|
                message => {
                    said.push((me.sender(), me.tag(), message.to_string()));
                    me.reply((atom!("done"), message));
                },
            });
        });
        let front = spawn_dyn(move |me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext|
                message => me.forward(&back, message).unwrap(),
            });
        });
        assert_eq!(front.ask((1, 2)).wait().unwrap().to_string(), "('done', (1, 2))");
        let asker = front.clone();
        let it = spawn_dyn(move |me: &mut DynContext| {
            me.send_tagged(&asker, atom!("work"), "text").unwrap();
            me.become_(cases! { |me: &mut DynContext| (atom!("done"), _: AnyTuple) => me.stop() });
        });
        it.ended().wait().unwrap();
        let expected = [
            (None, None, "(1, 2)".to_owned()),
            (Some(it), Some(atom!("work")), "(\"text\",)".to_owned()),
        ];
        assert_eq!(log.take(), expected);
    });
}

#[test]
fn a_reply_can_be_kept() {
    everywhere(|| {
        let it = spawn_dyn_with(Vec::new(), |me| {
            me.become_(cases! { |me: &mut DynContext<Vec<coact::dynamic::DynReply>>|
                (atom!("wait")) => {
                    let reply = me.take_reply();
                    me.state_mut().push(reply);
                },
                (atom!("go"), n: i32) => {
                    for mut reply in me.state_mut().drain(..) {
                        reply.send(n);
                    }
                },
                (atom!("drop")) => me.state_mut().clear(),
            });
        });
        let asks = [it.ask(atom!("wait")), it.ask(atom!("wait"))];
        it.send((atom!("go"), 7)).unwrap();
        assert!(asks.into_iter().all(|ask| ask.wait().unwrap().get(0) == Some(&7)));
        let ask = it.ask(atom!("wait"));
        it.send(atom!("drop")).unwrap();
        assert_eq!(ask.wait().map(drop), Err(AskError::NoReply));
    });
}

#[test]
fn an_ask_that_is_taken_without_a_reply_fails_at_once() {
    everywhere(|| {
        let it = spawn_dyn(|me: &mut DynContext| {
            me.become_(cases! { |_me: &mut DynContext| (_: i32) => {} });
        });
        assert_eq!(it.ask(1).wait().map(drop), Err(AskError::NoReply));
        let skipped = it.ask("text");
        it.stop().unwrap();
        assert_eq!(skipped.wait().map(drop), Err(AskError::Stopped(ExitReason::Shutdown)));
    });
}

//! Requests: answers that only their cases see.

use std::time::Duration;

use coact::actor::AskError;
use coact::dynamic::{
    DynAddr, DynContext, DynTask, DynThread, atom, cases, spawn_async, spawn_dyn, spawn_dyn_with,
    spawn_fiber,
};
use coact::prelude::*;
use coact::sim;
use coact_tests::{Log, everywhere, panic_of};

const LONG: Duration = Duration::from_secs(3600);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Section 5.2: replies to `get` with a string; and to `n` with `n` after as many milliseconds.
fn responder() -> DynAddr {
    spawn_dyn(|me: &mut DynContext| {
        me.become_(cases! { |me: &mut DynContext|
            (atom!("get")) => me.reply("hello"),
            (atom!("late"), n: u64) => {
                let mut reply = me.take_reply();
                me.become_keeping(cases! { |me: &mut DynContext|
                    after ms(n) => {
                        reply.send(n);
                        me.unbecome();
                    },
                });
            },
            (atom!("silent")) => {},
            (atom!("end")) => me.stop(),
        });
    })
}

#[test]
fn d6_then_takes_the_answer_and_messages_go_on() {
    sim::check(|| {
        let (log, responder) = (Log::new(), responder());
        // A time that runs keeps no actor alive.
        let _kept = responder.clone();
        let said = log.clone();
        let it = spawn_dyn(move |me: &mut DynContext| {
            let log = said.clone();
            me.request(&responder, (atom!("late"), 20_u64)).then(
                me,
                cases! { |me: &mut DynContext|
                    (n: u64) => {
                        log.push(format!("answer {n}"));
                        me.stop();
                    },
                    after LONG => unreachable!(),
                },
            );
            let log = said.clone();
            me.request(&responder, atom!("get")).then(
                me,
                cases! { |_me: &mut DynContext|
                    (text: String) => log.push(text),
                },
            );
            me.become_(cases! { |_me: &mut DynContext|
                (n: i32) => said.push(format!("message {n}")),
                // No answer comes here.
                (_: u64) => unreachable!(),
                (_: String) => unreachable!(),
            });
        });
        it.send(1).unwrap();
        it.ended().wait().unwrap();
        // Answers are not ordered among each other.
        let mut log = log.take();
        log.retain(|said| said != "hello");
        assert_eq!(log, ["message 1", "answer 20"]);
    });
}

#[test]
fn d6_await_has_messages_and_behaviours_wait() {
    sim::check(|| {
        let (log, responder) = (Log::new(), responder());
        let _kept = responder.clone();
        let said = log.clone();
        let it = spawn_dyn_with(log.clone(), move |me| {
            let log = said.clone();
            me.become_(cases! { |me: &mut DynContext<Log<String>>|
                (atom!("ask")) => {
                    let (first, second) = (log.clone(), log.clone());
                    // The last one is handled first.
                    me.request(&responder, (atom!("late"), 10_u64)).await_(me, cases! { |_me: &mut DynContext<Log<String>>|
                        (n: u64) => first.push(format!("outer {n}")),
                        after LONG => unreachable!(),
                    });
                    me.request(&responder, (atom!("late"), 20_u64)).await_(me, cases! { |_me: &mut DynContext<Log<String>>|
                        (n: u64) => second.push(format!("inner {n}")),
                        after LONG => unreachable!(),
                    });
                },
                (n: i32) => log.push(format!("message {n}")),
                (atom!("end")) => me.stop(),
            });
        });
        it.send(atom!("ask")).unwrap();
        it.send(1).unwrap();
        when(&it, |log| log.push("behaviour".into()));
        it.send(2).unwrap();
        it.send(atom!("end")).unwrap();
        it.ended().wait().unwrap();
        assert_eq!(log.take(), ["inner 20", "outer 10", "message 1", "behaviour", "message 2"]);
    });
}

/// An actor that asks another one when it is told to, and says whether a circle was found.
fn asker() -> DynAddr {
    spawn_dyn(|me: &mut DynContext| {
        me.become_(cases! { |me: &mut DynContext|
            (atom!("ask"), other: DynAddr) => {
                let mut reply = me.take_reply();
                me.request(&other, atom!("hello")).await_(me, cases! { |_me: &mut DynContext|
                    (error: AskError) => reply.send(matches!(error, AskError::Cycle(_))),
                    _ => reply.send(false),
                    after LONG => reply.send("late"),
                });
            },
            (atom!("hello")) => me.reply(1),
        });
    })
}

#[test]
fn d6_a_circle_of_awaited_answers_is_found() {
    everywhere(|| {
        let (a, b) = (asker(), asker());
        let (one, other) = (a.ask((atom!("ask"), b.clone())), b.ask((atom!("ask"), a.clone())));
        let found = [one, other].map(|found| found.wait().unwrap());
        // One of the two is told, unless the one has answered before the other has asked.
        assert!(found.iter().all(|found| *found == (true,) || *found == (false,)), "{found:?}");
        let itself = a.ask((atom!("ask"), a.clone())).wait().unwrap();
        assert_eq!(itself, (true,));
    });
}

/// A fiber is held by what it awaits in the middle of a case, and an actor that becomes awaits its
/// answer.
#[test]
fn d6_a_circle_through_a_message_that_is_being_handled_is_found() {
    everywhere(|| {
        let asker = asker();
        let it = spawn_fiber(|me: &mut DynThread| {
            let other = me.receive(cases! { |_me: &mut DynThread| (other: DynAddr) => other });
            me.receive(cases! { ref |me: &mut DynThread|
                (atom!("hello")) => {
                    // Nested once more, the message is the outer one's.
                    me.receive(cases! { ref |me: &mut DynThread|
                        (atom!("go")) => {
                            let answer = me.request(&other, atom!("hello")).await_(me, cases! { |_me: &mut DynThread|
                                (error: AskError) => matches!(error, AskError::Cycle(_)),
                                _ => false,
                                after LONG => false,
                            });
                            assert!(answer, "the other one waits for it");
                        },
                    });
                    me.reply(2);
                },
            });
        });
        it.send(asker.clone()).unwrap();
        let found = asker.ask((atom!("ask"), it.clone()));
        it.send(atom!("go")).unwrap();
        // It has failed the later one of the two.
        assert_eq!(found.wait().unwrap(), (false,));
        assert_eq!(it.ended().wait(), Ok(ExitReason::Normal));
    });
}

/// An ask that was skipped waits for the actor as one does that is in its queue.
#[test]
fn d6_a_circle_through_a_skipped_request_is_found() {
    everywhere(|| {
        let kinds: [fn(DynAddr) -> DynAddr; 3] = [
            |asker| {
                spawn_dyn(move |me: &mut DynContext| {
                    let asker = asker.clone();
                    me.become_(cases! { |me: &mut DynContext|
                        (atom!("go")) => {
                            me.become_(cases! { |me: &mut DynContext| (atom!("hello")) => me.reply(2) });
                            me.request(&asker, atom!("hello")).await_(me, cases! { |_me: &mut DynContext|
                                (error: AskError) => assert!(matches!(error, AskError::Cycle(_))),
                                _ => {},
                                after LONG => unreachable!(),
                            });
                        },
                    });
                })
            },
            |asker| {
                spawn_fiber(move |me: &mut DynThread| {
                    me.receive(cases! { |_me: &mut DynThread| (atom!("go")) => () });
                    me.request(&asker, atom!("hello")).await_(
                        me,
                        cases! { |_me: &mut DynThread|
                            (error: AskError) => assert!(matches!(error, AskError::Cycle(_))),
                                    _ => {},
                            after LONG => unreachable!(),
                        },
                    );
                    me.receive(cases! { |me: &mut DynThread| (atom!("hello")) => me.reply(2) });
                })
            },
            |asker| {
                spawn_async(move |mut me: DynTask| async move {
                    me.receive(cases! { |_me: &mut DynTask| (atom!("go")) => () }).await;
                    me.request(&asker, atom!("hello"))
                        .await_(
                            &mut me,
                            cases! { |_me: &mut DynTask|
                                (error: AskError) => assert!(matches!(error, AskError::Cycle(_))),
                                    _ => {},
                                after LONG => unreachable!(),
                            },
                        )
                        .await;
                    me.receive(cases! { |me: &mut DynTask| (atom!("hello")) => me.reply(2) }).await;
                })
            },
        ];
        for kind in kinds {
            let asker = asker();
            let it = kind(asker.clone());
            let found = asker.ask((atom!("ask"), it.clone()));
            it.send(atom!("go")).unwrap();
            let found = found.wait().unwrap();
            // The one that asks last is told, goes on, and answers the other one.
            assert!(found == (false,) || found == (true,), "{found:?}");
        }
    });
}

#[test]
fn d6_what_is_awaited_is_sent_at_once() {
    everywhere(|| {
        let log = Log::new();
        let said = log.clone();
        let other = spawn_dyn(move |me: &mut DynContext| {
            let said = said.clone();
            me.become_(cases! { |me: &mut DynContext|
                (n: i32) => { said.push(n.to_string()); me.reply(n); },
                (atom!("end")) => me.stop(),
            });
        });
        let to = other.clone();
        spawn_dyn(move |me: &mut DynContext| {
            me.request(&to, 1)
                .await_(me, cases! { |_me: &mut DynContext| _ => {}, after LONG => {} });
            me.send(&to, 2).unwrap();
            me.send(&to, atom!("end")).unwrap();
        });
        other.ended().wait().unwrap();
        assert_eq!(log.take(), ["1", "2"]);
    });
}

#[test]
fn d6_what_does_not_answer_in_time_is_given_up() {
    sim::check(|| {
        let (log, responder) = (Log::new(), responder());
        // A time that runs keeps no actor alive.
        let _kept = responder.clone();
        let said = log.clone();
        let it = spawn_dyn(move |me: &mut DynContext| {
            let late = said.clone();
            me.request(&responder, (atom!("late"), 50_u64)).then(
                me,
                cases! { |_me: &mut DynContext|
                    (_: u64) => unreachable!("too late"),
                    after ms(10) => late.push(format!("late at {:?}", sim::elapsed())),
                },
            );
            let late = said.clone();
            me.request(&responder, (atom!("late"), 50_u64)).await_(
                me,
                cases! { |_me: &mut DynContext|
                    (_: u64) => unreachable!("too late"),
                    after ms(20) => late.push(format!("awaited until {:?}", sim::elapsed())),
                },
            );
            me.become_(cases! { |me: &mut DynContext|
                (_: u64) => unreachable!("not a message"),
                after ms(300) => me.stop(),
            });
        });
        it.ended().wait().unwrap();
        // The first answer had to wait for the awaited one.
        assert_eq!(log.take(), ["awaited until 20ms", "late at 20ms"]);
    });
}

#[test]
fn d6_an_actor_that_has_ended_is_answered_for_at_once() {
    everywhere(|| {
        let (log, responder) = (Log::new(), responder());
        responder.send(atom!("end")).unwrap();
        responder.ended().wait().unwrap();
        let (said, silent) = (log.clone(), self::responder());
        let it = spawn_dyn(move |me: &mut DynContext| {
            let dead = said.clone();
            me.request(&responder, atom!("get")).await_(
                me,
                cases! { |_me: &mut DynContext|
                    (error: AskError) => dead.push(error.to_string()),
                    after LONG => unreachable!(),
                },
            );
            me.request(&silent, atom!("silent")).then(
                me,
                cases! { |me: &mut DynContext|
                    (error: AskError) if matches!(error, AskError::NoReply) => {
                        said.push("no reply".into());
                        me.stop();
                    },
                },
            );
        });
        it.ended().wait().unwrap();
        assert_eq!(log.take().len(), 2);
    });
}

#[test]
fn an_answer_without_a_case_is_an_error() {
    everywhere(|| {
        let responder = responder();
        let it = spawn_dyn(move |me: &mut DynContext| {
            me.request(&responder, atom!("get")).then(
                me,
                cases! { |_me: &mut DynContext|
                    (_: i64) => {},
                },
            );
        });
        let ExitReason::Failed(why) = it.ended().wait().unwrap() else { panic!("it fails") };
        assert!(why.contains("`\"hello\"` is `String`, and `i64` is wanted"), "{why}");
    });
}

#[test]
fn d4_an_actor_without_cases_lives_until_its_answers_are_there() {
    everywhere(|| {
        let (log, responder) = (Log::new(), responder());
        // A time that runs keeps no actor alive.
        let _kept = responder.clone();
        let said = log.clone();
        let it = spawn_dyn(move |me: &mut DynContext| {
            me.request(&responder, atom!("get")).then(me, cases! { |me: &mut DynContext|
                (text: String) => {
                    let said = said.clone();
                    me.request(&responder, atom!("get")).then(me, cases! { |_me: &mut DynContext|
                        (again: String) => said.push(format!("{text}, {again}")),
                    });
                },
            });
        });
        assert_eq!(it.ended().wait(), Ok(ExitReason::Normal));
        assert_eq!(log.take(), ["hello, hello"]);
    });
}

#[test]
fn an_endless_await_is_refused() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    runtime.run(|| {
        let responder = responder();
        let it = spawn_dyn(move |me: &mut DynContext| {
            let why = panic_of(|| {
                me.request(&responder, atom!("get"))
                    .await_(me, cases! { |_me: &mut DynContext| _ => {} });
            });
            assert!(why.contains("needs an `after`"), "{why}");
        });
        assert_eq!(it.ended().wait(), Ok(ExitReason::Normal));
    });
}

#[test]
fn d6_no_answer_reaches_the_next_incarnation() {
    sim::check(|| {
        let (log, responder) = (Log::new(), responder());
        let said = log.clone();
        let it = coact::dynamic::dyn_actor(0, move |me: &mut DynContext<u32>| {
            let (said, again) = (said.clone(), said.clone());
            if *me.state() == 0 {
                me.request(&responder, (atom!("late"), 20_u64)).await_(
                    me,
                    cases! { |_me: &mut DynContext<u32>|
                        _ => said.push("answer".to_owned()),
                        after LONG => unreachable!(),
                    },
                );
            }
            me.become_(cases! { |_me: &mut DynContext<u32>|
                (n: i32) => again.push(format!("message {n}")),
            });
        })
        .restartable(|| 1)
        .spawn();
        // It waits, then it is taken by the next state.
        it.send(1).unwrap();
        coact::time::sleep(ms(5)).wait().unwrap();
        it.restart().unwrap();
        coact::time::sleep(ms(50)).wait().unwrap();
        drop(it);
        assert_eq!(log.take(), ["message 1"]);
    });
}

#[test]
fn d5_an_answer_does_not_restart_the_time() {
    sim::check(|| {
        let (log, responder) = (Log::new(), responder());
        let _kept = responder.clone();
        let said = log.clone();
        let it = spawn_dyn(move |me: &mut DynContext| {
            me.request(&responder, (atom!("late"), 80_u64))
                .then(me, cases! { |_me: &mut DynContext| (_: u64) => {} });
            me.become_(cases! { |me: &mut DynContext|
                (_: String) => {},
                after ms(100) => {
                    said.push(sim::elapsed());
                    me.stop();
                },
            });
        });
        it.ended().wait().unwrap();
        assert_eq!(log.take(), [ms(100)]);
    });
}

#[test]
fn d7_a_request_to_itself_does_not_keep_it_alive() {
    everywhere(|| {
        let ended = {
            let it = spawn_dyn(|me: &mut DynContext| {
                let own = me.address();
                me.become_(cases! { |_me: &mut DynContext| (atom!("never")) => {} });
                me.request(&own, 1).then(me, cases! { |_me: &mut DynContext| _ => unreachable!() });
            });
            it.ended()
        };
        assert_eq!(ended.wait(), Ok(ExitReason::Normal));
        // And one that takes it has its answer.
        let log = Log::new();
        let said = log.clone();
        let it = spawn_dyn(move |me: &mut DynContext| {
            let own = me.address();
            me.become_(cases! { |me: &mut DynContext| (n: i32) => me.reply((n, "answer")) });
            me.request(&own, 1).then(
                me,
                cases! { |me: &mut DynContext|
                    (1, _: String) => {
                        said.push(());
                        me.stop();
                    },
                },
            );
        });
        assert_eq!(it.ended().wait(), Ok(ExitReason::Normal));
        assert_eq!(log.len(), 1);
    });
}

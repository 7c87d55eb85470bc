//! Answers: where they go, which come too late, and who waits for them.

use std::time::Duration;

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::sim::{self, Sim};
use coact::time::sleep;
use coact_tests::{Faults, Log, PATIENCE, check, check_with_faults, finally, panic_of, runtime};

use crate::world::{Bomb, Diary, Do, Note};

const LONG: Duration = Duration::from_secs(600);

/// Answers after so much time.
struct Oracle;

impl Actor for Oracle {}

#[derive(Clone, Copy)]
struct Wait(Duration);

impl Message for Wait {
    type Reply = Duration;
}

impl Receive<Wait> for Oracle {
    fn receive(&mut self, wait: Wait, reply: Reply<Duration>, context: &mut Context<Self>) {
        context.detach(reply, async move {
            sleep(wait.0).await.unwrap();
            wait.0
        });
    }
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Sends the diary something to do.
fn tell(diary: &Addr<Diary>, work: impl FnOnce(&mut Diary, &mut Context<Diary>) + Send + 'static) {
    diary.send(Do(work)).unwrap();
}

#[test]
fn an_answer_in_time_comes_and_a_late_one_does_not() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        let oracle = spawn(Oracle);
        tell(&diary, move |_, context| {
            for (question, limit) in [(30, 20), (10, 20)] {
                context.ask_timeout(&oracle, Wait(ms(question)), ms(limit), |diary, answer, _| {
                    diary.log.push(format!("{answer:?}"));
                });
            }
        });
        sleep(ms(100)).wait().unwrap();
        assert_eq!(log.take(), ["started", "Ok(10ms)", "Err(Timeout(20ms))"]);
        drop(diary);
    });
}

#[test]
fn the_time_of_an_ask_counts_from_when_it_was_limited() {
    sim::check(|| {
        let ask = spawn(Oracle).ask(Wait(ms(30))).timeout(ms(20));
        sleep(ms(15)).wait().unwrap();
        assert_eq!(ask.wait(), Err(AskError::Timeout(ms(20))));
        assert_eq!(sim::elapsed(), ms(20));
    });
}

#[test]
fn an_answer_to_an_actor_that_has_ended_is_no_fault() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let oracle = spawn(Oracle);
        tell(&diary, move |_, context| {
            context.ask(&oracle, Wait(ms(1)), |diary, _, _| diary.log.push("never".into()));
            context.spawn(sleep(ms(1)), |diary, _, _| diary.log.push("never".into()));
            context.stop();
        });
        finally(move || {
            assert_eq!(log.take(), ["started", "stopped: it was done", "dropped"]);
            drop(diary);
        });
    });
}

#[test]
fn m8_asking_the_dead_fails_at_once() {
    sim::check(|| {
        let (dead, _) = Diary::spawn();
        dead.kill().unwrap();
        dead.ended().wait().unwrap();
        let (diary, log) = Diary::spawn();
        tell(&diary, move |_, context| {
            context.ask_timeout(&dead, Note("hello?"), LONG, |diary, answer, _| {
                diary.log.push(format!("{answer:?}"));
            });
        });
        assert_eq!(call(&diary, |_| ()).wait(), Ok(()));
        sleep(ms(1)).wait().unwrap();
        assert_eq!(log.take(), ["started", "Err(Stopped(Killed))"]);
        drop(diary);
    });
}

#[test]
fn m3_those_who_wait_in_a_mailbox_are_told_of_its_end() {
    check_with_faults(|_| {
        let (diary, _) = Diary::spawn();
        diary.suspend().unwrap();
        let asked = diary.ask(Note("unread"));
        diary.kill().unwrap();
        assert_eq!(asked.wait(), Err(AskError::Stopped(ExitReason::Killed)));
    });
}

#[test]
fn an_awaited_answer_comes_before_any_message() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        let oracle = spawn(Oracle);
        tell(&diary, move |_, context| {
            let inner = oracle.clone();
            context.ask_await(&oracle, Wait(ms(20)), LONG, move |diary, answer, context| {
                diary.log.push(format!("first {answer:?}"));
                // Stacked: this one, too, comes before any message.
                context.ask_await(&inner, Wait(ms(5)), LONG, |diary, answer, _| {
                    diary.log.push(format!("third {answer:?}"));
                });
            });
            context.ask_await(&oracle, Wait(ms(10)), LONG, |diary, answer, _| {
                diary.log.push(format!("second {answer:?}"));
            });
        });
        diary.send(Note("a message")).unwrap();
        when(&diary, |diary| diary.log.push("a behaviour".into()));
        assert_eq!(diary.ask(Note("the last")).wait(), Ok(7));
        let expected = [
            "started",
            "first Ok(20ms)",
            "second Ok(10ms)",
            "third Ok(5ms)",
            "a message",
            "a behaviour",
            "the last",
        ];
        assert_eq!(log.take(), expected);
    });
}

#[test]
fn m8_of_two_that_await_each_other_one_fails_at_once_and_both_go_on() {
    sim::check(|| {
        let [(one, log), (other, far)] = [Diary::spawn(), Diary::spawn()];
        for (asker, asked) in [(&one, &other), (&other, &one)] {
            let asked = asked.clone();
            tell(asker, move |_, context| {
                context.ask_await(&asked, Note("asked"), LONG, |diary, answer, _| {
                    diary.log.push(match answer {
                        Err(AskError::Cycle(_)) => "a circle".into(),
                        answer => format!("{}", answer.is_ok()),
                    });
                });
            });
        }
        assert!(one.ask(Note("on")).wait().is_ok() && other.ask(Note("on")).wait().is_ok());
        // The timeout was not waited for.
        assert!(sim::elapsed() < LONG);
        for log in [log, far] {
            let log = log.take();
            let answers = log.iter().filter(|entry| ["true", "a circle"].contains(&&***entry));
            assert_eq!(answers.count(), 1, "{log:?}");
        }
    });
}

#[test]
fn an_awaited_answer_that_does_not_come_is_given_up() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        let oracle = spawn(Oracle);
        tell(&diary, move |_, context| {
            context.ask_await(&oracle, Wait(ms(30)), ms(20), |diary, answer, _| {
                diary.log.push(format!("{answer:?}"));
            });
        });
        assert_eq!(diary.ask(Note("on")).wait(), Ok(3));
        assert_eq!(sim::elapsed(), ms(20));
        assert_eq!(log.take(), ["started", "Err(Timeout(20ms))", "on"]);
    });
}

#[test]
fn asks_in_a_handler_block_no_worker() {
    // One worker, and a chain of actors each of which awaits the next one.
    struct Link(Option<Addr<Link>>);
    impl Actor for Link {}
    struct Depth;
    impl Message for Depth {
        type Reply = usize;
    }
    impl Receive<Depth> for Link {
        fn receive(&mut self, _: Depth, reply: Reply<usize>, context: &mut Context<Self>) {
            match self.0.clone() {
                None => reply.send(0),
                Some(next) => {
                    context.ask_await(&next, Depth, LONG, |_, depth, _| {
                        reply.send(depth.unwrap() + 1);
                    });
                }
            }
        }
    }
    check(|| {
        let first = (0..50).fold(spawn(Link(None)), |next, _| spawn(Link(Some(next))));
        assert_eq!(first.ask(Depth).wait(), Ok(50));
    });
}

/// The limit needs no worker: it comes while all of them are busy.
#[test]
fn a_limit_comes_while_the_workers_are_busy() {
    let [busy, idle] = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let oracle = idle.run(|| spawn(Oracle));
    let (release, held) = std::sync::mpsc::channel::<()>();
    let _entered = busy.enter();
    when((), move |()| _ = held.recv_timeout(PATIENCE));
    let answer = oracle.ask(Wait(LONG)).timeout(ms(20)).wait();
    assert_eq!(answer, Err(AskError::Timeout(ms(20))));
    // It was not the end of what keeps the worker.
    release.send(()).expect("the worker is still busy");
    oracle.stop().unwrap();
}

/// A limit does not end with the runtime whose timers serve it.
#[test]
fn a_limit_goes_on_when_its_runtime_has_ended() {
    let [short, long] = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let oracle = long.run(|| spawn(Oracle));
    let entered = short.enter();
    let ask = oracle.ask(Wait(ms(60))).timeout(LONG);
    drop(entered);
    drop(short);
    let _entered = long.enter();
    assert_eq!(ask.wait(), Ok(ms(60)));
}

#[test]
fn waiting_in_a_handler_is_refused() {
    check(|| {
        let (diary, _) = Diary::spawn();
        let (oracle, messages) = (spawn(Oracle), Log::new());
        let seen = messages.clone();
        tell(&diary, move |_, _| {
            let plain = oracle.ask(Wait(ms(50)));
            let limited = oracle.ask(Wait(ms(50))).timeout(LONG);
            seen.push(panic_of(|| plain.wait()));
            seen.push(panic_of(|| limited.wait()));
        });
        finally(move || {
            let messages = messages.take();
            assert_eq!(messages.len(), 2);
            for message in messages {
                assert!(message.starts_with("`Ask::wait` would block a worker"), "{message}");
                assert!(message.contains("`Context::ask`"), "{message}");
            }
            drop(diary);
        });
    });
}

#[test]
fn a_closure_that_panics_with_the_answer_ends_its_actor() {
    check_with_faults(|_| {
        let (diary, _) = Diary::spawn();
        let oracle = spawn(Oracle);
        tell(&diary, move |_, context| {
            context.ask_await(&oracle, Wait(ms(1)), LONG, |_, _, _| panic!("bad news"));
        });
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Panicked("bad news".into())));
    });
}

/// Asks again with each answer. Only the answers on the way keep it alive.
struct Alone {
    of: Addr<Diary>,
    left: usize,
    /// Whether it asks twice each time: only the first question gets the address of the answer.
    twice: bool,
    log: Log<String>,
}

impl Alone {
    fn ask(&mut self, context: &mut Context<Self>) {
        for _ in 0..=usize::from(self.twice) {
            if self.left > 0 {
                self.left -= 1;
                context.ask(&self.of, Note("asked"), |this, answer, context| {
                    answer.expect("the diary answers");
                    this.log.push("answer".into());
                    this.ask(context);
                });
            }
        }
    }
}

impl Actor for Alone {
    fn started(&mut self, context: &mut Context<Self>) {
        self.ask(context);
    }

    fn stopped(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        self.log.push(format!("stopped: {reason}"));
    }
}

#[test]
fn an_actor_that_only_answers_reach_ends_after_the_last() {
    let program = || {
        for twice in [false, true] {
            let (of, _) = Diary::spawn();
            let log = Log::new();
            drop(spawn(Alone { of, left: 7, twice, log: log.clone() }));
            finally(move || {
                let mut log = log.take();
                assert_eq!(log.pop().as_deref(), Some("stopped: it was done"));
                assert_eq!(log, ["answer"; 7]);
            });
        }
    };
    check(program);
}

/// A panic with an answer leaks no address, whether or not the next question has been asked.
#[test]
fn a_panic_with_an_answer_ends_its_actor_even_if_that_has_asked_again() {
    for asks_again in [false, true] {
        check_with_faults(move |_| {
            let (diary, log) = Diary::spawn();
            let (other, _) = Diary::spawn();
            tell(&diary, move |_, context| {
                let again = other.clone();
                context.ask(&other, Note("first"), move |_, answer, context| {
                    assert_eq!(answer, Ok(2));
                    if asks_again {
                        context.ask(&again, Note("second"), |_, _, _| panic!("it has ended"));
                    }
                    panic!("bad news");
                });
            });
            let why = ExitReason::Panicked("bad news".into());
            assert_eq!(diary.ended().wait(), Ok(why));
            drop(diary);
            finally(move || assert_eq!(log.take().last().map(String::as_str), Some("dropped")));
        });
    }
}

/// Answers to members of a group, and to an actor with a mailbox of its own, take other paths.
#[test]
fn answers_come_to_the_asker_in_order() {
    check(|| {
        let (server, _) = Diary::spawn();
        let (group, logs) = (Group::new(), [(); 3].map(|()| Log::new()));
        let diary = |log: &Log<String>| Diary { log: log.clone() };
        let askers = [
            spawn(diary(&logs[0])),
            actor(diary(&logs[1])).in_group(&group).spawn(),
            actor(diary(&logs[2])).mailbox(Mailbox::bounded(100)).spawn(),
        ];
        for asker in &askers {
            let server = server.clone();
            tell(asker, move |_, context| {
                for question in ["a", "b", "c"] {
                    context.ask(&server, Note("asked"), move |diary, answer, _| {
                        answer.expect("the server answers");
                        diary.log.push(question.into());
                    });
                }
            });
        }
        drop(askers);
        finally(move || {
            for log in logs {
                assert_eq!(
                    log.take(),
                    ["started", "a", "b", "c", "stopped: it was done", "dropped"]
                );
            }
        });
    });
}

/// Keeps its replies until a test takes them.
struct Keeper(Vec<Reply<usize>>);

impl Actor for Keeper {}

impl Receive<Note> for Keeper {
    fn receive(&mut self, _: Note, reply: Reply<usize>, _: &mut Context<Self>) {
        self.0.push(reply);
    }
}

/// A reply can be sent or dropped by a behaviour, by an inline one, and by a thread that is not a
/// worker.
#[test]
fn an_answer_comes_from_any_thread() {
    for from_behaviour in [true, false] {
        let (keeper, (asker, log)) = (spawn(Keeper(Vec::new())), Diary::spawn());
        let of = keeper.clone();
        tell(&asker, move |_, context| {
            for question in 0..4 {
                context.ask(&of, Note("asked"), move |diary, answer, _| {
                    diary.log.push(format!("{question}: {answer:?}"));
                });
            }
        });
        assert_eq!(call(&asker, |_| ()).wait(), Ok(()));
        let mut replies = call(&keeper, |keeper| std::mem::take(&mut keeper.0)).wait().unwrap();
        assert_eq!(replies.len(), 4);
        let mut answer = move |inline: bool| {
            let (first, second) = (replies.remove(0), replies.remove(0));
            let work = move || {
                first.send(1);
                drop(second);
            };
            let other = Cown::new(());
            match (from_behaviour, inline) {
                (true, false) => when(&other, move |()| work()),
                (_, true) => _ = when_here(&other, move |()| work()),
                (false, false) => work(),
            }
        };
        answer(true);
        answer(false);
        let is_complete = |diary: &mut Diary| diary.log.len() == 5;
        while !call(&asker, is_complete).wait().unwrap() {
            std::thread::yield_now();
        }
        let mut log = log.take();
        assert_eq!(log.remove(0), "started");
        log.sort();
        assert_eq!(log, ["0: Ok(1)", "1: Err(NoReply)", "2: Ok(1)", "3: Err(NoReply)"]);
    }
}

/// An answer that comes after the end of the asker's runtime is dropped, and so is the closure.
#[test]
fn an_answer_to_a_runtime_that_has_ended_is_dropped() {
    let keeper = spawn(Keeper(Vec::new()));
    let dropped = std::sync::Arc::new(());
    let there = runtime(1, &Faults::new());
    let entered = there.enter();
    let (asker, _) = Diary::spawn();
    drop(entered);
    let (of, kept) = (keeper.clone(), dropped.clone());
    tell(&asker, move |_, context| {
        context.ask(&of, Note("asked"), move |_, _, _| panic!("{kept:?} is not called"));
    });
    assert_eq!(call(&asker, |_| ()).wait(), Ok(()));
    drop(asker);
    drop(there);
    let mut replies = call(&keeper, |keeper| std::mem::take(&mut keeper.0)).wait().unwrap();
    replies.remove(0).send(1);
    while std::sync::Arc::strong_count(&dropped) > 1 {
        std::thread::yield_now();
    }
}

#[test]
fn what_is_forwarded_is_answered_to_the_first_asker() {
    struct Desk(Recipient<Note>);
    impl Actor for Desk {}
    impl Receive<Note> for Desk {
        fn receive(&mut self, note: Note, reply: Reply<usize>, _: &mut Context<Self>) {
            if self.0.forward(note, reply).is_err() {
                self.0.id();
            }
        }
    }
    check_with_faults(|_| {
        let (diary, _) = Diary::spawn();
        let desk = spawn(Desk(diary.to_recipient()));
        assert_eq!(desk.ask(Note("one")).wait(), Ok(2));
        desk.send(Note("nobody waits")).unwrap();
        diary.forward(Bomb, diary_reply()).unwrap();
        diary.ended().wait().unwrap();
        let gone = desk.ask(Note("two")).wait();
        assert_eq!(gone, Err(AskError::Stopped(ExitReason::Panicked("boom".into()))));
    });
}

/// A reply that is waited for in vain.
fn diary_reply() -> Reply<()> {
    struct Keeper(Log<Reply<()>>);
    impl Actor for Keeper {}
    struct Give;
    impl Message for Give {
        type Reply = ();
    }
    impl Receive<Give> for Keeper {
        fn receive(&mut self, _: Give, reply: Reply<()>, _: &mut Context<Self>) {
            self.0.push(reply);
        }
    }
    let kept = Log::new();
    let keeper = spawn(Keeper(kept.clone()));
    drop(keeper.ask(Give));
    assert_eq!(call(&keeper, |_| ()).wait(), Ok(()));
    let mut replies = kept.take();
    assert!(!replies[0].is_wanted());
    replies.remove(0)
}

#[test]
fn an_address_sends_later_and_again() {
    Sim::new().check(|| {
        let (diary, log) = Diary::spawn();
        diary.send_later(ms(25), Note("later"));
        let never = diary.send_later(ms(30), Note("never"));
        let ticks = diary.send_every(ms(10), || Note("tick"));
        sleep(ms(28)).wait().unwrap();
        assert!(never.cancel());
        sleep(ms(7)).wait().unwrap();
        ticks.cancel();
        sleep(ms(100)).wait().unwrap();
        assert_eq!(log.take(), ["started", "tick", "tick", "later", "tick"]);
        // A timer does not keep its actor, and ends with it.
        diary.send_every(ms(10), || Note("tock"));
        diary.send_later(ms(25), Note("too late"));
        drop(diary);
    });
}

//! Sending, asking, answering.

use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::runtime::spawn_future;
use coact::time::sleep;
use coact_tests::{check, check_with_faults, finally};

use crate::world::{Diary, Do, Note};

/// Doubles numbers, at once or through another.
struct Doubler {
    helper: Option<Addr<Doubler>>,
    unanswered: Vec<Reply<u64>>,
}

impl Actor for Doubler {}

struct Double(u64);

impl Message for Double {
    type Reply = u64;
}

impl Receive<Double> for Doubler {
    fn receive(&mut self, message: Double, reply: Reply<u64>, _: &mut Context<Self>) {
        match &self.helper {
            Some(helper) => helper.forward(message, reply).unwrap(),
            None => reply.send(message.0 * 2),
        }
    }
}

/// Drops the question.
struct Shrug;

impl Message for Shrug {
    type Reply = u64;
}

impl Receive<Shrug> for Doubler {
    fn receive(&mut self, _: Shrug, _: Reply<u64>, _: &mut Context<Self>) {}
}

/// Keeps the question.
struct Never;

impl Message for Never {
    type Reply = u64;
}

impl Receive<Never> for Doubler {
    fn receive(&mut self, _: Never, reply: Reply<u64>, _: &mut Context<Self>) {
        self.unanswered.push(reply);
    }
}

/// Answers from another thread.
struct Slowly(u64);

impl Message for Slowly {
    type Reply = u64;
}

impl Receive<Slowly> for Doubler {
    fn receive(&mut self, message: Slowly, reply: Reply<u64>, context: &mut Context<Self>) {
        context.detach(reply, async move {
            sleep(Duration::from_millis(2)).await.unwrap();
            message.0 * 2
        });
    }
}

fn doubler() -> Addr<Doubler> {
    spawn(Doubler { helper: None, unanswered: Vec::new() })
}

#[test]
fn m3_an_ask_is_answered() {
    check(|| assert_eq!(doubler().ask(Double(21)).wait(), Ok(42)));
}

#[test]
fn an_answer_may_be_left_to_another_actor() {
    check(|| {
        let front = spawn(Doubler { helper: Some(doubler()), unanswered: Vec::new() });
        assert_eq!(front.ask(Double(21)).wait(), Ok(42));
    });
}

#[test]
fn an_answer_may_come_later() {
    check(|| {
        let doubler = doubler();
        let slow = doubler.ask(Slowly(1));
        assert_eq!(doubler.ask(Double(2)).wait(), Ok(4));
        assert_eq!(slow.wait(), Ok(2));
    });
}

#[test]
fn m8_a_question_that_is_dropped_fails() {
    check(|| assert_eq!(doubler().ask(Shrug).wait(), Err(AskError::NoReply)));
}

#[test]
fn an_ask_is_over_in_time() {
    check(|| {
        let doubler = doubler();
        let soon = Duration::from_micros(100);
        assert_eq!(doubler.ask(Never).timeout(soon).wait(), Err(AskError::Timeout(soon)));
        let long = Duration::from_secs(600);
        assert_eq!(doubler.ask(Slowly(1)).timeout(long).wait(), Ok(2));
        let awaited = spawn_future(async move {
            let timeout = doubler.ask(Never).timeout(soon).await;
            (timeout, doubler.ask(Slowly(1)).timeout(long).await)
        });
        assert_eq!(awaited.wait().unwrap(), (Err(AskError::Timeout(soon)), Ok(2)));
    });
}

#[test]
fn an_answer_is_brought_to_the_actor_that_asked() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let doubler = doubler();
        diary
            .send(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
                context.ask(&doubler, Slowly(4), |diary, answer, _| {
                    diary.log.push(format!("answer {answer:?}"));
                });
                context.ask(&doubler, Shrug, |diary, answer, _| {
                    diary.log.push(format!("answer {answer:?}"));
                });
            }))
            .unwrap();
        diary.send(Note("meanwhile")).unwrap();
        drop(diary);
        finally(move || {
            let log = log.take();
            let at = |entry: &str| log.iter().position(|e| e == entry).expect(entry);
            assert!(at("meanwhile") < at("answer Ok(8)"), "{log:?}");
            assert!(at("answer Err(NoReply)") < at("stopped: it was done"), "{log:?}");
        });
    });
}

#[test]
fn an_actor_that_asks_one_that_has_ended_is_told() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let (ended, _) = Diary::spawn();
        ended.kill().unwrap();
        ended.ended().wait().unwrap();
        diary
            .send(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
                context.ask(&ended, Note("late"), |diary, answer, _| {
                    diary.log.push(format!("answer {answer:?}"));
                });
            }))
            .unwrap();
        drop(diary);
        finally(move || {
            let told =
                ["started", "answer Err(Stopped(Killed))", "stopped: it was done", "dropped"];
            assert_eq!(log.take(), told);
        });
    });
}

/// The address that was kept for the answer may be the last one when the answer comes.
#[test]
fn an_actor_that_panics_at_its_last_answer_calls_its_last_hook() {
    check_with_faults(|faults| {
        let (diary, log) = Diary::spawn();
        let doubler = doubler();
        diary
            .send(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
                context.ask(&doubler, Slowly(4), |_, _, _| panic!("boom"));
            }))
            .unwrap();
        drop(diary);
        let faults = faults.clone();
        finally(move || {
            assert_eq!(log.take(), ["started", "stopped: it panicked: boom", "dropped"]);
            assert_eq!(faults.len(), 1);
        });
    });
}

#[test]
fn an_answer_to_an_actor_that_has_ended_is_dropped() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let (resolver, promise) = Promise::<()>::channel();
        let server = spawn(Keeper(None));
        let asked = server.clone();
        diary
            .send(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
                context.ask(&asked, Keep, move |_, _, _| resolver.resolve(()));
                context.stop();
            }))
            .unwrap();
        diary.ended().wait().unwrap();
        when(&server, |keeper| keeper.0.take().expect("it was asked").send(1));
        assert_eq!(promise.wait(), Err(Broken::Dropped));
        assert_eq!(log.take().last().unwrap(), "dropped");
    });
}

/// Keeps the reply for later.
struct Keeper(Option<Reply<u32>>);

impl Actor for Keeper {}

struct Keep;

impl Message for Keep {
    type Reply = u32;
}

impl Receive<Keep> for Keeper {
    fn receive(&mut self, _: Keep, reply: Reply<u32>, _: &mut Context<Self>) {
        self.0 = Some(reply);
    }
}

#[test]
fn a_message_comes_later() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary
            .send(Do(|_: &mut Diary, context: &mut Context<Diary>| {
                context.send_later(Duration::from_millis(3), Note("later"));
                let cancelled = context.send_later(Duration::from_secs(60), Note("never"));
                cancelled.cancel();
            }))
            .unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "later"]);
            drop(diary);
        });
    });
}

#[test]
fn a_message_comes_again_and_again() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let tick = || {
            Do(|diary: &mut Diary, context: &mut Context<Diary>| {
                diary.log.push("tick".into());
                if diary.log.len() == 4 {
                    context.stop();
                }
            })
        };
        let begin = move |_: &mut Diary, context: &mut Context<Diary>| {
            context.send_every(Duration::from_millis(1), tick);
        };
        diary.send(Do(begin)).unwrap();
        finally(move || {
            let end = "stopped: it was done";
            assert_eq!(log.take(), ["started", "tick", "tick", "tick", end, "dropped"]);
            drop(diary);
        });
    });
}

#[test]
fn a_periodic_message_ends_with_its_actor() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary
            .send(Do(|_: &mut Diary, context: &mut Context<Diary>| {
                context.send_every(Duration::from_millis(1), || Note("tick"));
            }))
            .unwrap();
        drop(diary);
        // The program ends: the timer is no work that is left for ever.
        finally(move || assert_eq!(log.take().last().unwrap(), "dropped"));
    });
}

#[test]
fn a_recipient_is_any_actor_that_takes_the_message() {
    check(|| {
        let (diary, _) = Diary::spawn();
        let recipient: Recipient<Note> = diary.to_recipient();
        assert_eq!(recipient.ask(Note("one")).wait(), Ok(2));
        recipient.send(Note("two")).unwrap();
        assert_eq!(recipient.ask(Note("three")).wait(), Ok(4));
        assert_eq!(recipient.id(), diary.id());
        diary.kill().unwrap();
        diary.ended().wait().unwrap();
        assert!(recipient.send(Note("back")).is_err());
    });
}

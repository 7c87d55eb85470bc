//! What the runtime tells of its actors.

use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::pubsub::{
    ActorFailed, ActorRestarted, ActorStarted, ActorStopped, DeadLetter, LateReply, Subscription,
    events,
};
use coact::runtime::spawn_future;
use coact::sim::{self, Sim};
use coact::supervise::{Supervisor, permanent, temporary};
use coact::time::sleep;
use coact_tests::{Log, check, check_with_faults, fail, finally};

use crate::world::{Bomb, Diary, Do, Enough, Note};

/// Is answered when the gate is opened.
struct Later(Promise<()>);

impl Message for Later {
    type Reply = u8;
}

struct Slow;

impl Actor for Slow {}

impl Receive<Later> for Slow {
    fn receive(&mut self, later: Later, reply: Reply<u8>, context: &mut Context<Self>) {
        context.detach(reply, async move {
            later.0.await.unwrap();
            7
        });
    }
}

fn listen<E: Clone + Send + 'static>() -> (Log<E>, Subscription) {
    let log = Log::new();
    let entries = log.clone();
    (log, events().subscribe_fn(move |event: E| entries.push(event)))
}

#[test]
fn beginning_and_end_are_told() {
    check(|| {
        let (started, s) = listen::<ActorStarted>();
        let (stopped, t) = listen::<ActorStopped>();
        let (diary, _) = Diary::spawn();
        let id = diary.id();
        diary.send(Enough).unwrap();
        finally(move || {
            let started: Vec<_> = started.take().iter().map(|event| event.actor).collect();
            assert_eq!(started, [id]);
            let stopped = stopped.take();
            assert_eq!((stopped.len(), stopped[0].actor), (1, id));
            assert_eq!(stopped[0].reason, ExitReason::Normal);
            assert!(stopped[0].actor_type.ends_with("Diary"));
            drop((diary, s, t));
        });
    });
}

#[test]
fn a_message_that_comes_too_late_is_a_dead_letter() {
    check(|| {
        let (letters, subscription) = listen::<DeadLetter>();
        let (diary, _) = Diary::spawn();
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let block = move |_: &mut Diary, context: &mut Context<Diary>| {
            let _ = gate.recv();
            context.stop();
        };
        diary.send(Do(block)).unwrap();
        diary.send(Note("unread")).unwrap();
        let unread = diary.ask(Note("unread"));
        drop(release);
        assert_eq!(unread.wait(), Err(AskError::Stopped(ExitReason::Normal)));
        // This one comes back, so it is not dead.
        assert!(diary.send(Note("refused")).is_err());
        finally(move || {
            let letters = letters.take();
            assert_eq!(letters.len(), 2);
            assert!(letters.iter().all(|letter| letter.message.ends_with("Note")));
            assert_eq!(letters[0].actor, diary.id());
            assert_eq!(letters[0].reason, ExitReason::Normal);
            drop(subscription);
        });
    });
}

#[test]
fn panics_and_restarts_are_told_and_counted() {
    check_with_faults(|_| {
        let (failed, f) = listen::<ActorFailed>();
        let (restarted, r) = listen::<ActorRestarted>();
        let before = events().counts();
        let (diary, log) = Diary::new();
        let diary = actor(diary).restartable(move || Diary { log: log.clone() }).spawn();
        diary.restart().unwrap();
        diary.send(Bomb).unwrap();
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Panicked("boom".into())));
        let after = events().counts();
        assert_eq!(after.restarts - before.restarts, 1);
        assert_eq!(after.failures - before.failures, 1);
        finally(move || {
            assert_eq!(restarted.take()[0].reason, ExitReason::Shutdown);
            assert_eq!(failed.take()[0].reason, ExitReason::Panicked("boom".into()));
            drop((f, r));
        });
    });
}

#[test]
fn an_answer_that_comes_after_the_timeout_is_told_and_counted() {
    sim::check(|| {
        let before = events().counts().late_replies;
        let (late, subscription) = listen::<LateReply>();
        let slow = spawn(Slow);
        let (open, gate) = Promise::channel();
        let ask = slow.ask(Later(gate)).timeout(Duration::from_secs(1));
        assert_eq!(ask.wait(), Err(AskError::Timeout(Duration::from_secs(1))));
        assert_eq!(late.len(), 0);
        open.resolve(());
        sleep(Duration::from_secs(1)).wait().unwrap();
        let told: Vec<_> = late.take().iter().map(|late| late.reply).collect();
        assert_eq!(told, ["u8"]);
        assert_eq!(events().counts().late_replies - before, 1);

        // Awaited, it is the same.
        let (open, gate) = Promise::channel();
        let ask = slow.ask(Later(gate)).timeout(Duration::from_secs(1));
        let answer = spawn_future(ask).wait().unwrap();
        assert_eq!(answer, Err(AskError::Timeout(Duration::from_secs(1))));
        open.resolve(());
        sleep(Duration::from_secs(1)).wait().unwrap();
        assert_eq!(late.take().len(), 1);

        // An ask without a timeout that is dropped is no late one.
        let (open, gate) = Promise::channel();
        drop(slow.ask(Later(gate)));
        open.resolve(());
        sleep(Duration::from_secs(1)).wait().unwrap();
        assert_eq!(late.len(), 0);
        drop(subscription);
    });
}

#[test]
fn an_answer_is_either_in_time_or_late() {
    // The answer is given when the time is over: who is first, the schedule decides.
    Sim::new().check(|| {
        let (late, subscription) = listen::<LateReply>();
        let slow = spawn(Slow);
        let second = Duration::from_secs(1);
        let (open, gate) = Promise::channel();
        after(second, (), move |()| open.resolve(()));
        let ask = slow.ask(Later(gate)).timeout(second);
        let answer = ask.wait();
        sleep(second).wait().unwrap();
        match answer {
            Ok(7) => assert!(late.is_empty()),
            Err(AskError::Timeout(_)) => assert_eq!(late.len(), 1),
            other => panic!("{other:?}"),
        }
        drop(subscription);
    });
}

#[test]
fn an_actor_may_listen() {
    struct Undertaker(Log<DeadLetter>);
    impl Actor for Undertaker {}
    impl Handler<DeadLetter> for Undertaker {
        fn handle(&mut self, letter: DeadLetter, _: &mut Context<Self>) {
            self.0.push(letter);
        }
    }
    check(|| {
        let log = Log::new();
        let undertaker = spawn(Undertaker(log.clone()));
        let subscription = events().subscribe::<DeadLetter>(undertaker);
        let (diary, _) = Diary::spawn();
        diary.send(Enough).unwrap();
        let sent = (0..3).filter(|_| diary.send(Note("perhaps")).is_ok()).count();
        diary.ended().wait().unwrap();
        finally(move || {
            assert_eq!(log.len(), sent, "each was handed back, or is dead");
            drop(subscription);
        });
    });
}

#[test]
fn a_listener_that_panics_does_not_hurt_the_actor() {
    check_with_faults(|faults| {
        let subscription = events().subscribe_fn(|_: ActorStopped| fail("curious"));
        let (diary, log) = Diary::spawn();
        let ended = diary.ended();
        diary.stop().unwrap();
        assert_eq!(ended.wait(), Ok(ExitReason::Shutdown));
        assert_eq!(log.take().last().unwrap(), "dropped");
        assert_eq!(faults.take().len(), 1);
        drop(subscription);
    });
}

#[test]
fn supervised_children_are_told_of_like_others() {
    struct Child;
    impl Actor for Child {}
    check_with_faults(|_| {
        let (started, s) = listen::<ActorStarted>();
        let (failed, f) = listen::<ActorFailed>();
        let mut tree = Supervisor::one_for_one();
        let child = tree.child(permanent(|| Child));
        let stillborn = tree.child(temporary(|| -> Child { fail("stillborn") }));
        let supervisor = tree.spawn();
        let why = ExitReason::Panicked("stillborn".into());
        assert_eq!(stillborn.ended().wait(), Ok(why.clone()));
        finally(move || {
            let started = started.take();
            assert_eq!(started.iter().filter(|event| event.actor == child.id()).count(), 1);
            assert!(started.iter().all(|event| event.actor != stillborn.id()));
            let failed = failed.take();
            assert_eq!(failed.len(), 1);
            assert_eq!((failed[0].actor, &failed[0].reason), (stillborn.id(), &why));
            drop((supervisor, s, f));
        });
    });
}

/// Ends for a reason, and panics in `stopped`.
struct Grudging(ExitReason);

impl Actor for Grudging {
    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        fail("not now");
    }
}

impl Handler<Enough> for Grudging {
    fn handle(&mut self, _: Enough, context: &mut Context<Self>) {
        context.stop_with(self.0.clone());
    }
}

#[test]
fn a_panic_in_the_last_hook_is_published() {
    check_with_faults(|_| {
        let (failed, subscription) = listen::<ActorFailed>();
        let end = |reason: ExitReason| {
            let grudging = spawn(Grudging(reason));
            grudging.send(Enough).unwrap();
            (grudging.id(), grudging.ended().wait().unwrap())
        };
        let panicked = ExitReason::Panicked("not now".into());
        let (one, reason) = end(ExitReason::Normal);
        assert_eq!(reason, panicked, "a normal end is none");
        let failure = ExitReason::Failed("enough".into());
        let (other, reason) = end(failure.clone());
        assert_eq!(reason, failure, "the first reason stays");
        finally(move || {
            let failed: Vec<_> = failed.take().into_iter().map(|event| event.actor).collect();
            assert_eq!(failed, [one, other]);
            drop(subscription);
        });
    });
}

//! Lives, supervision and time: after the tests of ractor.

use std::time::Duration;

use coact::Context;
use coact::actor::ActorId;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::pubsub::Topic;
use coact::routing::{Pool, Router, Routing};
use coact::supervise::{Supervisor, permanent};
use coact::time::sleep;
use coact_tests::{Log, fail};

use crate::run::{Do, Doer, Question, Say, WayToEnd, check, everywhere, hold_for_ever, ms, tell};

/// A stop overtakes what waits.
#[test]
fn a_stop_comes_before_the_messages_that_wait() {
    check(|| {
        let (doer, log) = Doer::spawn();
        let own = doer.clone();
        doer.suspend().unwrap();
        tell(&doer, move |doer, _| {
            doer.log.push("first".into());
            own.stop().unwrap();
        });
        let asks: Vec<_> = (0..10).map(|_| doer.ask(Say("never"))).collect();
        doer.resume().unwrap();
        for ask in asks {
            assert_eq!(ask.wait(), Err(AskError::Stopped(ExitReason::Shutdown)));
        }
        assert_eq!(log.take(), ["started", "first", "stopped: it was told to stop"]);
        assert_eq!(doer.dead_letters(), 10);
    });
}

/// A kill ends work that would go on for ever, without the last hook.
#[test]
fn a_kill_ends_what_goes_on() {
    check(|| {
        let (doer, log) = Doer::spawn();
        let ask = hold_for_ever(&doer);
        doer.kill().unwrap();
        assert_eq!(doer.ended().wait(), Ok(ExitReason::Killed));
        assert_eq!(ask.wait(), Err(AskError::Stopped(ExitReason::Killed)));
        assert_eq!(log.take(), ["started"]);
    });
}

/// A drain lets work that awaits come to its end.
#[test]
fn a_drain_lets_work_end() {
    check(|| {
        let (doer, _) = Doer::spawn();
        let ask = doer.ask(Question(|reply, context: &mut Context<Doer>| {
            context.hold(reply, |_, _| {
                Box::pin(async {
                    let _ = sleep(ms(5)).await;
                    3
                })
            });
        }));
        doer.drain().unwrap();
        assert_eq!(ask.wait(), Ok(3));
        assert_eq!(doer.ended().wait(), Ok(ExitReason::Shutdown));
    });
}

/// What one that has ended is sent comes back, by whatever address.
#[test]
fn what_a_dead_actor_is_sent_comes_back() {
    check(|| {
        let (doer, _) = Doer::spawn();
        let (weak, recipient) = (doer.downgrade(), doer.to_recipient::<Say>());
        doer.stop().unwrap();
        doer.ended().wait().unwrap();
        for refused in [doer.send(Say("a")), weak.send(Say("a")), recipient.send(Say("a"))] {
            assert!(matches!(refused, Err(SendError::Stopped(Say("a")))));
        }
        assert!(doer.stop().is_err() && doer.restart().is_err() && doer.drain().is_err());
        assert_eq!(doer.exit_reason(), Some(ExitReason::Shutdown));
    });
}

/// Where a child may fail.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    Start,
    Message,
    LastHandleCheck,
}

struct Child(Where);

impl Actor for Child {
    fn started(&mut self, _: &mut Context<Self>) {
        if self.0 == Where::Start {
            fail("boom");
        }
    }

    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        if self.0 == Where::LastHandleCheck {
            fail("boom");
        }
    }
}

struct Go;

impl Message for Go {
    type Reply = ();
}

impl Handler<Go> for Child {
    fn handle(&mut self, _: Go, context: &mut Context<Self>) {
        if self.0 == Where::Message {
            fail("boom");
        }
        context.stop();
    }
}

/// A parent that traps hears of its child's failure wherever that happens.
#[test]
fn a_parent_hears_where_its_child_fails() {
    everywhere(
        || {
            [Where::Start, Where::Message, Where::LastHandleCheck].map(|place| {
                let (parent, log) = Doer::spawn();
                let ended = Log::new();
                let far = ended.clone();
                let begin = Do(move |_: &mut Doer, context: &mut Context<Doer>| {
                    context.trap_exits();
                    let child = context.spawn_linked(Child(place));
                    child.on_down(move |down| far.push(down.reason));
                    // One that has failed to start is gone.
                    let _ = child.send(Go);
                });
                parent.ask(begin).wait().unwrap();
                (parent, log, ended)
            })
        },
        |all| {
            for (_parent, log, ended) in all {
                let reason = ended.take().remove(0);
                assert_eq!(log.take(), ["started".to_string(), format!("exited: {reason}")]);
                // A last hook that fails is the reason of an end that was normal otherwise.
                assert_eq!(reason, ExitReason::Panicked("boom".into()));
            }
        },
    );
}

/// A supervisor gives up, and its own supervisor starts it anew, with its child.
#[test]
fn a_failure_goes_up_when_there_are_too_many() {
    check(|| {
        let log = Log::new();
        let far = log.clone();
        let mut middle = Supervisor::one_for_one().intensity(1, Duration::from_secs(60));
        let doer = middle.child(permanent(move || Doer { log: far.clone() }));
        let mut top = Supervisor::one_for_one().intensity(5, Duration::from_secs(60));
        let middle = top.child(middle);
        let top = top.spawn();
        for _ in 0..2 {
            doer.send(Do(|_: &mut Doer, _: &mut Context<Doer>| fail("again"))).unwrap();
        }
        assert!(doer.ask(Say("here")).wait().is_ok(), "it is the same address");
        assert!(!middle.has_ended());
        assert_eq!(top.counts().wait().unwrap().restarts, 1);
        let starts =
            log.take().into_iter().filter(|word| word != "here" && !word.starts_with("stopped"));
        assert_eq!(starts.count(), 3);
    });
}

/// With its supervisor a child ends, whatever way that goes.
#[test]
fn children_end_with_their_supervisor() {
    check(|| {
        for how in 0..3 {
            let mut tree = Supervisor::one_for_one();
            let children: Vec<_> =
                (0..3).map(|_| tree.child(permanent(|| Doer { log: Log::new() }))).collect();
            let supervisor = tree.spawn();
            children[2].ask(Say("up")).wait().unwrap();
            match how {
                0 => supervisor.stop().unwrap(),
                1 => supervisor.kill().unwrap(),
                _ => drop(supervisor),
            }
            for child in children {
                assert!(child.ended().wait().is_ok_and(|reason| reason.is_normal()));
            }
        }
    });
}

/// Those who belong to a group of listeners leave it with their end.
#[test]
fn members_of_a_router_leave_with_their_end() {
    check(|| {
        let router = Router::new(Routing::RoundRobin);
        let all: Vec<_> = (0..3).map(|_| Doer::spawn()).collect();
        all.iter().for_each(|(doer, _)| _ = router.add(doer.to_recipient::<Say>()));
        all[1].0.kill().unwrap();
        all[1].0.ended().wait().unwrap();
        assert_eq!(router.broadcast(Say("hello")).unwrap(), 2);
        for (at, (doer, log)) in all.iter().enumerate() {
            if at != 1 {
                doer.ask(Say("end")).wait().unwrap();
                assert_eq!(log.take(), ["started", "hello", "end"]);
            }
        }
        assert_eq!(router.routees().len(), 2);
    });
}

/// Who publishes does not mind who listens, and who has gone is forgotten.
#[test]
fn a_port_forgets_listeners_that_have_gone() {
    check(|| {
        let topic = Topic::new();
        let [(a, log), (b, _)] = [(); 2].map(|()| Doer::spawn());
        let (_a, _b) =
            (topic.subscribe(a.to_recipient::<Tick>()), topic.subscribe(b.to_recipient::<Tick>()));
        assert_eq!(topic.publish(Tick), 2);
        b.kill().unwrap();
        b.ended().wait().unwrap();
        assert_eq!(topic.publish(Tick), 1);
        assert_eq!(topic.publish(Tick), 1);
        a.ask(Say("end")).wait().unwrap();
        assert_eq!(log.take(), ["started", "tick", "tick", "tick", "end"]);
    });
}

#[derive(Clone)]
struct Tick;

impl Message for Tick {
    type Reply = ();
}

impl Handler<Tick> for Doer {
    fn handle(&mut self, _: Tick, _: &mut Context<Self>) {
        self.log.push("tick".into());
    }
}

/// One message after a while, many in turn, and none any more when the actor has ended.
#[test]
fn messages_come_after_a_while() {
    everywhere(
        || {
            let (doer, log) = Doer::spawn();
            let once = doer.send_later(ms(1), Tick);
            let never = doer.send_later(ms(50), Tick);
            never.cancel();
            let (three, own) = (Log::new(), doer.downgrade());
            let counted = three.clone();
            let every = doer.send_every(ms(2), move || {
                counted.push(());
                if counted.len() == 3 {
                    own.upgrade().map(|doer| doer.drain());
                }
                Tick
            });
            assert_eq!(doer.ended().wait(), Ok(ExitReason::Shutdown));
            let _ = (once, every);
            log
        },
        |log| {
            let ticks = log.take().into_iter().filter(|word| word == "tick").count();
            // The third tick was made behind the drain.
            assert_eq!(ticks, 3);
        },
    );
}

/// An actor is told to end, or killed, after a while.
#[test]
fn an_end_comes_after_a_while() {
    check(|| {
        let ends: [WayToEnd; 2] = [
            (|doer| doer.stop().unwrap(), ExitReason::Shutdown),
            (|doer| doer.kill().unwrap(), ExitReason::Killed),
        ];
        for (end, reason) in ends {
            let (doer, _) = Doer::spawn();
            let far = doer.clone();
            after(ms(2), (), move |()| end(&far));
            assert_eq!(doer.ended().wait(), Ok(reason));
        }
    });
}

/// Jobs of one key go to one worker as long as it is there, and in their order.
#[test]
fn jobs_of_one_key_go_to_one_worker() {
    struct Job(u32, u32);
    impl Message for Job {
        type Reply = ActorId;
    }
    impl Handler<Job> for Doer {
        fn handle(&mut self, job: Job, context: &mut Context<Self>) -> ActorId {
            self.log.push(format!("{} {}", job.0, job.1));
            context.id()
        }
    }
    check(|| {
        let log = Log::new();
        let far = log.clone();
        let pool = Pool::new(3, move || Doer { log: far.clone() });
        let mut workers = Vec::new();
        for key in 0..4 {
            let asks: Vec<_> = (0..5).map(|n| pool.ask_by(&key, Job(key, n))).collect();
            let by: Vec<_> = asks.into_iter().map(|ask| ask.wait().unwrap()).collect();
            assert!(by.iter().all(|worker| *worker == by[0]));
            workers.push(by[0]);
        }
        let words = log.take();
        for key in 0..4 {
            let prefix = format!("{key} ");
            let jobs: Vec<_> = words.iter().filter(|word| word.starts_with(&prefix)).collect();
            assert!(jobs.is_sorted() && jobs.len() == 5, "{jobs:?}");
        }
    });
}

/// A factory that is made smaller finishes what it has, and one that is drained, too.
#[test]
fn a_pool_that_shrinks_finishes_its_jobs() {
    check(|| {
        let pool = Pool::new(4, || Doer { log: Log::new() });
        let asks: Vec<_> = (0..40).map(|_| pool.ask(Say("job"))).collect();
        pool.resize(1);
        for ask in asks {
            assert!(ask.wait().is_ok());
        }
        assert_eq!(pool.size(), 1);
        let last = pool.ask(Say("job"));
        drop(pool);
        assert!(last.wait().is_ok());
    });
}

/// A full worker lets the oldest go, or the newest, and counts.
#[test]
fn a_full_worker_discards() {
    check(|| {
        for (newest, kept) in [(true, ["0", "1"]), (false, ["3", "4"])] {
            let (doer, log) = Doer::new();
            let room = Mailbox::bounded(2);
            let room = if newest { room.drop_newest() } else { room.drop_oldest() };
            let doer = actor(doer).mailbox(room).spawn();
            doer.suspend().unwrap();
            for word in ["0", "1", "2", "3", "4"] {
                doer.send(Say(word)).unwrap();
            }
            assert_eq!(doer.mailbox().dropped(), 3);
            doer.resume().unwrap();
            doer.drain().unwrap();
            doer.ended().wait().unwrap();
            assert_eq!(log.take()[1..3], kept);
        }
    });
}

/// A call to several has the answers of those that answer in time.
#[test]
fn a_call_to_many_brings_what_came_in_time() {
    check(|| {
        let quick =
            |n: u64| Question(move |reply: Reply<u64>, _: &mut Context<Doer>| reply.send(n));
        let (_resolver, never) = Promise::<u64>::channel();
        let slow = Question(move |reply, context: &mut Context<Doer>| {
            context.detach(reply, async move { never.await.unwrap_or(9) });
        });
        let doers: Vec<_> = (0..3).map(|_| Doer::spawn().0).collect();
        let asks = [doers[0].ask(quick(1)), doers[1].ask(quick(2)), doers[2].ask(slow)];
        let answers = asks.map(|ask| ask.timeout(ms(40)).wait());
        // A slow machine may be late with the others, too.
        for (answer, n) in answers.iter().zip([1, 2]) {
            assert!(
                matches!(answer, Ok(m) if *m == n) || matches!(answer, Err(AskError::Timeout(_)))
            );
        }
        assert_eq!(answers[2], Err(AskError::Timeout(ms(40))));
    });
}

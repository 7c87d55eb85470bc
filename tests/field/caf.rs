//! Actors: after the suites of the C++ Actor Framework.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact::actor::Shared;
use coact::prelude::*;
use coact::registry::lookup;
use coact::routing::{Pool, Router, Routing};
use coact::system::Host;
use coact::{Context, this_thread};
use coact_tests::{Log, fail};

use crate::run::{
    Count, Counted, Do, Doer, Question, Say, WayToEnd, check, everywhere, hold_for_ever, ms,
    of_many, tell,
};

struct Tree {
    parent: Option<(Addr<Tree>, Reply<u64>)>,
    waits: usize,
    sum: u64,
    _count: Counted,
}

impl Actor for Tree {}

struct Grow(usize, Count);

impl Message for Grow {
    type Reply = u64;
}

impl Receive<Grow> for Tree {
    fn receive(&mut self, grow: Grow, reply: Reply<u64>, context: &mut Context<Self>) {
        let Grow(depth, count) = grow;
        if depth == 0 {
            return reply.send(1);
        }
        self.parent = Some((context.address(), reply));
        self.waits = 2;
        for _ in 0..2 {
            let child = spawn(Tree { parent: None, waits: 0, sum: 0, _count: count.one() });
            context.ask(&child, Grow(depth - 1, count.clone()), |this, leaves, _| {
                this.sum += leaves.expect("it has grown");
                this.waits -= 1;
                if this.waits == 0 {
                    let (_, reply) = this.parent.take().expect("asked once");
                    reply.send(this.sum);
                }
            });
        }
    }
}

/// Actors that spawn actors that spawn actors; all of them end with their answers.
#[test]
fn actors_spawn_actors() {
    everywhere(
        || {
            let (count, depth) = (Count::default(), of_many(10, 3));
            let root = spawn(Tree { parent: None, waits: 0, sum: 0, _count: count.one() });
            assert_eq!(root.ask(Grow(depth, count.clone())).wait(), Ok(1 << depth));
            count
        },
        |count| assert_eq!(count.now(), 0, "actors are left"),
    );
}

/// An actor that counts down by telling itself.
#[test]
fn an_actor_sends_to_itself() {
    fn count(down: usize, context: &mut Context<Doer>) {
        if down == 0 {
            return context.stop();
        }
        tell(&context.address(), move |_, context| count(down - 1, context));
    }
    check(|| {
        let (doer, log) = Doer::spawn();
        tell(&doer, |_, context| count(of_many(500, 10), context));
        assert_eq!(doer.ended().wait(), Ok(ExitReason::Normal));
        assert_eq!(log.take(), ["started", "stopped: it was done"]);
    });
}

/// Who asks is told when the other one has ended, whether before, meanwhile, or after the question.
#[test]
fn a_question_to_one_that_ends_fails() {
    check(|| {
        let (doer, _) = Doer::spawn();
        let kept = hold_for_ever(&doer);
        let waits = doer.ask(Say("too late"));
        doer.kill().unwrap();
        assert_eq!(kept.wait(), Err(AskError::Stopped(ExitReason::Killed)));
        assert_eq!(waits.wait(), Err(AskError::Stopped(ExitReason::Killed)));
        assert_eq!(doer.ended().wait(), Ok(ExitReason::Killed));
        assert_eq!(doer.ask(Say("after")).wait(), Err(AskError::Stopped(ExitReason::Killed)));
    });
}

/// An actor without addresses ends though it waits for an answer that will not come.
#[test]
fn an_unreachable_actor_ends() {
    everywhere(
        || {
            let (count, told) = (Count::default(), Log::new());
            let (silent, _) = Doer::spawn();
            let (doer, _) = Doer::spawn();
            let (one, end) = (count.one(), told.clone());
            doer.on_down(move |down| {
                drop(one);
                end.push(down.reason);
            });
            drop(doer.ask(Question(|reply, _: &mut Context<Doer>| drop(reply))));
            drop(silent.ask(Question(|reply: Reply<u64>, _: &mut Context<Doer>| reply.send(1))));
            (count, told)
        },
        |(count, told)| assert_eq!((count.now(), told.take()), (0, vec![ExitReason::Normal])),
    );
}

/// What is hung on to an actor's end in its own start is called once.
#[test]
fn an_actor_has_its_own_end_told() {
    struct Brief(Log<ExitReason>);
    impl Actor for Brief {
        fn started(&mut self, context: &mut Context<Self>) {
            let log = self.0.clone();
            context.address().on_down(move |down| log.push(down.reason));
            context.stop();
        }
    }
    everywhere(
        || {
            let log = Log::new();
            drop(spawn(Brief(log.clone())));
            log
        },
        |log| assert_eq!(log.take(), [ExitReason::Normal]),
    );
}

/// Each way to end has its reason, and the monitor hears it.
#[test]
fn reasons_are_told_as_they_are() {
    check(|| {
        let ends: [WayToEnd; 5] = [
            (|doer| tell(doer, |_, context| context.stop()), ExitReason::Normal),
            (|doer| tell(doer, |_, _| fail("a bug")), ExitReason::Panicked("a bug".into())),
            (
                |doer| tell(doer, |_, context| context.stop_with(ExitReason::Failed("so".into()))),
                ExitReason::Failed("so".into()),
            ),
            (|doer| doer.kill().unwrap(), ExitReason::Killed),
            (|doer| doer.stop().unwrap(), ExitReason::Shutdown),
        ];
        for (end, reason) in ends {
            let (doer, _) = Doer::spawn();
            let (watch, log) = Doer::spawn();
            let far = doer.clone();
            watch
                .ask(Do(move |_: &mut Doer, context: &mut Context<Doer>| context.monitor(&far)))
                .wait()
                .unwrap();
            end(&doer);
            assert_eq!(doer.ended().wait(), Ok(reason.clone()));
            // The news has been sent by then.
            watch.ask(Say("then")).wait().unwrap();
            assert_eq!(
                log.take(),
                ["started".to_string(), format!("down: {reason}"), "then".into()]
            );
        }
    });
}

/// A server goes down with questions in its mailbox: each client hears of it.
#[test]
fn all_clients_of_a_server_that_fails_are_told() {
    check(|| {
        let (server, _) = Doer::spawn();
        server.suspend().unwrap();
        server.send(Do(|_: &mut Doer, _: &mut Context<Doer>| fail("down"))).unwrap();
        let asks: Vec<_> = (0..20).map(|_| server.ask(Say("?"))).collect();
        server.resume().unwrap();
        let why = ExitReason::Panicked("down".into());
        for ask in asks {
            assert_eq!(ask.wait(), Err(AskError::Stopped(why.clone())));
        }
    });
}

/// Answers come back as messages do, and in the order in which they were given by one actor.
#[test]
fn answers_of_one_actor_come_back_in_their_order() {
    everywhere(
        || {
            let (server, _) = Doer::spawn();
            let (client, log) = Doer::spawn();
            tell(&client, move |_, context| {
                for _ in 0..5 {
                    context.ask(&server, Say("x"), |client, count, _| {
                        client.log.push(count.unwrap().to_string());
                    });
                }
            });
            log
        },
        |log| assert_eq!(log.take()[..6], ["started", "2", "3", "4", "5", "6"]),
    );
}

/// Questions that are awaited one after the other: nothing comes between, and each is asked once
/// the one before is answered.
#[test]
fn awaited_questions_stack_up() {
    everywhere(
        || {
            let (server, _) = Doer::spawn();
            let (client, log) = Doer::spawn();
            tell(&client, move |_, context| {
                for name in ["one", "two"] {
                    let far = server.clone();
                    context.ask_await(&server, Say("x"), ms(5_000), move |client, _, context| {
                        client.log.push(name.into());
                        context.ask_await(&far, Say("x"), ms(5_000), move |client, _, _| {
                            client.log.push(format!("after {name}"));
                        });
                    });
                }
            });
            client.send(Say("a message")).unwrap();
            log
        },
        |log| {
            let words = log.take();
            let message = words.iter().position(|word| word == "a message").unwrap();
            assert_eq!(message, 5, "no message comes between: {words:?}");
        },
    );
}

/// Answers that come after the timeout are dropped, and others are not touched.
#[test]
fn a_late_answer_is_dropped() {
    fn when_told(doer: &Addr<Doer>, told: Promise<()>, answer: u64) -> Ask<u64> {
        doer.ask(Question(move |reply, context: &mut Context<Doer>| {
            context.detach(reply, async move {
                let _ = told.await;
                answer
            });
        }))
    }
    check(|| {
        let (doer, _) = Doer::spawn();
        let [(tell_late, late), (tell_patient, patient)] = [(); 2].map(|()| Promise::channel());
        let (late, patient) = (when_told(&doer, late, 7), when_told(&doer, patient, 8));
        assert_eq!(late.timeout(ms(10)).wait(), Err(AskError::Timeout(ms(10))));
        tell_late.resolve(());
        tell_patient.resolve(());
        assert_eq!(patient.wait(), Ok(8));
        assert!(doer.ask(Say("it goes on")).wait().is_ok());
    });
}

struct Adder(u64);

impl Actor for Adder {}

#[derive(Clone)]
struct Add(u64);

impl Message for Add {
    type Reply = u64;
}

impl Handler<Add> for Adder {
    fn handle(&mut self, add: Add, _: &mut Context<Self>) -> u64 {
        assert_ne!(self.0 + add.0, 13, "bad luck");
        self.0 + add.0
    }
}

/// One question to many: all answers, the first one, or the reason why there is none.
#[test]
fn questions_fan_out() {
    check(|| {
        let adders: Vec<_> = (0..5).map(|n| spawn(Adder(n))).collect();
        let asks: Vec<_> = adders.iter().map(|adder| adder.ask(Add(10))).collect();
        let answers: Vec<_> = asks.into_iter().map(Ask::wait).collect();
        // One of them has failed, and says so.
        let why = answers.iter().filter(|answer| answer.is_err()).count();
        assert_eq!((answers[0].clone(), answers[4].clone(), why), (Ok(10), Ok(14), 1));
        let router = Router::new(Routing::RoundRobin);
        adders.iter().for_each(|adder| _ = router.add(adder.clone()));
        let first = router.ask_first(Add(20)).wait().unwrap();
        assert!((20..25).contains(&first), "{first}");
    });
}

/// An answer is left to another one, and again, and comes from the last.
#[test]
fn an_answer_is_left_to_others() {
    check(|| {
        let desks: Vec<_> = (0..3).map(|_| Doer::spawn().0).collect();
        let last = spawn(Adder(40));
        let (second, third) = (desks[1].clone(), desks[2].clone());
        let ask = desks[0].ask(Question(move |reply: Reply<u64>, _: &mut Context<Doer>| {
            let pass = Question(move |reply: Reply<u64>, _: &mut Context<Doer>| {
                let pass = Question(move |reply: Reply<u64>, _: &mut Context<Doer>| {
                    drop(last.forward(Add(2), reply));
                });
                drop(third.forward(pass, reply));
            });
            drop(second.forward(pass, reply));
        }));
        assert_eq!(ask.wait(), Ok(42));
        // One that has ended gives the question back, and the ask fails.
        let (gone, _) = Doer::spawn();
        gone.kill().unwrap();
        gone.ended().wait().unwrap();
        let ask = desks[0].ask(Question(move |reply: Reply<u64>, _: &mut Context<Doer>| {
            let pass = Question(|reply: Reply<u64>, _: &mut Context<Doer>| reply.send(1));
            assert!(gone.forward(pass, reply).is_err());
        }));
        assert_eq!(ask.wait(), Err(AskError::Stopped(ExitReason::Killed)));
    });
}

/// A message that is shared by many is copied by those that change it, and dropped once.
#[test]
fn a_shared_message_is_copied_by_who_changes_it() {
    struct Sheet(Counted, Arc<AtomicUsize>, Vec<u8>);
    impl Clone for Sheet {
        fn clone(&self) -> Self {
            self.1.fetch_add(1, Ordering::Relaxed);
            Self(self.0.another(), Arc::clone(&self.1), self.2.clone())
        }
    }
    impl Message for Sheet {
        type Reply = ();
    }
    struct Clerk(bool);
    impl Actor for Clerk {}
    impl Handler<Shared<Sheet>> for Clerk {
        fn handle(&mut self, mut sheet: Shared<Sheet>, _: &mut Context<Self>) {
            if self.0 {
                sheet.make_mut().2.push(1);
            }
            assert_eq!(sheet.2.len(), 3 + usize::from(self.0));
        }
    }
    everywhere(
        || {
            let (count, copies) = (Count::default(), Arc::new(AtomicUsize::new(0)));
            let sheet = Shared::new(Sheet(count.one(), Arc::clone(&copies), vec![0; 3]));
            for n in 0..10 {
                spawn(Clerk(n == 3)).send(sheet.clone()).unwrap();
            }
            drop(sheet);
            (count, copies)
        },
        |(count, copies)| {
            assert_eq!(count.now(), 0);
            assert!(copies.load(Ordering::Relaxed) <= 1, "only one changes it");
        },
    );
}

/// A pool takes work as long as one of it lives, and those that fail are replaced.
#[test]
fn a_pool_goes_on_without_those_that_fail() {
    check(|| {
        let pool = Pool::new(3, || Adder(0));
        let asks: Vec<_> = (10..16).map(|n| pool.ask(Add(n))).collect();
        let answers: Vec<_> = asks.into_iter().map(Ask::wait).collect();
        assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 1, "{answers:?}");
        assert_eq!(pool.size(), 3);
        for n in 20..30 {
            assert_eq!(pool.ask(Add(n)).wait(), Ok(n));
        }
    });
}

/// A name finds its actor as long as that lives.
#[test]
fn a_name_goes_with_its_actor() {
    check(|| {
        let shop = actor(Adder(1)).named("shop").spawn();
        assert_eq!(lookup::<Adder>("shop").unwrap(), shop);
        shop.stop().unwrap();
        shop.ended().wait().unwrap();
        assert!(lookup::<Adder>("shop").is_err());
        let next = actor(Adder(2)).named("shop").spawn();
        assert_eq!(lookup::<Adder>("shop").unwrap().id(), next.id());
    });
}

/// Ticks come as often as they were asked for, and no more when the actor has ended.
#[test]
fn ticks_end_with_their_actor() {
    everywhere(
        || {
            let (doer, log) = Doer::spawn();
            tell(&doer, |_, context| {
                let own = context.weak();
                let _ = context.send_every(ms(2), move || {
                    let own = own.clone();
                    Do(move |doer: &mut Doer, context: &mut Context<Doer>| {
                        assert!(own.upgrade().is_some());
                        doer.log.push("tick".into());
                        if doer.log.len() == 4 {
                            context.stop();
                        }
                    })
                });
            });
            assert_eq!(doer.ended().wait(), Ok(ExitReason::Normal));
            log
        },
        |log| assert_eq!(log.take(), ["started", "tick", "tick", "tick", "stopped: it was done"]),
    );
}

/// A plain thread takes part: it asks, is asked, and gets what it is sent in order.
#[test]
fn a_thread_takes_part() {
    struct Number(u64);
    impl Message for Number {
        type Reply = ();
    }
    check(|| {
        let me = this_thread::recipient::<Number>();
        let (doer, _) = Doer::spawn();
        tell(&doer, move |_, _| (0..5).for_each(|n| me.send(Number(n)).unwrap()));
        for n in 0..5 {
            assert_eq!(this_thread::receive::<Number>().0, n);
        }
    });
}

/// Detached actors end with the program's work, and hear from others meanwhile.
#[test]
fn detached_actors_take_part() {
    check(|| {
        let all: Vec<_> = (0..3).map(|n| actor(Adder(n)).on(Host::detached()).spawn()).collect();
        let sums: u64 = all.iter().map(|adder| adder.ask(Add(100)).wait().unwrap()).sum();
        assert_eq!(sums, 303);
        all[0].kill().unwrap();
        assert_eq!(all[0].ended().wait(), Ok(ExitReason::Killed));
        assert_eq!(all[1].ask(Add(1)).wait(), Ok(2));
    });
}

//! Where features meet: each of these was wrong once.

use std::time::Duration;

use coact::cown::{MemberError, checked_all};
use coact::prelude::*;
use coact::promise::Resolver;
use coact::sim::{Config, Method, Sim};
use coact::time::sleep;
use coact::{Context, when_or_else};
use coact_tests::{Log, check, check_with_faults, fail, finally};

use crate::world::{Bomb, Diary, Do, Note};

/// Panics when it is dropped.
struct Mine;

impl Drop for Mine {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            fail("a mine");
        }
    }
}

/// It could not be resumed any more, so it is resumed.
#[test]
fn m9_a_suspended_actor_whose_last_address_is_dropped_ends() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary.suspend().unwrap();
        diary.send(Note("one")).unwrap();
        drop(diary);
        finally(move || {
            assert_eq!(log.take(), ["started", "one", "stopped: it was done", "dropped"]);
        });
    });
}

/// The state that panicked is the one that ends, whatever was left for it meanwhile.
#[test]
fn a_panic_comes_before_the_signals_that_were_left_meanwhile() {
    check_with_faults(|_| {
        let (diary, log) = Diary::new();
        let again = log.clone();
        let diary = actor(diary).restartable(move || Diary { log: again.clone() }).spawn();
        let own = diary.clone();
        diary
            .send(Do(move |_: &mut Diary, _: &mut Context<Diary>| {
                own.restart().unwrap();
                own.stop().unwrap();
                fail("boom");
            }))
            .unwrap();
        finally(move || {
            assert_eq!(diary.exit_reason(), Some(ExitReason::Panicked("boom".into())));
            assert_eq!(log.take(), ["started", "stopped: it panicked: boom", "dropped"]);
        });
    });
}

/// What a factory has captured is the user's: its destructor may panic, and links and monitors are
/// told all the same.
#[test]
fn a_factory_whose_destructor_panics() {
    check_with_faults(|faults| {
        let (diary, _) = Diary::spawn();
        let (linked, log) = Diary::spawn();
        let mine = Mine;
        let made = actor(Diary::new().0)
            .restartable(move || {
                let _ = &mine;
                Diary::new().0
            })
            .spawn();
        let other = made.to_any();
        linked
            .ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| context.link(&other)))
            .wait()
            .unwrap();
        let ended = made.ended();
        made.send(Bomb).unwrap();
        assert!(matches!(ended.wait(), Ok(ExitReason::Panicked(_))));
        assert!(matches!(linked.ended().wait(), Ok(ExitReason::Linked(..))));
        let faults = faults.clone();
        finally(move || {
            assert_eq!(faults.len(), 2, "{:?}", faults.take());
            drop((diary, log, made, linked));
        });
    });
}

/// A monitor that is undone is dropped, and may panic: a future that holds the actor goes on.
#[test]
fn a_monitor_whose_destructor_panics_while_the_actor_is_held() {
    check_with_faults(|_| {
        let (diary, log) = Diary::spawn();
        let [(go, gate), (begin, begun)] = [Promise::<()>::channel(), Promise::channel()];
        let held = diary.ask(Hold(gate, begin));
        begun.wait().unwrap();
        let mine = Mine;
        let monitor = diary.on_down(move |_| drop(mine));
        diary.cancel_on_down(monitor);
        let after = diary.ask(Note("after"));
        let (witness, _) = Diary::spawn();
        witness.ask(Note("time passes")).wait().unwrap();
        go.resolve(());
        assert_eq!(held.wait(), Ok(()));
        after.wait().unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "held", "after"]);
            drop((diary, witness));
        });
    });
}

/// Holds the actor until the promise is kept.
struct Hold(Promise<()>, Resolver<()>);

impl Message for Hold {
    type Reply = ();
}

impl Receive<Hold> for Diary {
    fn receive(&mut self, hold: Hold, reply: Reply<()>, context: &mut Context<Self>) {
        context.hold(reply, |diary, _| {
            Box::pin(async move {
                hold.1.resolve(());
                let _ = hold.0.await;
                diary.log.push("held".into());
            })
        });
    }
}

/// Makes an ask while it holds the actor, and lets another await it.
struct HandOut {
    to: Addr<Diary>,
    asks: Log<Ask<usize>>,
}

impl Message for HandOut {
    type Reply = ();
}

impl Receive<HandOut> for Diary {
    fn receive(&mut self, out: HandOut, reply: Reply<()>, context: &mut Context<Self>) {
        context.hold(reply, |_, _| {
            Box::pin(async move {
                let mut ask = out.to.ask(Note("asked"));
                // It is known by then that this waits.
                let _ = futures::poll!(&mut ask);
                out.asks.push(ask);
            })
        });
    }
}

/// Such an ask holds no actor: that A asked B keeps neither from answering the other.
#[test]
fn an_ask_that_is_handed_out_of_a_hold() {
    check(|| {
        let [(a, _), (b, log)] = [Diary::spawn(), Diary::spawn()];
        let [(go, gate), (begin, begun)] = [Promise::<()>::channel(), Promise::channel()];
        let first = b.ask(HoldAndAsk(gate, begin, a.clone()));
        begun.wait().unwrap();
        let asks = Log::new();
        a.ask(HandOut { to: b.clone(), asks: asks.clone() }).wait().unwrap();
        let [(go_on, until), (begin, begun)] = [Promise::<()>::channel(), Promise::channel()];
        let second = a.ask(Hold(until, begin));
        begun.wait().unwrap();
        // B asks A now, which holds itself until the test says so, and has asked B.
        go.resolve(());
        sleep(Duration::from_millis(3)).wait().unwrap();
        go_on.resolve(());
        assert_eq!(second.wait(), Ok(()));
        assert_eq!(first.wait(), Ok(Ok(3)));
        let ask = asks.take().pop().unwrap();
        assert_eq!(ask.wait(), Ok(2));
        finally(move || {
            assert_eq!(log.take(), ["started", "asked"]);
            drop((a, b));
        });
    });
}

/// Holds the actor until the promise is kept, and until another one has answered.
struct HoldAndAsk(Promise<()>, Resolver<()>, Addr<Diary>);

impl Message for HoldAndAsk {
    type Reply = Result<usize, AskError>;
}

impl Receive<HoldAndAsk> for Diary {
    fn receive(
        &mut self,
        hold: HoldAndAsk,
        reply: Reply<Result<usize, AskError>>,
        context: &mut Context<Self>,
    ) {
        context.hold(reply, |_, _| {
            Box::pin(async move {
                hold.1.resolve(());
                let _ = hold.0.await;
                hold.2.ask(Note("back")).await
            })
        });
    }
}

/// Searches that meet each other, under every scheduler.
#[test]
fn searches_in_deterministic_mode() {
    for method in [Method::Random, Method::Pct { depth: 3 }, Method::Fifo] {
        Sim::new().workers(3).config(Config::new().method(method).runs(100)).check(|| {
            let actors: Vec<_> = (0..3).map(|_| spawn(Ring(None))).collect();
            for (index, actor) in actors.iter().enumerate() {
                actor.send(Next(Some(actors[(index + 1) % 3].clone()))).unwrap();
            }
            let asks: Vec<_> = actors.iter().map(|actor| actor.ask(Round)).collect();
            let answers: Vec<_> = asks.into_iter().map(|ask| ask.wait().unwrap()).collect();
            assert!(answers.iter().any(|answer| answer.is_ok()), "{answers:?}");
            actors.iter().for_each(|actor| actor.send(Next(None)).unwrap());
        });
    }
}

/// Asks the next one, held.
struct Ring(Option<Addr<Ring>>);

impl Actor for Ring {}

struct Next(Option<Addr<Ring>>);

impl Message for Next {
    type Reply = ();
}

impl Handler<Next> for Ring {
    fn handle(&mut self, next: Next, _: &mut Context<Self>) {
        self.0 = next.0;
    }
}

struct Round;

impl Message for Round {
    type Reply = Result<(), AskError>;
}

impl Receive<Round> for Ring {
    fn receive(
        &mut self,
        _: Round,
        reply: Reply<Result<(), AskError>>,
        context: &mut Context<Self>,
    ) {
        context.hold(reply, |ring, _| {
            Box::pin(async move {
                match &ring.0 {
                    Some(next) => next.ask(Leaf).await,
                    None => Ok(()),
                }
            })
        });
    }
}

struct Leaf;

impl Message for Leaf {
    type Reply = ();
}

impl Handler<Leaf> for Ring {
    fn handle(&mut self, _: Leaf, _: &mut Context<Self>) {}
}

/// A suspended actor does not keep what a shutdown is to drop.
#[test]
fn an_ask_to_a_suspended_actor_ends_with_the_runtime() {
    let runtime = coact_tests::runtime(1, &coact_tests::Faults::new());
    let (diary, asked) = runtime.run(|| {
        let (diary, _) = Diary::spawn();
        (diary.clone(), diary)
    });
    asked.suspend().unwrap();
    let ask = asked.ask(Note("unread"));
    runtime.shutdown(Duration::ZERO);
    assert!(ask.wait().is_err());
    drop((diary, asked));
}

/// An actor that has ended is no reason to see nothing of the others.
#[test]
fn f4_of_many_actors_those_that_live_are_seen() {
    struct Account(u64);
    impl Actor for Account {}

    check_with_faults(|_| {
        let all: Vec<Addr<Account>> = (0..100).map(|n| spawn(Account(n))).collect();
        for gone in [&all[0], &all[42]] {
            gone.stop().unwrap();
            gone.ended().wait().unwrap();
        }
        assert_eq!(call(read_all(&all), |_| ()).wait(), Err(Broken::Closed { position: 0 }));
        let seen = call(read_all(&all).checked(), |all| {
            let closed = |member: &Result<_, _>| matches!(member, Err(MemberError::Closed));
            let sum: u64 = all.iter().flatten().map(|account| account.0).sum();
            (all.iter().filter(closed).count(), sum)
        });
        assert_eq!(seen.wait(), Ok((2, 4950 - 42)));
        let living: Vec<&Addr<Account>> = all.iter().filter(|addr| !addr.has_ended()).collect();
        when(&living, |living| living.into_iter().for_each(|account| account.0 += 1));
        let sum = call(checked_all(&all), |mut all| {
            let living = all.iter_mut().flatten();
            living.map(|account| std::mem::take(&mut account.0)).sum::<u64>()
        });
        assert_eq!(sum.wait(), Ok(4950 - 42 + 98));
        let (resolver, told) = Promise::channel();
        when_or_else((&all[1], &all[42]), |_| (), move |why| resolver.resolve(why));
        assert_eq!(told.wait(), Ok(Broken::Closed { position: 1 }));
    });
}

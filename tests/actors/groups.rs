//! Actors that share one queue.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use coact::Context;
use coact::prelude::*;
use coact::sim::{Config, Method, Sim};
use coact_tests::{Faults, Log, PATIENCE, check, check_with_faults, finally, runtime};

use crate::world::{Bomb, Diary, Do, Note};

fn member(group: &Group) -> (Addr<Diary>, Log<String>) {
    let (diary, log) = Diary::new();
    (actor(diary).in_group(group).spawn(), log)
}

/// Passes a token round, this number of hops.
struct Ring {
    next: Option<Addr<Ring>>,
    seen: Log<u64>,
}

impl Actor for Ring {}

struct Token(u64);

impl Message for Token {
    type Reply = ();
}

impl Handler<Token> for Ring {
    fn handle(&mut self, token: Token, context: &mut Context<Self>) {
        self.seen.push(token.0);
        match &self.next {
            Some(next) if token.0 > 0 => next.send(Token(token.0 - 1)).unwrap(),
            _ => context.stop(),
        }
    }
}

struct SetNext(Addr<Ring>);

impl Message for SetNext {
    type Reply = ();
}

impl Handler<SetNext> for Ring {
    fn handle(&mut self, next: SetNext, _: &mut Context<Self>) {
        self.next = Some(next.0);
    }
}

#[test]
fn a_token_goes_round() {
    check(|| {
        let group = Group::new();
        let seen = Log::new();
        let ring: Vec<_> = (0..10)
            .map(|_| actor(Ring { next: None, seen: seen.clone() }).in_group(&group).spawn())
            .collect();
        for (index, one) in ring.iter().enumerate() {
            one.send(SetNext(ring[(index + 1) % ring.len()].clone())).unwrap();
        }
        ring[0].send(Token(1_000)).unwrap();
        finally(move || {
            assert!(seen.take().into_iter().eq((0..=1_000).rev()));
            for one in ring {
                let _ = one.kill();
            }
        });
    });
}

#[test]
fn messages_and_behaviours_of_members_keep_their_order() {
    check(|| {
        let group = Group::new();
        let [(a, _), (b, log)] = [member(&group), member(&group)];
        let (outside, _) = Diary::spawn();
        let to_b = b.clone();
        a.send(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
            to_b.send(Note("one")).unwrap();
            when((&context.address(), &to_b), |(_, b)| b.log.push("two".into()));
            when((&outside, &to_b), |(_, b)| b.log.push("three".into()));
            to_b.send(Note("four")).unwrap();
        }))
        .unwrap();
        finally(move || {
            let log: Vec<_> = log.take().into_iter().filter(|entry| entry != "started").collect();
            assert_eq!(log, ["one", "two", "three", "four"]);
            drop((a, b));
        });
    });
}

#[test]
fn members_fail_alone() {
    check_with_faults(|_| {
        let group = Group::new();
        let [(a, _), (b, log)] = [member(&group), member(&group)];
        a.send(Bomb).unwrap();
        b.send(Note("alive")).unwrap();
        assert_eq!(a.ended().wait(), Ok(ExitReason::Panicked("boom".into())));
        finally(move || {
            assert_eq!(log.take(), ["started", "alive"]);
            drop(b);
        });
    });
}

#[test]
fn a_member_that_is_suspended_stops_the_group() {
    check(|| {
        let group = Group::new();
        let [(a, _), (b, log)] = [member(&group), member(&group)];
        a.suspend().unwrap();
        b.send(Note("one")).unwrap();
        let (witness, _) = Diary::spawn();
        witness.ask(Note("time passes")).wait().unwrap();
        log.push("resume".into());
        a.resume().unwrap();
        finally(move || {
            let log = log.take();
            let at = |entry: &str| log.iter().position(|e| e == entry).expect(entry);
            assert!(at("resume") < at("one") || at("one") == 1, "{log:?}");
            drop((a, b));
        });
    });
}

/// Members of one group wait for each other by their nature: a held ask among them fails at once.
#[test]
fn a_held_ask_within_the_group_is_a_cycle() {
    struct AskNext(Addr<Diary>);
    impl Message for AskNext {
        type Reply = Result<usize, AskError>;
    }
    impl Receive<AskNext> for Diary {
        fn receive(
            &mut self,
            ask: AskNext,
            reply: Reply<Result<usize, AskError>>,
            context: &mut Context<Self>,
        ) {
            context
                .hold(reply, move |_, _| Box::pin(async move { ask.0.ask(Note("asked")).await }));
        }
    }
    check(|| {
        let group = Group::new();
        let [(a, _), (b, _)] = [member(&group), member(&group)];
        let answer = a.ask(AskNext(b.clone())).wait().unwrap();
        assert!(matches!(answer, Err(AskError::Cycle(_))), "{answer:?}");
        assert_eq!(b.ask(Note("alive")).wait(), Ok(2));
    });
}

/// An actor that is held by each message, and notes those that come before the future has run.
#[derive(Default)]
struct Busy {
    is_to_be_held: bool,
    holds: usize,
    too_early: usize,
}

impl Actor for Busy {}

/// Has it held, for nothing.
struct Occupy;

impl Message for Occupy {
    type Reply = ();
}

impl Handler<Occupy> for Busy {
    fn handle(&mut self, _: Occupy, context: &mut Context<Self>) {
        self.too_early += usize::from(self.is_to_be_held);
        self.is_to_be_held = true;
        context.hold(Reply::unwanted(), |busy, _| {
            Box::pin(async move {
                busy.is_to_be_held = false;
                busy.holds += 1;
            })
        });
    }
}

/// The interrupt of one who resumes the actor, and has come half its way, does not swallow that of
/// the handler.
#[test]
fn an_actor_that_is_held_handles_nothing_while_others_resume_it() {
    // The sanitizers take some ten times as long.
    const HOLDS: usize = if cfg!(any(coact_tsan, coact_asan)) { 6_000 } else { 60_000 };
    let runtime = runtime(2, &Faults::new());
    let _entered = runtime.enter();
    let group = Group::new();
    let busy = actor(Busy::default()).in_group(&group).spawn();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    busy.resume().unwrap();
                    // Two of them have both processors of a small machine for their time slices,
                    // and the workers none.
                    thread::yield_now();
                }
            });
        }
        (0..HOLDS).for_each(|_| busy.send(Occupy).unwrap());
        let last = call(&busy, |busy| (busy.holds, busy.too_early));
        let last = last.wait_timeout(PATIENCE);
        done.store(true, Ordering::Relaxed);
        assert_eq!(last.expect("it goes on"), Ok((HOLDS, 0)));
    });
}

/// The same in the deterministic mode, which stops a thread between any two of an interrupt's
/// steps.
#[test]
fn an_actor_that_is_held_handles_nothing_on_any_schedule() {
    for method in [Method::Random, Method::Pct { depth: 3 }] {
        let config = Config::new().method(method).runs(500);
        Sim::new().config(config).check(|| {
            let group = Group::new();
            let busy = actor(Busy::default()).in_group(&group).spawn();
            let resumes = || {
                let busy = busy.clone();
                coact::sim::thread(move || busy.resume().unwrap())
            };
            let others = [resumes(), resumes()];
            (0..3).for_each(|_| busy.send(Occupy).unwrap());
            let last = call(&busy, |busy| (busy.holds, busy.too_early)).wait();
            assert_eq!(last, Ok((3, 0)));
            others.into_iter().for_each(|other| other.wait().unwrap());
        });
    }
}

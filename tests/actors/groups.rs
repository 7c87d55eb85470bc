//! Actors that share one queue.

use coact::prelude::*;
use coact_tests::{Log, check, check_with_faults, finally};

use crate::world::{Bomb, Diary, Do, Note};

fn member(group: &Group) -> (Addr<Diary>, Log<String>) {
    let (diary, log) = Diary::new();
    (actor(diary).in_group(group).spawn(), log)
}

/// Passes a token round, so many hops.
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

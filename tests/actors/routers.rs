//! One address in front of many actors.

use std::collections::HashMap;
use std::time::Duration;

use coact::Context;
use coact::actor::Recipient;
use coact::prelude::*;
use coact::pubsub::Topic;
use coact::routing::{RouteError, Router, Routing};
use coact::sim;
use coact::system::Host;
use coact_tests::{Log, check, check_with_faults, finally};

/// Writes down what it gets.
struct Clerk {
    name: usize,
    log: Log<(usize, u32)>,
}

impl Actor for Clerk {}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item(u32);

impl Message for Item {
    type Reply = usize;
}

impl Handler<Item> for Clerk {
    fn handle(&mut self, item: Item, _: &mut Context<Self>) -> usize {
        self.log.push((self.name, item.0));
        self.name
    }
}

/// Answers when told to, or never.
#[derive(Clone)]
struct Question;

impl Message for Question {
    type Reply = usize;
}

impl Receive<Question> for Clerk {
    fn receive(&mut self, _: Question, reply: Reply<usize>, context: &mut Context<Self>) {
        match self.name {
            0 => drop(reply),
            1 => context.stop(),
            2 => panic!("what a question"),
            name => reply.send(name),
        }
    }
}

type Clerks = Vec<Addr<Clerk>>;

fn clerks(count: usize) -> (Clerks, Log<(usize, u32)>) {
    let log = Log::new();
    let clerks = (0..count).map(|name| spawn(Clerk { name, log: log.clone() })).collect();
    (clerks, log)
}

fn routed<M: Message>(router: Router<M>, clerks: &Clerks) -> Router<M>
where
    Clerk: Receive<M>,
{
    for clerk in clerks {
        assert!(router.add(clerk.clone()));
    }
    router
}

/// To whom the items went, in their order.
fn receivers(log: &Log<(usize, u32)>) -> Vec<usize> {
    let mut log = log.take();
    log.sort_by_key(|entry| entry.1);
    log.into_iter().map(|entry| entry.0).collect()
}

fn end(clerk: &Addr<Clerk>) {
    clerk.kill().unwrap();
    clerk.ended().wait().unwrap();
}

#[test]
fn in_turn() {
    check(|| {
        let (clerks, log) = clerks(3);
        let router = routed(Router::new(Routing::RoundRobin), &clerks);
        assert!(!router.add(clerks[0].clone()), "it is one already");
        let gone = spawn(Clerk { name: 3, log: log.clone() });
        end(&gone);
        assert!(!router.add(gone), "it has ended");
        (0..6).for_each(|n| router.send(Item(n)).unwrap());
        finally(move || assert_eq!(receivers(&log), [0, 1, 2, 0, 1, 2]));
    });
}

#[test]
fn by_chance_with_a_seed() {
    check(|| {
        let draw = |seed| {
            let (clerks, _) = clerks(4);
            let router = routed(Router::new(Routing::Random { seed }), &clerks);
            (0..20).map(|n| router.ask(Item(n)).wait().unwrap()).collect::<Vec<_>>()
        };
        let drawn = draw(1);
        assert_eq!(drawn, draw(1));
        assert_ne!(drawn, draw(2));
        (0..4).for_each(|clerk| assert!(drawn.contains(&clerk), "{drawn:?}"));
    });
}

#[test]
fn to_the_smallest_mailbox() {
    check(|| {
        let (clerks, log) = clerks(3);
        let router = routed(Router::new(Routing::SmallestMailbox), &clerks);
        clerks[0].suspend().unwrap();
        clerks[2].suspend().unwrap();
        // Both that are suspended get one, and keep it.
        let mut asks: Vec<_> = (0..3).map(|n| router.ask(Item(n))).collect();
        asks.remove(1).wait().unwrap();
        for n in 3..10 {
            // Counted until it is handled: the answer may be there a moment before.
            let before = call(&clerks[1], |_| ());
            before.wait().unwrap();
            assert_eq!(router.ask(Item(n)).wait(), Ok(1));
        }
        clerks[0].resume().unwrap();
        clerks[2].resume().unwrap();
        for ask in asks {
            ask.wait().unwrap();
        }
        finally(move || assert_eq!(receivers(&log), [0, 1, 2, 1, 1, 1, 1, 1, 1, 1]));
    });
}

#[test]
fn by_key() {
    check(|| {
        let (clerks, _) = clerks(5);
        let router = routed(Router::consistent_hash(|item: &Item| item.0 % 100), &clerks);
        let owners = |router: &Router<Item>| {
            let owner = |n| (n, router.ask(Item(n)).wait().unwrap());
            (0..100).map(owner).collect::<HashMap<_, _>>()
        };
        let before = owners(&router);
        assert_eq!(router.ask(Item(107)).wait(), Ok(before[&7]));
        end(&clerks[3]);
        let after = owners(&router);
        for key in 0..100 {
            assert_ne!(after[&key], 3);
            assert!(before[&key] == 3 || before[&key] == after[&key], "{key} has moved");
        }
        assert!(before.values().any(|owner| *owner == 3));
    });
}

#[test]
fn to_all() {
    check(|| {
        let (clerks, log) = clerks(3);
        let router = routed(Router::new(Routing::RoundRobin), &clerks);
        end(&clerks[2]);
        assert_eq!(router.broadcast(Item(1)), Ok(2));
        assert_eq!(router.routees().len(), 2);
        finally(move || {
            let mut log = log.take();
            log.sort_unstable();
            assert_eq!(log, [(0, 1), (1, 1)]);
        });
    });
}

#[test]
fn without_routees_the_message_comes_back() {
    check(|| {
        for router in
            [Router::new(Routing::SmallestMailbox), Router::consistent_hash(|item: &Item| item.0)]
        {
            assert_eq!(router.send(Item(1)), Err(RouteError::NoRoutee(Item(1))));
            assert_eq!(router.broadcast(Item(2)), Err(RouteError::NoRoutee(Item(2))));
            let nobody = AskError::Stopped(ExitReason::NoActor);
            assert_eq!(router.ask(Item(3)).wait(), Err(nobody));
            assert_eq!(router.ask_first(Item(4)).wait().unwrap_err().reasons, []);
            let (clerks, _) = clerks(2);
            let router = routed(router, &clerks);
            clerks.iter().for_each(end);
            assert_eq!(router.broadcast(Item(5)), Err(RouteError::NoRoutee(Item(5))));
            assert_eq!(router.send(Item(6)), Err(RouteError::NoRoutee(Item(6))));
            assert!(router.routees().is_empty());
        }
    });
}

#[test]
fn routees_that_end_lose_nothing_that_was_routed_after() {
    sim::check(|| {
        let (clerks, log) = clerks(3);
        let router = routed(Router::new(Routing::RoundRobin), &clerks);
        let victim = clerks[1].clone();
        let killer = sim::thread(move || victim.kill().unwrap());
        let asks: Vec<_> = (0..6).map(|n| router.ask(Item(n))).collect();
        killer.wait().unwrap();
        // Each was handled, or had the victim's mailbox as its last station, and says so.
        let mut handled = 0;
        for ask in asks {
            match ask.wait() {
                Ok(_) => handled += 1,
                Err(why) => assert_eq!(why, AskError::Stopped(ExitReason::Killed)),
            }
        }
        assert_eq!(log.len(), handled);
        clerks[1].ended().wait().unwrap();
        router.send(Item(7)).unwrap();
        router.send(Item(8)).unwrap();
        assert_eq!(router.routees().len(), 2);
    });
}

#[test]
fn a_routee_can_be_taken_out() {
    check(|| {
        let (clerks, _) = clerks(2);
        let router = routed(Router::new(Routing::RoundRobin), &clerks);
        assert!(router.remove(clerks[0].id()) && !router.remove(clerks[0].id()));
        for n in 0..3 {
            assert_eq!(router.ask(Item(n)).wait(), Ok(1));
        }
    });
}

#[test]
fn the_first_answer_counts() {
    check_with_faults(|_| {
        let (clerks, _) = clerks(4);
        let router = routed(Router::new(Routing::RoundRobin), &clerks);
        assert_eq!(router.ask_first(Question).wait(), Ok(3));
    });
}

#[test]
fn if_nobody_answers_each_says_why() {
    check_with_faults(|_| {
        let (clerks, _) = clerks(3);
        let router = routed(Router::new(Routing::RoundRobin), &clerks);
        let error = router.ask_first(Question).wait().unwrap_err();
        let reasons: HashMap<_, _> = error.reasons.iter().cloned().collect();
        assert_eq!(reasons.len(), 3, "{error}");
        assert_eq!(reasons[&clerks[0].id()], AskError::NoReply);
        assert_eq!(reasons[&clerks[1].id()], AskError::NoReply);
        assert_eq!(reasons[&clerks[2].id()], AskError::Panicked("what a question".into()));
    });
}

#[test]
fn a_scatter_can_time_out() {
    sim::check(|| {
        let (clerks, _) = clerks(2);
        clerks.iter().for_each(|clerk| clerk.suspend().unwrap());
        let router = routed(Router::<Item>::new(Routing::RoundRobin), &clerks);
        let second = Duration::from_secs(1);
        let error = router.ask_first(Item(1)).timeout(second).wait().unwrap_err();
        assert!(error.reasons.iter().all(|(_, why)| *why == AskError::Timeout(second)));
        assert_eq!(error.reasons.len(), 2);
        clerks.iter().for_each(|clerk| clerk.resume().unwrap());
    });
}

#[test]
fn routers_stand_behind_routers_and_topics() {
    check(|| {
        let (clerks, log) = clerks(4);
        let outer = Router::new(Routing::SmallestMailbox);
        for pair in clerks.chunks(2) {
            let inner = routed(Router::new(Routing::SmallestMailbox), &pair.to_vec());
            assert!(outer.add(inner));
        }
        clerks.iter().for_each(|clerk| clerk.suspend().unwrap());
        let asks: Vec<_> = (0..4).map(|n| outer.ask(Item(n))).collect();
        outer.send(Item(4)).unwrap();
        clerks.iter().for_each(|clerk| clerk.resume().unwrap());
        let mut names: Vec<_> = asks.into_iter().map(|ask| ask.wait().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, [0, 1, 2, 3], "each one was the least busy once");

        #[derive(Clone)]
        struct News;
        impl Message for News {
            type Reply = ();
        }
        impl Handler<News> for Clerk {
            fn handle(&mut self, _: News, _: &mut Context<Self>) {
                self.log.push((self.name, 5));
            }
        }
        let topic = Topic::new();
        let router = routed(Router::new(Routing::RoundRobin), &clerks);
        let subscription = topic.subscribe(router);
        assert_eq!(topic.publish(News), 1);
        finally(move || {
            assert_eq!(log.len(), 6);
            drop(subscription);
        });
    });
}

#[test]
fn an_ask_through_two_empty_routers_fails() {
    check(|| {
        let outer = Router::new(Routing::RoundRobin);
        outer.add(Router::<Item>::new(Routing::RoundRobin));
        let nobody = AskError::Stopped(ExitReason::NoActor);
        assert_eq!(outer.ask(Item(1)).wait(), Err(nobody));
        let recipient = outer.to_recipient();
        assert_eq!(recipient.ask(Item(1)).wait(), Err(AskError::Stopped(ExitReason::NoActor)));
        assert_eq!(recipient.send(Item(2)), Err(SendError::Stopped(Item(2))));
    });
}

/// Asks a routee, and is held until there is an answer.
struct Caller(Router<Call>);

impl Actor for Caller {}

struct Call(u32);

impl Message for Call {
    type Reply = Result<(), AskError>;
}

impl Receive<Call> for Caller {
    fn receive(
        &mut self,
        call: Call,
        reply: Reply<Result<(), AskError>>,
        context: &mut Context<Self>,
    ) {
        context.hold(reply, move |caller, _| {
            Box::pin(async move {
                match call.0 {
                    0 => Ok(()),
                    more => caller.0.ask(Call(more - 1)).await?,
                }
            })
        });
    }
}

#[test]
fn an_ask_through_routers_that_can_never_be_answered_fails() {
    check(|| {
        for strategy in [Routing::RoundRobin, Routing::SmallestMailbox] {
            let routers = [Router::new(strategy), Router::new(strategy)];
            let callers = routers.clone().map(|router| spawn(Caller(router)));
            routers[0].add(callers[1].clone());
            // Through one more router, and by another way.
            let between = Router::new(strategy);
            between.add(callers[0].clone());
            routers[1].add(between.clone());
            assert_eq!(callers[0].ask(Call(1)).wait(), Ok(Ok(())));
            let answer = callers[0].ask(Call(2)).wait().unwrap();
            assert!(matches!(answer, Err(AskError::Cycle(_))), "{answer:?}");
            // The routers keep the callers alive, and these the routers.
            routers[0].remove(callers[1].id());
            between.remove(callers[0].id());
        }
    });
}

/// A router among routees is one of them.
#[test]
fn a_broadcast_over_routers_reaches_one_of_each() {
    check(|| {
        let (clerks, log) = clerks(5);
        let inner = [&clerks[..2], &clerks[2..4]].map(|clerks| {
            let router: Router<Item> = Router::new(Routing::RoundRobin);
            clerks.iter().for_each(|clerk| assert!(router.add(clerk.clone())));
            router
        });
        let outer: Router<Item> = Router::new(Routing::RoundRobin);
        inner.iter().for_each(|router| assert!(outer.add(router.to_recipient())));
        assert!(outer.add(clerks[4].clone()));
        assert_eq!(outer.broadcast(Item(1)), Ok(3));
        assert_eq!(outer.broadcast(Item(2)), Ok(3));
        finally(move || {
            let mut log = log.take();
            log.sort_unstable();
            assert_eq!(log, [(0, 1), (1, 2), (2, 1), (3, 2), (4, 1), (4, 2)]);
        });
    });
}

/// Who comes to itself again is passed over.
#[test]
fn routers_in_a_circle_end() {
    check(|| {
        let (clerks, log) = clerks(1);
        let routers = [(); 3].map(|()| Router::<Item>::new(Routing::RoundRobin));
        for router in &routers {
            routers.iter().for_each(|other| assert!(router.add(other.clone())));
        }
        let [first, ..] = &routers;
        assert!(matches!(first.send(Item(1)), Err(RouteError::NoRoutee(Item(1)))));
        let nobody = AskError::Stopped(ExitReason::NoActor);
        assert_eq!(first.ask(Item(1)).wait(), Err(nobody));
        assert!(first.broadcast(Item(1)).is_err());
        routers[2].add(clerks[0].clone());
        assert!(first.send(Item(2)).is_ok());
        finally(move || {
            assert_eq!(log.take(), [(0, 2)]);
            // They keep each other alive.
            for router in &routers {
                router.routees().iter().for_each(|routee| _ = router.remove(routee.id()));
            }
        });
    });
}

/// Sends further items through routers when it gets one.
struct Further(Option<Recipient<Item>>, Log<u32>);

impl Actor for Further {}

impl Handler<Item> for Further {
    fn handle(&mut self, Item(n): Item, _: &mut Context<Self>) -> usize {
        self.1.push(n);
        if let Some(routers) = self.0.as_ref().filter(|_| n < 3) {
            routers.send(Item(n + 1)).unwrap();
        }
        0
    }
}

/// What a routee on its callers sends is another message, which may pass the same routers.
#[test]
fn a_routee_on_its_callers_sends_through_the_routers_that_it_is_called_from() {
    check(|| {
        let log = Log::new();
        let further = actor(Further(None, log.clone())).on(Host::caller()).spawn();
        let [outer, inner] = [(); 2].map(|()| Router::<Item>::new(Routing::RoundRobin));
        assert!(outer.add(inner.clone()) && inner.add(further.clone()));
        let routers = outer.to_recipient();
        let again = routers.clone();
        call(&further, move |further| further.0 = Some(again)).wait().unwrap();
        routers.send(Item(1)).unwrap();
        finally(move || {
            assert_eq!(log.take(), [1, 2, 3]);
            // They keep each other alive.
            inner.remove(further.id());
        });
    });
}

//! Asks that could never be answered.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Barrier};
use std::task::{self, Poll, Waker};
use std::time::Duration;

use coact::Context;
use coact::actor::{AskCycle, Spawn};
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::system::Host;
use coact::time::sleep;
use coact_tests::{Dice, Faults, PATIENCE, check, finally, runtime};
use futures::StreamExt;
use futures::stream::FuturesUnordered;

/// Asks the next one, held, and adds its own number to the answer.
struct Link {
    number: u64,
    next: Option<Addr<Link>>,
}

impl Actor for Link {}

/// Asked of the first, asks this number further on.
struct Sum(u32);

impl Message for Sum {
    type Reply = Result<u64, AskError>;
}

impl Receive<Sum> for Link {
    fn receive(
        &mut self,
        sum: Sum,
        reply: Reply<Result<u64, AskError>>,
        context: &mut Context<Self>,
    ) {
        context.hold(reply, move |link, _| {
            Box::pin(async move {
                match &link.next {
                    Some(next) if sum.0 > 0 => Ok(link.number + next.ask(Sum(sum.0 - 1)).await??),
                    _ => Ok(link.number),
                }
            })
        });
    }
}

struct SetNext(Option<Addr<Link>>);

impl Message for SetNext {
    type Reply = ();
}

impl Handler<SetNext> for Link {
    fn handle(&mut self, next: SetNext, _: &mut Context<Self>) {
        self.next = next.0;
    }
}

/// So many, each the next of the one before.
fn chain(count: u64) -> Vec<Addr<Link>> {
    let links: Vec<_> = (0..count).map(|number| spawn(Link { number, next: None })).collect();
    for pair in links.windows(2) {
        pair[0].send(SetNext(Some(pair[1].clone()))).unwrap();
    }
    links
}

/// The addresses that the actors have of one another would keep them alive.
fn untie(links: Vec<Addr<Link>>) {
    links.iter().for_each(|link| link.send(SetNext(None)).unwrap());
}

#[track_caller]
fn cycle_of(answer: Result<Result<u64, AskError>, AskError>) -> Arc<AskCycle> {
    match answer {
        Ok(Err(AskError::Cycle(cycle))) => cycle,
        other => panic!("no circle was found: {other:?}"),
    }
}

#[test]
fn a_chain_of_held_asks_is_no_cycle() {
    check(|| {
        let links = chain(5);
        assert_eq!(links[0].ask(Sum(10)).wait(), Ok(Ok(10)));
        untie(links);
    });
}

#[test]
fn an_actor_that_asks_itself() {
    check(|| {
        let links = chain(1);
        links[0].send(SetNext(Some(links[0].clone()))).unwrap();
        let cycle = cycle_of(links[0].ask(Sum(1)).wait());
        let name = format!("{:?}", links[0].to_any());
        assert_eq!(cycle.to_string(), format!("{name} waits for {name}"));
        untie(links);
    });
}

#[test]
fn m8_actors_that_ask_in_a_ring() {
    check(|| {
        let links = chain(3);
        links[2].send(SetNext(Some(links[0].clone()))).unwrap();
        let cycle = cycle_of(links[0].ask(Sum(3)).wait());
        let names: Vec<_> = links.iter().map(|link| format!("{:?}", link.to_any())).collect();
        let [a, b, c] = &names[..] else { unreachable!() };
        let told = format!("{c} waits for {a}, {a} waits for {b}, {b} waits for {c}");
        assert_eq!(cycle.to_string(), told);
        // And they go on.
        assert_eq!(links[0].ask(Sum(2)).wait(), Ok(Ok(3)));
        untie(links);
    });
}

/// An actor that has stashed an ask, and asks the asker in turn: the ask waits for it as if it were
/// in its queue.
#[test]
fn m8_a_cycle_through_a_stashed_ask() {
    struct Stasher {
        asker: Addr<Link>,
        is_open: bool,
    }

    impl Actor for Stasher {}

    impl Receive<Sum> for Stasher {
        fn receive(
            &mut self,
            sum: Sum,
            reply: Reply<Result<u64, AskError>>,
            context: &mut Context<Self>,
        ) {
            if self.is_open {
                reply.send(Ok(7));
            } else {
                context.stash(sum, reply).expect("it has no bound");
            }
        }
    }

    struct Open;

    impl Message for Open {
        type Reply = bool;
    }

    impl Receive<Open> for Stasher {
        fn receive(&mut self, _: Open, reply: Reply<bool>, context: &mut Context<Self>) {
            self.is_open = true;
            context.hold(reply, |stasher, context| {
                Box::pin(async move {
                    let answer = stasher.asker.ask(Sum(0)).await;
                    context.unstash_all();
                    matches!(answer, Err(AskError::Cycle(_)))
                })
            });
        }
    }

    struct Via(Addr<Stasher>);

    impl Message for Via {
        type Reply = Result<u64, AskError>;
    }

    impl Receive<Via> for Link {
        fn receive(
            &mut self,
            via: Via,
            reply: Reply<Result<u64, AskError>>,
            context: &mut Context<Self>,
        ) {
            context.hold(reply, move |_, _| Box::pin(async move { via.0.ask(Sum(0)).await? }));
        }
    }

    check(|| {
        let links = chain(1);
        let stasher = spawn(Stasher { asker: links[0].clone(), is_open: false });
        let asked = links[0].ask(Via(stasher.clone()));
        // It has stashed the ask when it handles this, or gets it later: there is a circle in any
        // case, unless the first one has its answer by then.
        stasher.ask(Open).wait().unwrap();
        assert!(matches!(asked.wait().unwrap(), Ok(7) | Err(AskError::Cycle(_))));
        untie(links);
    });
}

/// Two that ask each other at the same time: at least one of them fails, and neither waits for
/// ever.
#[test]
fn two_that_ask_each_other_at_once() {
    check(|| {
        let links = chain(2);
        links[1].send(SetNext(Some(links[0].clone()))).unwrap();
        let (one, two) = (links[0].ask(Sum(1)), links[1].ask(Sum(1)));
        let answers = [one.wait().unwrap(), two.wait().unwrap()];
        for answer in &answers {
            assert!(matches!(answer, Ok(1) | Err(AskError::Cycle(_))), "{answer:?}");
        }
        untie(links);
    });
}

/// A holds itself and asks B, in whose queue a behaviour over both stands before the message.
#[test]
fn a_cycle_through_a_behaviour() {
    check(|| {
        let links = chain(2);
        let (held, go) = Promise::<()>::channel();
        let peer = links[1].clone();
        let asked = links[0].ask(Ahead(go, peer));
        // Behind A's handler, and before its message to B.
        let passed = call((&links[0], &links[1]), |(a, b)| a.number + b.number);
        held.resolve(());
        let cycle = cycle_of(asked.wait());
        let (a, b) = (links[0].to_any(), links[1].to_any());
        let told =
            format!("{a:?} waits for {b:?} (which waits behind a behaviour that needs {a:?})");
        assert_eq!(cycle.to_string(), told);
        assert_eq!(passed.wait(), Ok(1));
        untie(links);
    });
}

/// The same with another actor on the way, that waits for a cown only.
#[test]
fn a_cycle_through_a_chain_of_behaviours() {
    check(|| {
        let links = chain(2);
        let between = Cown::new(0);
        let (held, go) = Promise::<()>::channel();
        let asked = links[0].ask(Ahead(go, links[1].clone()));
        let first = call((&links[0], &between), |(a, between)| *between += a.number);
        let second = call((&between, &links[1]), |(between, b)| *between + b.number);
        held.resolve(());
        cycle_of(asked.wait());
        first.wait().unwrap();
        assert_eq!(second.wait(), Ok(1));
        untie(links);
    });
}

/// Behaviours that stand behind the message close no circle.
#[test]
fn behaviours_behind_the_message_are_no_cycle() {
    check(|| {
        let links = chain(2);
        let slow = links[0].ask(Slow(links[1].clone()));
        let passed = call((&links[0], &links[1]), |(a, b)| a.number + b.number);
        let answer = slow.wait().unwrap();
        assert!(matches!(answer, Ok(_) | Err(AskError::Cycle(_))), "{answer:?}");
        assert_eq!(passed.wait(), Ok(1));
        untie(links);
    });
}

/// The one that asks first waits for a promise, held.
struct Ahead(Promise<()>, Addr<Link>);

impl Message for Ahead {
    type Reply = Result<u64, AskError>;
}

impl Receive<Ahead> for Link {
    fn receive(
        &mut self,
        ahead: Ahead,
        reply: Reply<Result<u64, AskError>>,
        context: &mut Context<Self>,
    ) {
        let Ahead(go, peer) = ahead;
        context.hold(reply, move |_, _| {
            Box::pin(async move {
                go.await.unwrap();
                peer.ask(Sum(0)).await?
            })
        });
    }
}

/// Asks the peer, which takes its time.
struct Slow(Addr<Link>);

impl Message for Slow {
    type Reply = Result<u64, AskError>;
}

impl Receive<Slow> for Link {
    fn receive(
        &mut self,
        slow: Slow,
        reply: Reply<Result<u64, AskError>>,
        context: &mut Context<Self>,
    ) {
        context.hold(reply, move |_, _| Box::pin(async move { slow.0.ask(Nap).await }));
    }
}

struct Nap;

impl Message for Nap {
    type Reply = u64;
}

impl Receive<Nap> for Link {
    fn receive(&mut self, _: Nap, reply: Reply<u64>, context: &mut Context<Self>) {
        context.detach(reply, async {
            sleep(Duration::from_millis(3)).await.unwrap();
            7
        });
    }
}

/// An answer that is left to an actor that waits for the one that asks.
#[test]
fn a_cycle_through_a_forwarded_ask() {
    struct Front(Option<Addr<Link>>);
    impl Actor for Front {}
    impl Receive<Sum> for Front {
        fn receive(
            &mut self,
            sum: Sum,
            reply: Reply<Result<u64, AskError>>,
            _: &mut Context<Self>,
        ) {
            self.0.as_ref().unwrap().forward(sum, reply).unwrap();
        }
    }
    struct Through(Addr<Front>);
    impl Message for Through {
        type Reply = Result<u64, AskError>;
    }
    impl Receive<Through> for Link {
        fn receive(
            &mut self,
            through: Through,
            reply: Reply<Result<u64, AskError>>,
            context: &mut Context<Self>,
        ) {
            context.hold(reply, move |_, _| Box::pin(async move { through.0.ask(Sum(0)).await? }));
        }
    }
    check(|| {
        let links = chain(1);
        let front = spawn(Front(Some(links[0].clone())));
        let asked = links[0].ask(Through(front));
        cycle_of(asked.wait());
        finally(move || untie(links));
    });
}

/// One that is held for its answer only after the asker has begun to wait.
#[test]
fn a_cycle_through_one_that_is_held_late() {
    struct Late(Addr<Link>, Arc<Barrier>);
    impl Message for Late {
        type Reply = Result<u64, AskError>;
    }
    impl Receive<Late> for Link {
        fn receive(
            &mut self,
            Late(asker, asked): Late,
            reply: Reply<Result<u64, AskError>>,
            context: &mut Context<Self>,
        ) {
            // The message is handled, and then it is waited for.
            asked.wait();
            asked.wait();
            context.hold(reply, move |_, _| Box::pin(async move { asker.ask(Sum(0)).await? }));
        }
    }
    struct Begin(Addr<Link>);
    impl Message for Begin {
        type Reply = Result<u64, AskError>;
    }
    impl Receive<Begin> for Link {
        fn receive(
            &mut self,
            Begin(other): Begin,
            reply: Reply<Result<u64, AskError>>,
            context: &mut Context<Self>,
        ) {
            context.hold(reply, move |_, context| {
                let this = context.address();
                Box::pin(async move {
                    let asked = Arc::new(Barrier::new(2));
                    let mut ask = other.ask(Late(this, Arc::clone(&asked)));
                    asked.wait();
                    let polled = poll_fn(|task| Poll::Ready(Pin::new(&mut ask).poll(task))).await;
                    assert!(polled.is_pending());
                    asked.wait();
                    ask.await?
                })
            });
        }
    }
    let runtime = runtime(2, &Faults::new());
    let _entered = runtime.enter();
    let links = chain(2);
    let asked = links[0].ask(Begin(links[1].clone()));
    cycle_of(asked.timeout(PATIENCE).wait());
    untie(links);
}

/// What joins several futures polls each only when its own waker was woken.
#[test]
fn a_cycle_among_futures_that_are_joined() {
    struct Joined;
    impl Message for Joined {
        type Reply = Result<u64, AskError>;
    }
    impl Receive<Joined> for Link {
        fn receive(
            &mut self,
            _: Joined,
            reply: Reply<Result<u64, AskError>>,
            context: &mut Context<Self>,
        ) {
            context.hold(reply, |_, context| {
                let this = context.address();
                Box::pin(async move {
                    let mut asks: FuturesUnordered<_> = (0..3).map(|_| this.ask(Sum(0))).collect();
                    asks.next().await.expect("there are three")?
                })
            });
        }
    }
    check(|| {
        let links = chain(1);
        cycle_of(links[0].ask(Joined).wait());
    });
}

/// Every way to ask from inside of a held actor is looked at.
#[test]
fn an_actor_that_asks_itself_by_way_of_its_mailbox() {
    struct Detour(u8);
    impl Message for Detour {
        type Reply = Result<u64, AskError>;
    }
    impl Receive<Detour> for Link {
        fn receive(
            &mut self,
            by: Detour,
            reply: Reply<Result<u64, AskError>>,
            context: &mut Context<Self>,
        ) {
            context.hold(reply, move |_, context| {
                let this = context.address();
                Box::pin(async move {
                    match by.0 {
                        0 => this.ask_in(0, Sum(0)).await?,
                        1 => this.ask_async(Sum(0)).await?,
                        _ => this.to_recipient().ask(Sum(0)).await?,
                    }
                })
            });
        }
    }
    for mailbox in [Mailbox::unbounded(), Mailbox::bounded(2), Mailbox::lanes(2)] {
        check(move || {
            let link = Link { number: 1, next: None };
            let link = actor(link).mailbox(mailbox.clone()).spawn();
            for by in 0..3 {
                cycle_of(link.ask(Detour(by)).wait());
            }
        });
    }
}

/// Asks the next one on a way, held.
struct Along {
    way: Vec<Addr<Link>>,
}

impl Message for Along {
    type Reply = Result<u64, AskError>;
}

impl Receive<Along> for Link {
    fn receive(
        &mut self,
        mut along: Along,
        reply: Reply<Result<u64, AskError>>,
        context: &mut Context<Self>,
    ) {
        context.hold(reply, move |link, _| {
            Box::pin(async move {
                match along.way.pop() {
                    Some(next) => Ok(link.number + next.ask(along).await??),
                    None => Ok(link.number),
                }
            })
        });
    }
}

/// Ways that cross one another, some of them closed: each ask is answered or fails, and some do
/// fail. With behaviours over two actors between them, too.
#[test]
fn asks_along_random_ways_all_end() {
    for behaviours in [0, 3] {
        check(move || {
            let mut dice = Dice::new(11 + behaviours as u64);
            let links = chain(6);
            untie(links.clone());
            let mut asks = Vec::new();
            for round in 0..200 {
                let mut next = || links[dice.below(links.len())].clone();
                let way = (0..round % 5).map(|_| next()).collect();
                asks.push(next().ask(Along { way }).timeout(PATIENCE));
                if behaviours > 0 && round % behaviours == 0 {
                    let (a, b) = (dice.below(5), 5);
                    when((&links[a], &links[b]), |(a, b)| {
                        std::mem::swap(&mut a.number, &mut b.number)
                    });
                }
            }
            let mut failed = 0;
            for ask in asks {
                match ask.wait().expect("nobody on the way ends, or waits for ever") {
                    Err(AskError::Cycle(_)) => failed += 1,
                    answer => _ = answer.expect("an ask fails for a circle only"),
                }
            }
            assert!(failed > 0, "ways that name an actor twice are closed");
        });
    }
}

/// Queues a behaviour on an actor and another cown: from then on a search looks at the actor's
/// queue.
fn add_multi_cown_waiters(links: &[Addr<Link>]) {
    let other = Cown::new(());
    links.iter().for_each(|link| when((link, &other), |_| {}));
}

/// The search goes back along a chain of any length, on a stack of any size.
#[test]
fn a_long_chain_of_held_asks_that_ends_at_an_actor_with_multi_cown_waiters() {
    let count = 20_000;
    let runtime = runtime(2, &Faults::new());
    let links = runtime.run(|| chain(count));
    add_multi_cown_waiters(&links[links.len() - 1..]);
    let sum = count * (count - 1) / 2;
    assert_eq!(links[0].ask(Sum(count as u32)).wait(), Ok(Ok(sum)));
    untie(links);
}

/// The same where each actor has multi-cown waiters, and the last one asks the first.
#[test]
fn a_long_ring_of_actors_with_multi_cown_waiters() {
    let count = 5_000;
    let runtime = runtime(2, &Faults::new());
    let links = runtime.run(|| chain(count));
    add_multi_cown_waiters(&links);
    links[links.len() - 1].send(SetNext(Some(links[0].clone()))).unwrap();
    let cycle = cycle_of(links[0].ask(Sum(u32::MAX)).wait());
    let by: Vec<_> = cycle.asks.iter().map(|ask| ask.by.id()).collect();
    let mut all: Vec<_> = links.iter().map(Addr::id).collect();
    all.rotate_right(1);
    assert_eq!(by, all, "beginning with the one that closed it");
    untie(links);
}

/// Does something, held, and then asks the next one.
struct First<F>(F);

impl<F: Send + 'static> Message for First<F> {
    type Reply = Result<u64, AskError>;
}

impl<F: FnOnce() + Send + 'static> Receive<First<F>> for Link {
    fn receive(
        &mut self,
        First(work): First<F>,
        reply: Reply<Result<u64, AskError>>,
        context: &mut Context<Self>,
    ) {
        context.hold(reply, move |link, _| {
            Box::pin(async move {
                work();
                link.next.as_ref().expect("it has one").ask(Sum(0)).await?
            })
        });
    }
}

/// A is held, and asks B, in whose queue something stands that needs A, as `stand` has put it
/// there. They are not told apart from others by `settings` of B's.
#[track_caller]
fn is_found(
    settings: impl Fn(Spawn<Link>) -> Spawn<Link> + 'static,
    stand: impl Fn(&Addr<Link>, &Addr<Link>) + Send + Sync + Copy + 'static,
) {
    check(move || {
        let b = settings(actor(Link { number: 7, next: None })).spawn();
        let a = spawn(Link { number: 1, next: Some(b.clone()) });
        let (this, other) = (a.clone(), b.clone());
        let work = move || stand(&this, &other);
        let cycle = cycle_of(a.ask(First(work)).timeout(PATIENCE).wait());
        let [ask] = &cycle.asks[..] else { panic!("{cycle:?}") };
        assert_eq!((&ask.by, &ask.of), (&a.to_any(), &b.to_any()));
        // They go on.
        assert_eq!(a.ask(Sum(1)).timeout(PATIENCE).wait(), Ok(Ok(8)));
        untie(vec![a]);
    });
}

#[test]
fn a_cycle_by_way_of_readers() {
    is_found(|b| b, |a, b| when((a.read(), b.read()), |_| ()));
    is_found(|b| b, |a, b| when((a, b.read()), |_| ()));
    is_found(|b| b, |a, b| when((a.read(), b), |_| ()));
    is_found(|b| b, |a, b| when(read_all(&[a.clone(), b.clone()]), |_| ()));
    // Others read beside it, and before it.
    is_found(
        |b| b,
        |a, b| {
            when(b.read(), |_| ());
            when((a.read(), b.read()), |_| ());
            when(b.read(), |_| ());
        },
    );
}

/// What reads waits for something else first, which takes its time.
#[test]
fn a_cycle_by_way_of_readers_that_are_yet_to_read() {
    is_found(
        |b| b,
        |a, b| {
            let (done, gate) = Promise::<()>::channel();
            let busy = spawn(Link { number: 0, next: None });
            busy.send(Ahead(gate, b.clone())).unwrap();
            when((&busy, b), |_| ());
            when((a.read(), b.read()), |_| ());
            after(Duration::from_millis(5), (), move |()| done.resolve(()));
        },
    );
}

#[test]
fn a_cycle_through_a_mailbox_that_sorts() {
    is_found(|b| b.mailbox(Mailbox::lanes(3)), |a, b| when((a, b), |_| ()));
    is_found(|b| b.mailbox(Mailbox::bounded(4).drop_oldest()), |a, b| when((a, b), |_| ()));
    // There are messages in the lanes, before the behaviour and behind it.
    is_found(
        |b| b.mailbox(Mailbox::lanes(3)),
        |a, b| {
            (0..5).for_each(|lane| b.send_in(lane, SetNext(None)).unwrap());
            when((a.read(), b), |_| ());
            (0..5).for_each(|lane| b.send_in(lane, SetNext(None)).unwrap());
        },
    );
}

#[test]
fn a_cycle_through_a_member_of_a_group() {
    is_found(|b| b.in_group(&Group::new()), |a, b| when((a, b), |_| ()));
    is_found(|b| b.in_group(&Group::new()), |a, b| when((a.read(), b.read()), |_| ()));
    is_found(|b| b.in_group(&Group::new()).mailbox(Mailbox::lanes(2)), |a, b| when((a, b), |_| ()));
}

#[test]
fn a_cycle_through_an_actor_that_runs_on_its_callers() {
    is_found(|b| b.on(Host::caller()), |a, b| when((a, b), |_| ()));
    is_found(|b| b.on(Host::caller()), |a, b| when((a, b.read()), |_| ()));
}

/// Holds itself while it has a peeker look at an answer of its own.
struct Holder(Addr<Peeker>);

impl Actor for Holder {}

struct Hold(Addr<Holder>);

impl Message for Hold {
    type Reply = ();
}

impl Receive<Hold> for Holder {
    fn receive(&mut self, Hold(this): Hold, reply: Reply<()>, context: &mut Context<Self>) {
        context.hold(reply, |holder, _| Box::pin(async { holder.0.send(Peek(this)).unwrap() }));
    }
}

struct Count;

impl Message for Count {
    type Reply = u32;
}

impl Handler<Count> for Holder {
    fn handle(&mut self, _: Count, _: &mut Context<Self>) -> u32 {
        3
    }
}

/// Runs on its callers: asks, looks at the answer once, and leaves it.
struct Peeker(Option<Ask<u32>>);

impl Actor for Peeker {}

struct Peek(Addr<Holder>);

impl Message for Peek {
    type Reply = ();
}

impl Handler<Peek> for Peeker {
    fn handle(&mut self, Peek(at): Peek, _: &mut Context<Self>) {
        let mut ask = at.ask(Count);
        let looked = Pin::new(&mut ask).poll(&mut task::Context::from_waker(Waker::noop()));
        assert!(looked.is_pending());
        self.0 = Some(ask);
    }
}

/// What another actor's handler asks, which a future that holds an actor runs on the spot, is no
/// wait of that actor.
#[test]
fn what_a_future_runs_on_the_spot_does_not_wait_for_its_actor() {
    check(|| {
        let peeker = actor(Peeker(None)).on(Host::caller()).spawn();
        let holder = spawn(Holder(peeker.clone()));
        holder.ask(Hold(holder.clone())).wait().unwrap();
        let ask = call(&peeker, |peeker| peeker.0.take()).wait().unwrap().unwrap();
        assert_eq!(ask.wait(), Ok(3));
    });
}

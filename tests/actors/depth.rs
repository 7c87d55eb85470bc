//! Actors that own the next one, many thousand times over, in every place in which an address can
//! lie: all of them end, on a small stack.

use std::any::Any;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use coact::Context;
use coact::actor::Shared;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::pubsub::Topic;
use coact::routing::{Router, Routing};
use coact::stream::{ActorStream, Demand};
use coact::system::Host;
use coact_tests::{Log, PATIENCE};

const DEEP: usize = 20_000;

/// Calls something on a thread with little stack, inside of a runtime whose workers have as little.
fn on_a_small_stack(work: impl FnOnce(&Runtime) + Send + 'static) {
    const STACK: usize = 256 << 10;
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
        let runtime = Runtime::builder().workers(2).stack_size(STACK).build().unwrap();
        let _entered = runtime.enter();
        work(&runtime);
    });
    thread.unwrap().join().unwrap();
}

/// Keeps what it is given, in one place or the other, and counts its end.
struct Keeper {
    kept: Vec<Box<dyn Any + Send>>,
    ended: Log<()>,
}

impl Actor for Keeper {}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.ended.push(());
    }
}

/// What is to be kept, and where.
struct Keep(Place, Option<Addr<Keeper>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    State,
    /// A message in the stash.
    Stash,
    /// A future that holds the actor.
    Future,
    /// A reply, whose ask hands its answer to something that owns the next.
    Reply,
    /// A resolver, the same.
    Resolver,
    /// A message to itself that waits while the actor is suspended.
    Mailbox,
    /// A lane of its mailbox.
    Lane,
    /// Something that is called when it ends.
    Monitor,
    /// A message that comes later.
    Timer,
    /// A message that is shared.
    Shared,
    /// A stream that it reads.
    Stream,
}

impl Message for Keep {
    type Reply = ();
}

impl Receive<Keep> for Keeper {
    fn receive(&mut self, keep: Keep, reply: Reply<()>, context: &mut Context<Self>) {
        let Keep(place, next) = keep;
        match place {
            Place::State | Place::Mailbox | Place::Lane | Place::Timer => {
                self.kept.push(Box::new(next))
            }
            Place::Stash if self.kept.is_empty() => {
                self.kept.push(Box::new(()));
                context.stash(Keep(place, next), reply).unwrap_or_else(|_| panic!("there is room"));
            }
            Place::Stash => self.kept.push(Box::new(next)),
            Place::Future => context.hold(reply, |_, _| {
                Box::pin(async move {
                    std::future::pending::<()>().await;
                    drop(next);
                })
            }),
            Place::Reply => self.kept.push(Box::new(reply)),
            Place::Resolver => {
                let (resolver, promise) = Promise::<()>::channel();
                drop(promise.then((), move |(), _| drop(next)));
                self.kept.push(Box::new(resolver));
            }
            Place::Monitor => _ = context.address().on_down(move |_| drop(next)),
            Place::Shared => self.kept.push(Box::new(Shared::new(next))),
            Place::Stream => {
                let stream = futures::stream::poll_fn(move |_| {
                    let _kept = &next;
                    Poll::<Option<()>>::Pending
                });
                let feed = context.attach(stream).without_keeping_alive();
                feed.each(|()| Keep(Place::State, None));
            }
        }
    }
}

/// Makes a chain of actors, each of which keeps the one before; the last one is not kept.
fn chain(place: Place, ended: &Log<()>) -> Addr<Keeper> {
    let mut last = None;
    for _ in 0..DEEP {
        let keeper = Keeper { kept: Vec::new(), ended: ended.clone() };
        let lanes = if place == Place::Lane { Mailbox::lanes(2) } else { Mailbox::unbounded() };
        let next = actor(keeper).mailbox(lanes).spawn();
        match place {
            Place::Mailbox | Place::Lane => {
                next.suspend().unwrap();
                next.send(Keep(place, last)).unwrap();
            }
            Place::Reply => {
                let ask = next.ask(Keep(place, None));
                drop(ask.then((), move |(), _| drop(last)));
            }
            Place::Timer => {
                let _timer = next.send_later(Duration::from_micros(1), Keep(place, last));
            }
            _ => next.send(Keep(place, last)).unwrap(),
        }
        last = Some(next);
    }
    last.unwrap()
}

fn wait_for(ended: &Log<()>, what: &str) {
    let start = std::time::Instant::now();
    while ended.len() < DEEP {
        assert!(start.elapsed() < PATIENCE, "{what}: {} of {DEEP} have ended", ended.len());
        thread::yield_now();
    }
}

const PLACES: [Place; 11] = [
    Place::State,
    Place::Stash,
    Place::Future,
    Place::Reply,
    Place::Resolver,
    Place::Mailbox,
    Place::Lane,
    Place::Monitor,
    Place::Timer,
    Place::Shared,
    Place::Stream,
];

/// The last address of the last one goes, and all end one after the other.
#[test]
fn chains_of_actors_end_by_themselves() {
    for place in PLACES {
        // One that is held by a future that never ends does not end by itself.
        if place == Place::Future {
            continue;
        }
        on_a_small_stack(move |_| {
            let ended = Log::new();
            drop(chain(place, &ended));
            wait_for(&ended, &format!("{place:?}"));
        });
    }
}

/// The first one is killed.
#[test]
fn chains_of_actors_are_killed() {
    for place in PLACES {
        on_a_small_stack(move |runtime| {
            let ended = Log::new();
            let last = chain(place, &ended);
            if place == Place::Future {
                // Each of them waits for ever.
                runtime.cancel();
                drop(last);
            } else {
                last.kill().unwrap();
            }
            wait_for(&ended, &format!("{place:?}"));
        });
    }
}

/// The runtime is shut down with all of them alive, and then the last address goes.
#[test]
fn chains_of_actors_on_stopped_runtimes() {
    for place in PLACES {
        on_a_small_stack(move |_| {
            let ended = Log::new();
            let runtime = Runtime::builder().workers(1).stack_size(256 << 10).build().unwrap();
            let last = {
                let _entered = runtime.enter();
                chain(place, &ended)
            };
            runtime.shutdown(Duration::ZERO);
            drop(last);
            wait_for(&ended, &format!("{place:?}"));
        });
    }
}

/// Each passes a message on to the next.
#[test]
fn a_message_that_is_passed_on_to_the_end_of_a_chain() {
    struct Hop(Option<Addr<Hop>>);
    impl Actor for Hop {}
    struct Ping;
    impl Message for Ping {
        type Reply = u32;
    }
    impl Receive<Ping> for Hop {
        fn receive(&mut self, ping: Ping, reply: Reply<u32>, _: &mut Context<Self>) {
            match &self.0 {
                Some(next) => next.forward(ping, reply).unwrap(),
                None => reply.send(7),
            }
        }
    }
    for caller in [false, true] {
        on_a_small_stack(move |_| {
            let mut last = None;
            for _ in 0..DEEP {
                let hop = actor(Hop(last));
                last = Some(if caller { hop.on(Host::caller()) } else { hop }.spawn());
            }
            assert_eq!(last.unwrap().ask(Ping).wait(), Ok(7));
        });
    }
}

/// The reason of the last one does not hold those of all others.
#[test]
fn a_failure_that_spreads_to_the_end_of_a_chain() {
    struct Link(Option<Addr<Link>>);
    impl Actor for Link {
        fn started(&mut self, context: &mut Context<Self>) {
            if let Some(before) = &self.0 {
                context.link(before);
            }
        }
    }
    on_a_small_stack(move |_| {
        let first = spawn(Link(None));
        let mut last = first.clone();
        for _ in 0..DEEP {
            last = spawn(Link(Some(last)));
        }
        first.kill().unwrap();
        let reason = last.ended().wait().unwrap();
        assert!(matches!(&reason, ExitReason::Linked(..)), "{reason}");
        assert!(reason.to_string().ends_with("it was killed"), "{reason}");
        assert!(reason.to_string().len() < 1000, "{reason}");
    });
}

#[derive(Clone)]
struct Passed;

impl Message for Passed {
    type Reply = ();
}

#[test]
fn routers_and_topics_that_own_the_next() {
    on_a_small_stack(move |_| {
        let mut last = Router::<Passed>::new(Routing::RoundRobin);
        for _ in 0..DEEP {
            let router = Router::new(Routing::RoundRobin);
            router.add(last);
            last = router;
        }
        assert!(last.send(Passed).is_err(), "there are too many");
        drop(last);

        let mut last = Topic::<Passed>::new();
        for _ in 0..DEEP {
            let topic = Topic::new();
            let next = last;
            topic.subscribe_fn(move |Passed| _ = &next).keep();
            last = topic;
        }
        drop(last);
    });
}

#[test]
fn streams_whose_items_own_the_next() {
    struct Item(#[expect(dead_code)] Option<ActorStream<Item>>);
    struct Producer(Option<ActorStream<Item>>);
    impl Actor for Producer {}
    impl Handler<Demand<Item>> for Producer {
        fn handle(&mut self, mut demand: Demand<Item>, _: &mut Context<Self>) {
            demand.push(Item(self.0.take())).unwrap_or_else(|_| panic!("one was demanded"));
            demand.finish();
        }
    }
    on_a_small_stack(move |runtime| {
        let mut last = None;
        for _ in 0..DEEP {
            let mut stream = spawn(Producer(last)).stream::<Item>();
            // Asks for what it then never takes.
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(
                futures::Stream::poll_next(std::pin::Pin::new(&mut stream), &mut context)
                    .is_pending()
            );
            last = Some(stream);
        }
        runtime.wait_idle();
        drop(last);
    });
}

//! kameo: a tokio task an actor, messages in boxes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_bench::harness::{Finish, Measured, Setup, Stopwatch};
use coact_bench::workloads::idle::{Begun, places, witnesses};
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::error::Infallible;
use kameo::mailbox::unbounded;
use kameo::message::{Context, Message};

use crate::size::Ring;

fn runtime(setup: &Setup) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(setup.workers)
        .enable_time()
        .build()
        .expect("a runtime starts")
}

#[derive(Actor)]
struct Node {
    next: Option<ActorRef<Node>>,
    hops: u64,
    finish: Finish,
}

struct Next(ActorRef<Node>);

impl Message<Next> for Node {
    type Reply = ();

    async fn handle(&mut self, Next(next): Next, _: &mut Context<Self, ()>) {
        self.next = Some(next);
    }
}

struct Token(u64);

impl Message<Token> for Node {
    type Reply = ();

    async fn handle(&mut self, Token(done): Token, _: &mut Context<Self, ()>) {
        if done == self.hops {
            self.finish.part(done);
        } else {
            let next = self.next.as_ref().expect("the ring is closed");
            next.tell(Token(done + 1)).try_send().expect("the ring lives");
        }
    }
}

/// Tokens in a ring.
pub fn ring(setup: &Setup, size: Ring) -> Measured {
    let (finish, stopwatch) = (size.finish(), Stopwatch::default());
    let (finished, started) = (finish.clone(), stopwatch.clone());
    let runtime = runtime(setup);
    runtime.spawn(async move {
        let node = || Node { next: None, hops: size.hops_each, finish: finished.clone() };
        let nodes: Vec<_> =
            (0..size.nodes).map(|_| Node::spawn_with_mailbox(node(), unbounded())).collect();
        for (node, next) in nodes.iter().zip(nodes.iter().cycle().skip(1)) {
            node.ask(Next(next.clone())).await.expect("the ring lives");
        }
        started.start();
        for start in size.starts() {
            nodes[start].tell(Token(1)).try_send().expect("the ring lives");
        }
    });
    size.measured(stopwatch.until(&finish))
}

#[derive(Actor)]
struct Server(u64);

struct Request;

impl Message<Request> for Server {
    type Reply = u64;

    async fn handle(&mut self, _: Request, _: &mut Context<Self, u64>) -> u64 {
        self.0 += 1;
        self.0
    }
}

#[derive(Actor)]
struct Client {
    server: ActorRef<Server>,
    stopwatch: Stopwatch,
    finish: Finish,
}

struct Rounds(u64);

impl Message<Rounds> for Client {
    type Reply = ();

    async fn handle(&mut self, Rounds(rounds): Rounds, _: &mut Context<Self, ()>) {
        self.stopwatch.start();
        let mut sum = 0;
        for _ in 0..rounds {
            sum += self.server.ask(Request).await.expect("the server answers");
        }
        self.finish.part(sum);
    }
}

/// One actor asks another.
pub fn ask(setup: &Setup, rounds: u64) -> Measured {
    let (finish, stopwatch) = (Finish::after(1), Stopwatch::default());
    let runtime = runtime(setup);
    let _entered = runtime.enter();
    let server = Server::spawn_with_mailbox(Server(0), unbounded());
    let client = Client { server, stopwatch: stopwatch.clone(), finish: finish.clone() };
    let client = Client::spawn_with_mailbox(client, unbounded());
    client.tell(Rounds(rounds)).try_send().expect("the client lives");
    let (elapsed, sum) = stopwatch.until(&finish);
    Measured::new(elapsed, rounds, sum)
}

struct Number(u64);

impl Actor for Number {
    type Args = (u64, Arc<AtomicU64>);
    type Error = Infallible;

    async fn on_start(
        (number, started): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        // ORDERING: Relaxed. Only counted.
        started.fetch_add(1, Ordering::Relaxed);
        Ok(Number(number))
    }
}

struct Which;

impl Message<Which> for Number {
    type Reply = u64;

    async fn handle(&mut self, _: Which, _: &mut Context<Self, u64>) -> u64 {
        self.0
    }
}

/// Actors that are spawned, and idle once all have started.
pub fn idle(setup: &Setup, count: u64) -> Measured {
    runtime(setup).block_on(async {
        tokio::spawn(async move {
            let mut all = places(count);
            let started = Arc::new(AtomicU64::new(0));
            let begun = Begun::now();
            for (number, place) in (0..).zip(&mut all) {
                let started = Arc::clone(&started);
                *place = Some(Number::spawn_with_mailbox((number, started), unbounded()));
            }
            while started.load(Ordering::Relaxed) < count {
                tokio::task::yield_now().await;
            }
            let mut measured = begun.measured(count);
            for witness in witnesses(count) {
                let actor = all[witness as usize].as_ref().expect("all are spawned");
                measured.result += actor.ask(Which).await.expect("it answers");
            }
            measured
        })
        .await
        .expect("they are spawned")
    })
}

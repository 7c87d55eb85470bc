//! actix: actors on the one thread of an arbiter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use actix::prelude::*;
use coact_bench::harness::{Finish, Measured, Stopwatch};
use coact_bench::workloads::idle::{Begun, places, witnesses};

use crate::size::Ring;

/// Runs a future in a system, on a thread of its own.
fn in_system<R: Send + 'static>(
    body: impl AsyncFnOnce(&[ArbiterHandle]) -> R + Send + 'static,
    arbiters: usize,
) -> R {
    let system = thread::spawn(move || {
        let system = System::new();
        system.block_on(async move {
            // The system's own arbiter is the first.
            let more: Vec<Arbiter> = (1..arbiters).map(|_| Arbiter::new()).collect();
            let handles: Vec<ArbiterHandle> = std::iter::once(Arbiter::current())
                .chain(more.iter().map(Arbiter::handle))
                .collect();
            body(&handles).await
        })
    });
    system.join().expect("the system ends")
}

/// Lets the arbiter work until all is done.
async fn done(finish: &Finish) {
    let (told, over) = tokio::sync::oneshot::channel();
    let finish = finish.clone();
    thread::spawn(move || {
        finish.wait(std::time::Instant::now());
        // Whoever waits is there.
        let _ = told.send(());
    });
    over.await.expect("the work ends");
}

struct Node {
    next: Option<Addr<Node>>,
    hops: u64,
    finish: Finish,
}

impl Actor for Node {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Next(Addr<Node>);

impl Handler<Next> for Node {
    type Result = ();

    fn handle(&mut self, Next(next): Next, _: &mut Context<Self>) {
        self.next = Some(next);
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Token(u64);

impl Handler<Token> for Node {
    type Result = ();

    fn handle(&mut self, Token(done): Token, _: &mut Context<Self>) {
        if done == self.hops {
            self.finish.part(done);
        } else {
            self.next.as_ref().expect("the ring is closed").do_send(Token(done + 1));
        }
    }
}

/// Tokens in a ring whose nodes are dealt to the arbiters.
pub fn ring(arbiters: usize, size: Ring) -> Measured {
    let body = async move |arbiters: &[ArbiterHandle]| {
        let (finish, stopwatch) = (size.finish(), Stopwatch::default());
        let nodes: Vec<Addr<Node>> = (0..size.nodes)
            .map(|number| {
                let finish = finish.clone();
                let node = move |_: &mut _| Node { next: None, hops: size.hops_each, finish };
                Node::start_in_arbiter(&arbiters[number % arbiters.len()], node)
            })
            .collect();
        for (node, next) in nodes.iter().zip(nodes.iter().cycle().skip(1)) {
            node.send(Next(next.clone())).await.expect("the ring lives");
        }
        stopwatch.start();
        for start in size.starts() {
            nodes[start].do_send(Token(1));
        }
        done(&finish).await;
        size.measured(stopwatch.until(&finish))
    };
    in_system(body, arbiters)
}

struct Server(u64);

impl Actor for Server {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Request;

impl Handler<Request> for Server {
    type Result = u64;

    fn handle(&mut self, _: Request, _: &mut Context<Self>) -> u64 {
        self.0 += 1;
        self.0
    }
}

struct Client {
    server: Addr<Server>,
    stopwatch: Stopwatch,
}

impl Actor for Client {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Rounds(u64);

impl Handler<Rounds> for Client {
    type Result = ResponseFuture<u64>;

    fn handle(&mut self, Rounds(rounds): Rounds, _: &mut Context<Self>) -> ResponseFuture<u64> {
        let server = self.server.clone();
        self.stopwatch.start();
        Box::pin(async move {
            let mut sum = 0;
            for _ in 0..rounds {
                sum += server.send(Request).await.expect("the server answers");
            }
            sum
        })
    }
}

/// One actor asks another, on the same or another arbiter.
pub fn ask(arbiters: usize, rounds: u64) -> Measured {
    let body = async move |arbiters: &[ArbiterHandle]| {
        let stopwatch = Stopwatch::default();
        let server =
            Server::start_in_arbiter(arbiters.last().expect("one at least"), |_| Server(0));
        let client = Client { server, stopwatch: stopwatch.clone() }.start();
        let sum = client.send(Rounds(rounds)).await.expect("the client answers");
        let finish = Finish::after(1);
        finish.part(sum);
        let (elapsed, sum) = stopwatch.until(&finish);
        Measured::new(elapsed, rounds, sum)
    };
    in_system(body, arbiters)
}

struct Number(u64, Arc<AtomicU64>);

impl Actor for Number {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        // ORDERING: Relaxed. Only counted.
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Which;

impl Handler<Which> for Number {
    type Result = u64;

    fn handle(&mut self, _: Which, _: &mut Context<Self>) -> u64 {
        self.0
    }
}

/// Actors that are started on one arbiter, and idle once all have started.
pub fn idle(count: u64) -> Measured {
    let body = async move |_: &[ArbiterHandle]| {
        let mut all = places(count);
        let started = Arc::new(AtomicU64::new(0));
        let begun = Begun::now();
        for (number, place) in (0..).zip(&mut all) {
            *place = Some(Number(number, Arc::clone(&started)).start());
        }
        while started.load(Ordering::Relaxed) < count {
            tokio::task::yield_now().await;
        }
        let mut measured = begun.measured(count);
        for witness in witnesses(count) {
            let actor: &Addr<Number> = all[witness as usize].as_ref().expect("all are spawned");
            measured.result += actor.send(Which).await.expect("it answers");
        }
        measured
    };
    in_system(body, 1)
}

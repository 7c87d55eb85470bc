//! A client asks a server, again and again, each time waiting for the answer.

use std::time::Instant;

use coact::Context;
use coact::prelude::*;
use coact::runtime::spawn_future;
use coact_bench_workloads::{Finish, Given, Measured};

use crate::runtime;

#[derive(Actor, Default)]
struct Server {
    answers: u64,
}

#[handlers]
impl Server {
    /// Answers how often it has been asked.
    #[message]
    fn request(&mut self) -> u64 {
        self.answers += 1;
        self.answers
    }
}

#[derive(Actor)]
struct Client {
    server: Addr<Server>,
    asks: u64,
    done: Finish,
}

#[handlers]
impl Client {
    #[message]
    fn ask(&mut self, context: &mut Context<Self>) {
        context.ask(&self.server, Request, |this, answer, context| {
            match answer.expect("the server answers") {
                answers if answers == this.asks => this.done.part(answers),
                _ => this.ask(context),
            }
        });
    }
}

pub fn by_an_actor(given: &Given) -> anyhow::Result<Measured> {
    let asks = given.number("asks")?;
    runtime::run(given, asks, 1, move |done| {
        let server = spawn(Server::default());
        spawn(Client { server, asks, done }).send(Ask).expect("the client lives");
    })
}

/// Client and server share a queue.
pub fn in_a_group(given: &Given) -> anyhow::Result<Measured> {
    let asks = given.number("asks")?;
    runtime::run(given, asks, 1, move |done| {
        let group = Group::new();
        let server = actor(Server::default()).in_group(&group).spawn();
        let client = actor(Client { server, asks, done }).in_group(&group).spawn();
        client.send(Ask).expect("the client lives");
    })
}

pub fn by_a_task(given: &Given) -> anyhow::Result<Measured> {
    let asks = given.number("asks")?;
    runtime::run(given, asks, 1, move |done| {
        let server = spawn(Server::default());
        let _over = spawn_future(async move {
            let mut answers = 0;
            while answers < asks {
                answers = server.ask(Request).await.expect("the server answers");
            }
            done.part(answers);
        });
    })
}

/// A plain thread asks and sleeps until the answer is there.
pub fn by_a_thread(given: &Given) -> anyhow::Result<Measured> {
    let rounds = given.number("round_trips")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let server = spawn(Server::default());
    let start = Instant::now();
    let sum = (0..rounds).map(|_| server.ask(Request).wait().expect("the server answers")).sum();
    Ok(Measured::new(start.elapsed(), rounds, sum))
}

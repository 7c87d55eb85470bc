//! Questions with an answer.

use coact::prelude::*;

use crate::runtime;
use coact_bench_workloads::{Finish, Measured, Setup};

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

pub fn by_an_actor(setup: &Setup, asks: u64) -> Measured {
    runtime::run(setup, asks, 1, move |done| {
        let server = spawn(Server::default());
        spawn(Client { server, asks, done }).send(Ask).expect("the client lives");
    })
}

/// Client and server share a queue.
pub fn in_a_group(setup: &Setup, asks: u64) -> Measured {
    runtime::run(setup, asks, 1, move |done| {
        let group = Group::new();
        let server = actor(Server::default()).in_group(&group).spawn();
        let client = actor(Client { server, asks, done }).in_group(&group).spawn();
        client.send(Ask).expect("the client lives");
    })
}

pub fn by_a_task(setup: &Setup, asks: u64) -> Measured {
    runtime::run(setup, asks, 1, move |done| {
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

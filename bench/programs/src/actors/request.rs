//! Request and answer are messages like others.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::{Finish, Given, Measured};

use crate::runtime;

#[derive(Actor, Default)]
struct Server {
    answers: u64,
}

#[handlers]
impl Server {
    #[message]
    fn request(&mut self, client: Addr<Client>) {
        self.answers += 1;
        client.send(Answer { number: self.answers }).expect("the client waits");
    }
}

#[derive(Actor)]
struct Client {
    server: Addr<Server>,
    /// What it goes by, until it ends.
    own: Option<Addr<Client>>,
    asks: u64,
    done: Finish,
}

#[handlers]
impl Client {
    #[message]
    fn begin(&mut self, context: &mut Context<Self>) {
        self.own = Some(context.address());
        self.ask();
    }

    #[message]
    fn answer(&mut self, number: u64) {
        if number == self.asks {
            self.own = None;
            self.done.part(number);
        } else {
            self.ask();
        }
    }

    fn ask(&self) {
        let client = self.own.clone().expect("it has begun");
        self.server.send(Request { client }).expect("the server lives");
    }
}

pub fn run(given: &Given) -> anyhow::Result<Measured> {
    let asks = given.number("asks")?;
    runtime::run(given, asks, 1, move |done| {
        let server = spawn(Server::default());
        spawn(Client { server, own: None, asks, done }).send(Begin).expect("the client lives");
    })
}

//! Request and answer are messages like others.

use coact::prelude::*;

use crate::harness::{Finish, Measured, Setup};
use crate::workloads::runtime;

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
    asks: u64,
    done: Finish,
}

#[handlers]
impl Client {
    #[message]
    fn ask(&mut self, context: &mut Context<Self>) {
        self.server.send(Request { client: context.address() }).expect("the server lives");
    }

    #[message]
    fn answer(&mut self, number: u64, context: &mut Context<Self>) {
        if number == self.asks {
            self.done.part(number);
        } else {
            self.ask(context);
        }
    }
}

pub fn run(setup: &Setup, asks: u64) -> Measured {
    runtime::run(setup, asks, 1, move |done| {
        let server = spawn(Server::default());
        spawn(Client { server, asks, done }).send(Ask).expect("the client lives");
    })
}

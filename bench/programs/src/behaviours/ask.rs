//! Three ways to ask a cown. It replies with the number of requests it has seen, and the client
//! adds the replies up.

use std::time::Instant;

use coact::prelude::{Cown, call, when};
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

#[derive(Default)]
struct Server {
    requests: u64,
}

impl Server {
    fn answer(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }
}

struct Client {
    server: Cown<Server>,
    left: u64,
    sum: u64,
    finish: Finish,
}

impl Client {
    fn new(server: &Cown<Server>, rounds: u64, finish: &Finish) -> Cown<Client> {
        Cown::new(Client { server: server.clone(), left: rounds, sum: 0, finish: finish.clone() })
    }

    /// Adds a reply; says whether another request is to be made.
    fn take(&mut self, reply: u64) -> bool {
        self.sum += reply;
        self.left -= 1;
        if self.left == 0 {
            self.finish.part(self.sum);
        }
        self.left > 0
    }

    /// Sends the server a request that carries the client's address.
    fn request(&self, own: Cown<Client>) {
        when(&self.server, move |server| {
            let reply = server.answer();
            when(own, move |client| {
                let (client, own) = client.into_parts();
                if client.take(reply) {
                    client.request(own);
                }
            });
        });
    }

    /// Asks the server for a promise, and goes on when it is kept.
    fn ask(&self, own: Cown<Client>) {
        let client = own.clone();
        // The promise of the continuation has nothing to tell: the client has ended the run when it
        // is over.
        let _over = call(&self.server, Server::answer).then(&client, move |client, reply| {
            if client.take(reply.expect("the server answers")) {
                client.ask(own);
            }
        });
    }
}

/// Request and reply are a behaviour each.
pub fn behaviours(given: &Given) -> anyhow::Result<Measured> {
    let rounds = given.number("round_trips")?;
    between_cowns(given, rounds, Client::request)
}

/// The reply is a promise.
pub fn promises(given: &Given) -> anyhow::Result<Measured> {
    let rounds = given.number("round_trips")?;
    between_cowns(given, rounds, Client::ask)
}

fn between_cowns(
    given: &Given,
    rounds: u64,
    first: fn(&Client, Cown<Client>),
) -> anyhow::Result<Measured> {
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let server = Cown::new(Server::default());
    let client = Client::new(&server, rounds, &finish);
    let (started, own) = (stopwatch.clone(), client.clone());
    when(&client, move |client| {
        started.start();
        first(client, own);
    });
    let (elapsed, sum) = stopwatch.until(&finish);
    Ok(Measured::new(elapsed, rounds, sum))
}

/// A plain thread asks and sleeps until the reply is there.
pub fn waiting(given: &Given) -> anyhow::Result<Measured> {
    let rounds = given.number("round_trips")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let server = Cown::new(Server::default());
    let start = Instant::now();
    let sum = (0..rounds)
        .map(|_| call(&server, Server::answer).wait().expect("the server answers"))
        .sum();
    Ok(Measured::new(start.elapsed(), rounds, sum))
}

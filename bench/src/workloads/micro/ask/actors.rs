//! Three ways to ask an actor.

use std::time::Instant;

use coact::prelude::{Actor, Addr, Context, Group, Handler, Message, SendActor, actor, spawn};

use super::Server;
use crate::harness::{Finish, Measured, Setup, Stopwatch};
use crate::workloads::runtime;

impl Actor for Server {}

struct Request;

impl Message for Request {
    type Reply = u64;
}

impl Handler<Request> for Server {
    fn handle(&mut self, _: Request, _: &mut Context<Self>) -> u64 {
        self.answer()
    }
}

/// A request that carries the address to send the reply to.
struct Letter(Addr<Client>);

impl Message for Letter {
    type Reply = ();
}

impl Handler<Letter> for Server {
    fn handle(&mut self, Letter(client): Letter, _: &mut Context<Self>) {
        client.send(Answer(self.answer())).expect("the client waits");
    }
}

struct Client {
    server: Addr<Server>,
    left: u64,
    sum: u64,
    stopwatch: Stopwatch,
    finish: Finish,
}

impl Actor for Client {}

impl Client {
    /// Adds a reply; says whether another request is to be made.
    fn take(&mut self, reply: u64) -> bool {
        self.sum += reply;
        self.left -= 1;
        if self.left == 0 {
            self.finish.part(self.sum);
        }
        self.left > 0
    }

    fn ask(&mut self, context: &mut Context<Self>) {
        context.ask(&self.server, Request, |client, reply, context| {
            if client.take(reply.expect("the server answers")) {
                client.ask(context);
            }
        });
    }

    fn request(&self, context: &Context<Self>) {
        self.server.send(Letter(context.address())).expect("the server lives");
    }
}

/// Begin, by asking.
struct Ask;

impl Message for Ask {
    type Reply = ();
}

impl Handler<Ask> for Client {
    fn handle(&mut self, _: Ask, context: &mut Context<Self>) {
        self.stopwatch.start();
        self.ask(context);
    }
}

/// Begin, with a letter.
struct Write;

impl Message for Write {
    type Reply = ();
}

impl Handler<Write> for Client {
    fn handle(&mut self, _: Write, context: &mut Context<Self>) {
        self.stopwatch.start();
        self.request(context);
    }
}

/// The reply to a letter.
struct Answer(u64);

impl Message for Answer {
    type Reply = ();
}

impl Handler<Answer> for Client {
    fn handle(&mut self, Answer(reply): Answer, context: &mut Context<Self>) {
        if self.take(reply) {
            self.request(context);
        }
    }
}

/// The answer is brought to the asker.
pub fn asking(setup: &Setup, rounds: u64) -> Measured {
    between_actors(setup, rounds, Ask, None)
}

/// The same between two actors of one group.
pub fn asking_in_group(setup: &Setup, rounds: u64) -> Measured {
    between_actors(setup, rounds, Ask, Some(Group::new))
}

/// Request and reply are a message each.
pub fn messages(setup: &Setup, rounds: u64) -> Measured {
    between_actors(setup, rounds, Write, None)
}

fn between_actors<M: Message>(
    setup: &Setup,
    rounds: u64,
    first: M,
    group: Option<fn() -> Group>,
) -> Measured
where
    Client: Handler<M>,
{
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let group = group.map(|make| make());
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let server = place(Server::default(), group.as_ref());
    let client = Client {
        server,
        left: rounds,
        sum: 0,
        stopwatch: stopwatch.clone(),
        finish: finish.clone(),
    };
    let client = place(client, group.as_ref());
    client.send(first).expect("the client lives");
    let (elapsed, sum) = stopwatch.until(&finish);
    Measured::new(elapsed, rounds, sum)
}

fn place<A: SendActor>(state: A, group: Option<&Group>) -> Addr<A> {
    match group {
        Some(group) => actor(state).in_group(group).spawn(),
        None => spawn(state),
    }
}

/// A plain thread asks and sleeps until the reply is there.
pub fn waiting(setup: &Setup, rounds: u64) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let server = spawn(Server::default());
    let start = Instant::now();
    let sum = (0..rounds).map(|_| server.ask(Request).wait().expect("the server answers")).sum();
    Measured::new(start.elapsed(), rounds, sum)
}

//! An actor is asked.

use std::time::Instant;

use coact::prelude::{Actor, Context, Handler, Message, spawn};

use super::Server;
use crate::runtime;
use coact_bench_workloads::{Measured, Setup};

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

/// A plain thread asks and sleeps until the reply is there.
pub fn waiting(setup: &Setup, rounds: u64) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let server = spawn(Server::default());
    let start = Instant::now();
    let sum = (0..rounds).map(|_| server.ask(Request).wait().expect("the server answers")).sum();
    Measured::new(start.elapsed(), rounds, sum)
}

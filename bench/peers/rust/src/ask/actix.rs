//! A request to an actor.

use actix::prelude::*;
use coact_bench_workloads::Measured;

use super::common::{Server, Size};
use crate::system;

impl Actor for Server {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Request;

impl Handler<Request> for Server {
    type Result = u64;

    fn handle(&mut self, _: Request, _: &mut Context<Self>) -> u64 {
        self.answer()
    }
}

/// A future on the first arbiter asks an actor on the last.
pub fn run(arbiters: usize, size: Size) -> Measured {
    system::run(arbiters, size.rounds, 1, async move |arbiters, finish| {
        let place = arbiters.number(arbiters.count() - 1);
        let server = Server::start_in_arbiter(place, |_| Server::default());
        let mut tally = 0;
        for _ in 0..size.rounds {
            let answer = server.send(Request).await.expect("the server answers");
            tally = (size.tally)(tally, answer);
        }
        finish.part(tally);
    })
}

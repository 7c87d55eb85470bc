//! A request to an actor.

use coact_bench_workloads::{Given, Measured};
use kameo::Actor;
use kameo::actor::Spawn;
use kameo::mailbox::unbounded;
use kameo::message::{Context, Message};

use super::common::{Server, Size};
use crate::runtime;

#[derive(Actor)]
struct Serving(Server);

struct Request;

impl Message<Request> for Serving {
    type Reply = u64;

    async fn handle(&mut self, _: Request, _: &mut Context<Self, u64>) -> u64 {
        self.0.answer()
    }
}

/// A task asks an actor.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.rounds, 1, move |finish| async move {
        let server = Serving::spawn_with_mailbox(Serving(Server::default()), unbounded());
        let mut tally = 0;
        for _ in 0..size.rounds {
            let answer = server.ask(Request).await.expect("the server answers");
            tally = (size.tally)(tally, answer);
        }
        finish.part(tally);
    }))
}

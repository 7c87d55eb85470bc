//! A request to an actor.

use coact_bench::harness::Measured;
use coact_bench::harness::program::Given;
use kameo::Actor;
use kameo::actor::Spawn;
use kameo::mailbox::unbounded;
use kameo::message::{Context, Message};

use super::Server;
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
pub fn run(given: &Given, rounds: u64) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, rounds, 1, move |finish| async move {
        let server = Serving::spawn_with_mailbox(Serving(Server::default()), unbounded());
        let mut sum = 0;
        for _ in 0..rounds {
            sum += server.ask(Request).await.expect("the server answers");
        }
        finish.part(sum);
    }))
}

//! A request to an actor.

use coact_bench::harness::Measured;
use coact_bench::harness::program::Given;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};

use super::Server;
use crate::runtime;

struct Serving;

impl Actor for Serving {
    type Msg = RpcReplyPort<u64>;
    type State = Server;
    type Arguments = ();

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        (): (),
    ) -> Result<Server, ActorProcessingErr> {
        Ok(Server::default())
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        reply: RpcReplyPort<u64>,
        server: &mut Server,
    ) -> Result<(), ActorProcessingErr> {
        Ok(reply.send(server.answer())?)
    }
}

/// A task asks an actor.
pub fn run(given: &Given, rounds: u64) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, rounds, 1, move |finish| async move {
        let (server, _) = Actor::spawn(None, Serving, ()).await.expect("the server starts");
        let mut sum = 0;
        for _ in 0..rounds {
            sum += call!(server, |reply| reply).expect("the server answers");
        }
        finish.part(sum);
    }))
}

//! A request to an actor.

use coact_bench_workloads::{Given, Measured};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};

use super::common::{Server, Size};
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
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.rounds, 1, move |finish| async move {
        let (server, _) = Actor::spawn(None, Serving, ()).await.expect("the server starts");
        let mut tally = 0;
        for _ in 0..size.rounds {
            let answer = call!(server, |reply| reply).expect("the server answers");
            tally = (size.tally)(tally, answer);
        }
        finish.part(tally);
    }))
}

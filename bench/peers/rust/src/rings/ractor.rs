//! An actor a node.

use coact_bench_workloads::Given;
use coact_bench_workloads::work::rings::RingSizes;
use coact_bench_workloads::{Finish, Measured};
use ractor::{Actor, ActorProcessingErr, ActorRef};

use crate::runtime;

struct Node;

struct State {
    next: Option<ActorRef<Message>>,
    hops: u64,
    finish: Finish,
}

enum Message {
    Next(ActorRef<Message>),
    Token(u64),
}

impl Actor for Node {
    type Msg = Message;
    type State = State;
    type Arguments = (u64, Finish);

    async fn pre_start(
        &self,
        _: ActorRef<Message>,
        (hops, finish): Self::Arguments,
    ) -> Result<State, ActorProcessingErr> {
        Ok(State { next: None, hops, finish })
    }

    async fn handle(
        &self,
        _: ActorRef<Message>,
        message: Message,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            Message::Next(next) => state.next = Some(next),
            Message::Token(done) if done == state.hops => state.finish.part(done),
            Message::Token(done) => {
                let next = state.next.as_ref().expect("the ring is closed");
                next.cast(Message::Token(done + 1))?;
            }
        }
        Ok(())
    }
}

/// One task spawns the nodes and lets the tokens go.
pub fn run(given: &Given, size: RingSizes) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.total_hops(), size.all_tokens(), move |finish| async move {
        for _ in 0..size.rings {
            let mut nodes = Vec::with_capacity(size.nodes);
            for _ in 0..size.nodes {
                let arguments = (size.hops_each, finish.clone());
                let (node, _) = Actor::spawn(None, Node, arguments).await.expect("a node starts");
                nodes.push(node);
            }
            for (node, next) in nodes.iter().zip(nodes.iter().cycle().skip(1)) {
                node.cast(Message::Next(next.clone())).expect("the ring lives");
            }
            for start in size.starts() {
                nodes[start].cast(Message::Token(1)).expect("the ring lives");
            }
        }
    }))
}

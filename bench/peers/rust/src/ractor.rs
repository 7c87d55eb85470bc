//! ractor: a tokio task an actor, one message type each, the state apart.

use coact_bench::harness::{Finish, Measured, Setup, Stopwatch};
use coact_bench::workloads::idle::{Begun, places, witnesses};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};

use crate::size::Ring;

fn runtime(setup: &Setup) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(setup.workers)
        .enable_time()
        .build()
        .expect("a runtime starts")
}

struct Node;

struct NodeState {
    next: Option<ActorRef<NodeMessage>>,
    hops: u64,
    finish: Finish,
}

enum NodeMessage {
    Next(ActorRef<NodeMessage>, RpcReplyPort<()>),
    Token(u64),
}

impl Actor for Node {
    type Msg = NodeMessage;
    type State = NodeState;
    type Arguments = (u64, Finish);

    async fn pre_start(
        &self,
        _: ActorRef<NodeMessage>,
        (hops, finish): Self::Arguments,
    ) -> Result<NodeState, ActorProcessingErr> {
        Ok(NodeState { next: None, hops, finish })
    }

    async fn handle(
        &self,
        _: ActorRef<NodeMessage>,
        message: NodeMessage,
        state: &mut NodeState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            NodeMessage::Next(next, reply) => {
                state.next = Some(next);
                reply.send(())?;
            }
            NodeMessage::Token(done) if done == state.hops => state.finish.part(done),
            NodeMessage::Token(done) => {
                let next = state.next.as_ref().expect("the ring is closed");
                next.cast(NodeMessage::Token(done + 1))?;
            }
        }
        Ok(())
    }
}

/// Tokens in a ring.
pub fn ring(setup: &Setup, size: Ring) -> Measured {
    let (finish, stopwatch) = (size.finish(), Stopwatch::default());
    let (finished, started) = (finish.clone(), stopwatch.clone());
    let runtime = runtime(setup);
    runtime.spawn(async move {
        let mut nodes = Vec::new();
        for _ in 0..size.nodes {
            let arguments = (size.hops_each, finished.clone());
            let (node, _) = Actor::spawn(None, Node, arguments).await.expect("a node starts");
            nodes.push(node);
        }
        for (node, next) in nodes.iter().zip(nodes.iter().cycle().skip(1)) {
            call!(node, NodeMessage::Next, next.clone()).expect("the ring lives");
        }
        started.start();
        for start in size.starts() {
            nodes[start].cast(NodeMessage::Token(1)).expect("the ring lives");
        }
    });
    size.measured(stopwatch.until(&finish))
}

struct Server;

impl Actor for Server {
    type Msg = RpcReplyPort<u64>;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Self::Msg>, (): ()) -> Result<u64, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        reply: RpcReplyPort<u64>,
        requests: &mut u64,
    ) -> Result<(), ActorProcessingErr> {
        *requests += 1;
        Ok(reply.send(*requests)?)
    }
}

struct Client;

impl Actor for Client {
    type Msg = u64;
    type State = (ActorRef<RpcReplyPort<u64>>, Stopwatch, Finish);
    type Arguments = Self::State;

    async fn pre_start(
        &self,
        _: ActorRef<u64>,
        state: Self::State,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(state)
    }

    async fn handle(
        &self,
        _: ActorRef<u64>,
        rounds: u64,
        (server, stopwatch, finish): &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        stopwatch.start();
        let mut sum = 0;
        for _ in 0..rounds {
            sum += call!(server, |reply| reply)?;
        }
        finish.part(sum);
        Ok(())
    }
}

/// One actor asks another.
pub fn ask(setup: &Setup, rounds: u64) -> Measured {
    let (finish, stopwatch) = (Finish::after(1), Stopwatch::default());
    let runtime = runtime(setup);
    let state = (stopwatch.clone(), finish.clone());
    let _client = runtime.block_on(async move {
        let (server, _) = Actor::spawn(None, Server, ()).await.expect("the server starts");
        let arguments = (server, state.0, state.1);
        let (client, _) = Actor::spawn(None, Client, arguments).await.expect("the client starts");
        client.cast(rounds).expect("the client lives");
        client
    });
    let (elapsed, sum) = stopwatch.until(&finish);
    Measured::new(elapsed, rounds, sum)
}

struct Number;

impl Actor for Number {
    type Msg = RpcReplyPort<u64>;
    type State = u64;
    type Arguments = u64;

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        number: u64,
    ) -> Result<u64, ActorProcessingErr> {
        Ok(number)
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        reply: RpcReplyPort<u64>,
        number: &mut u64,
    ) -> Result<(), ActorProcessingErr> {
        Ok(reply.send(*number)?)
    }
}

/// Actors that are spawned, each of which has started when the spawn is over.
pub fn idle(setup: &Setup, count: u64) -> Measured {
    runtime(setup).block_on(async {
        tokio::spawn(async move {
            let mut all = places(count);
            let begun = Begun::now();
            for (number, place) in (0..).zip(&mut all) {
                let (actor, _) = Actor::spawn(None, Number, number).await.expect("it starts");
                *place = Some(actor);
            }
            let mut measured = begun.measured(count);
            for witness in witnesses(count) {
                let actor = all[witness as usize].as_ref().expect("all are spawned");
                measured.result += call!(actor, |reply| reply).expect("it answers");
            }
            measured
        })
        .await
        .expect("they are spawned")
    })
}

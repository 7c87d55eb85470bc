//! An actor a node.

use coact_bench_workloads::Given;
use coact_bench_workloads::work::rings::RingSizes;
use coact_bench_workloads::{Finish, Measured};
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::mailbox::unbounded;
use kameo::message::{Context, Message};

use crate::runtime;

#[derive(Actor)]
struct Node {
    next: Option<ActorRef<Node>>,
    hops: u64,
    finish: Finish,
}

struct Next(ActorRef<Node>);

impl Message<Next> for Node {
    type Reply = ();

    async fn handle(&mut self, Next(next): Next, _: &mut Context<Self, ()>) {
        self.next = Some(next);
    }
}

struct Token(u64);

impl Message<Token> for Node {
    type Reply = ();

    async fn handle(&mut self, Token(done): Token, _: &mut Context<Self, ()>) {
        if done == self.hops {
            self.finish.part(done);
        } else {
            let next = self.next.as_ref().expect("the ring is closed");
            next.tell(Token(done + 1)).try_send().expect("the ring lives");
        }
    }
}

/// One task spawns the nodes and lets the tokens go.
pub fn run(given: &Given, size: RingSizes) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.total_hops(), size.all_tokens(), move |finish| async move {
        for _ in 0..size.rings {
            let node = || Node { next: None, hops: size.hops_each, finish: finish.clone() };
            let nodes: Vec<_> =
                (0..size.nodes).map(|_| Node::spawn_with_mailbox(node(), unbounded())).collect();
            for (node, next) in nodes.iter().zip(nodes.iter().cycle().skip(1)) {
                node.tell(Next(next.clone())).try_send().expect("the ring lives");
            }
            for start in size.starts() {
                nodes[start].tell(Token(1)).try_send().expect("the ring lives");
            }
        }
    }))
}

//! An actor a node.

use actix::prelude::*;
use coact_bench_workloads::work::rings::RingSizes;
use coact_bench_workloads::{Finish, Measured};

use crate::system;

struct Node {
    next: Option<Addr<Node>>,
    hops: u64,
    finish: Finish,
}

impl Actor for Node {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Next(Addr<Node>);

impl Handler<Next> for Node {
    type Result = ();

    fn handle(&mut self, Next(next): Next, _: &mut Context<Self>) {
        self.next = Some(next);
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Token(u64);

impl Handler<Token> for Node {
    type Result = ();

    fn handle(&mut self, Token(done): Token, _: &mut Context<Self>) {
        if done == self.hops {
            self.finish.part(done);
        } else {
            self.next.as_ref().expect("the ring is closed").do_send(Token(done + 1));
        }
    }
}

/// Each ring on one arbiter.
pub fn together(arbiters: usize, size: RingSizes) -> Measured {
    run(arbiters, size, |ring, _| ring)
}

/// Neighbours on different arbiters.
pub fn apart(arbiters: usize, size: RingSizes) -> Measured {
    run(arbiters, size, |ring, node| ring + node)
}

fn run(arbiters: usize, size: RingSizes, place: fn(usize, usize) -> usize) -> Measured {
    let (hops, tokens) = (size.total_hops(), size.all_tokens());
    system::run(arbiters, hops, tokens, async move |arbiters, finish| {
        for ring in 0..size.rings {
            let start = |node| {
                let node_of = {
                    let finish = finish.clone();
                    move |_: &mut _| Node { next: None, hops: size.hops_each, finish }
                };
                Node::start_in_arbiter(arbiters.number(place(ring, node)), node_of)
            };
            let nodes: Vec<Addr<Node>> = (0..size.nodes).map(start).collect();
            for (node, next) in nodes.iter().zip(nodes.iter().cycle().skip(1)) {
                node.do_send(Next(next.clone()));
            }
            for start in size.starts() {
                nodes[start].do_send(Token(1));
            }
        }
    })
}

//! Rings with a token each, which are made after the clock has started and open themselves in the
//! end.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::{Finish, Given, Measured};

use crate::runtime;

/// How many rings of how many nodes, and the hops of each token.
struct Size {
    rings: u64,
    nodes: u64,
    hops: u64,
}

impl Size {
    fn of(given: &Given) -> anyhow::Result<Size> {
        let (rings, nodes) = (given.number("rings")?, given.number("nodes")?);
        Ok(Size { rings, nodes, hops: given.number("hops")? })
    }
}

#[derive(Actor)]
struct Node {
    next: Option<Addr<Node>>,
    hops: u64,
    done: Finish,
}

#[handlers]
impl Node {
    /// Closes the ring.
    #[message]
    fn join(&mut self, next: Addr<Node>) {
        self.next = Some(next);
    }

    #[message]
    fn token(&mut self, made: u64, context: &mut Context<Self>) {
        if made < self.hops {
            let next = self.next.as_ref().expect("the ring is closed");
            next.send(Token { made: made + 1 }).expect("the ring lives");
        } else {
            self.done.part(made);
            // Opens the ring: with its last address each ends in turn.
            context.stop();
        }
    }
}

/// The actors of a ring share one queue.
pub fn grouped(given: &Given) -> anyhow::Result<Measured> {
    let Size { rings, nodes, hops } = Size::of(given)?;
    runtime::run(given, rings * hops, rings, move |done| {
        for _ in 0..rings {
            let group = Group::new();
            ring(nodes, hops, &done, |node| actor(node).in_group(&group).spawn());
        }
    })
}

/// Each actor has a queue of its own.
pub fn ungrouped(given: &Given) -> anyhow::Result<Measured> {
    let Size { rings, nodes, hops } = Size::of(given)?;
    runtime::run(given, rings * hops, rings, move |done| {
        for _ in 0..rings {
            ring(nodes, hops, &done, spawn);
        }
    })
}

/// Makes a ring, from its last node to its first, and lets the token go.
fn ring(nodes: u64, hops: u64, done: &Finish, spawn: impl Fn(Node) -> Addr<Node>) {
    let node = |next| spawn(Node { next, hops, done: done.clone() });
    let last = node(None);
    let first = (1..nodes).fold(last.clone(), |next, _| node(Some(next)));
    last.send(Join { next: first.clone() }).expect("it has just been spawned");
    first.send(Token { made: 1 }).expect("it has just been spawned");
}

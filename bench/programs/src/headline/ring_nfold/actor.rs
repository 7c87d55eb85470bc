//! An actor a node, a message a hop.

use coact::prelude::*;

use super::RINGS;
use crate::runtime;
use coact_bench_workloads::{Finish, Measured, Setup};

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
pub fn grouped(setup: &Setup, nodes: u64, hops: u64) -> Measured {
    runtime::run(setup, RINGS * hops, RINGS, move |done| {
        for _ in 0..RINGS {
            let group = Group::new();
            ring(nodes, hops, &done, |node| actor(node).in_group(&group).spawn());
        }
    })
}

/// Each actor has a queue of its own.
pub fn ungrouped(setup: &Setup, nodes: u64, hops: u64) -> Measured {
    runtime::run(setup, RINGS * hops, RINGS, move |done| {
        for _ in 0..RINGS {
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

//! An actor a node; a message is a hop.

use coact::Context;
use coact::prelude::{Actor, Addr, Group, Handler, Message, actor, spawn, when};
use coact_bench_workloads::work::rings::RingSizes;
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

struct Node {
    next: Option<Addr<Node>>,
    hops: u64,
    finish: Finish,
}

impl Actor for Node {}

/// A token, with the number of hops that it has made.
struct Token(u64);

impl Message for Token {
    type Reply = ();
}

impl Node {
    fn pass(&self, done: u64) {
        let next = self.next.as_ref().expect("the ring is closed");
        next.send(Token(done + 1)).expect("the ring lives");
    }
}

impl Handler<Token> for Node {
    fn handle(&mut self, Token(done): Token, _: &mut Context<Self>) {
        if done == self.hops {
            self.finish.part(done);
        } else {
            self.pass(done);
        }
    }
}

pub fn run(given: &Given) -> anyhow::Result<Measured> {
    let size = RingSizes::rings(given)?;
    run_with(given, size, spawn)
}

/// The same with all nodes of a ring in one group.
pub fn run_grouped(given: &Given) -> anyhow::Result<Measured> {
    let size = RingSizes::rings(given)?;
    let (mut group, mut members) = (None, 0);
    run_with(given, size, move |node| {
        if members % size.nodes == 0 {
            group = Some(Group::new());
        }
        members += 1;
        actor(node).in_group(group.as_ref().expect("made above")).spawn()
    })
}

/// Closes the rings, lets the tokens go, and opens the rings again so that the actors end.
fn run_with(
    given: &Given,
    size: RingSizes,
    spawn: impl FnMut(Node) -> Addr<Node>,
) -> anyhow::Result<Measured> {
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(size.all_tokens());
    let stopwatch = Stopwatch::default();
    let nodes: Vec<Addr<Node>> = (0..size.rings * size.nodes)
        .map(|_| Node { next: None, hops: size.hops_each, finish: finish.clone() })
        .map(spawn)
        .collect();
    for ring in nodes.chunks(size.nodes) {
        for (node, next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            let next = next.clone();
            when(node, move |node| node.next = Some(next));
        }
    }
    let started = stopwatch.clone();
    when(nodes.as_slice(), move |nodes| {
        started.start();
        for ring in 0..size.rings {
            for start in size.starts() {
                nodes[ring * size.nodes + start].pass(0);
            }
        }
    });
    let (elapsed, hops) = stopwatch.until(&finish);
    for node in &nodes {
        when(node, |node| node.next = None);
    }
    runtime.wait_idle();
    Ok(Measured::new(elapsed, size.total_hops(), hops))
}

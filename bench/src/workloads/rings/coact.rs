//! A cown a node; a behaviour on the next node is a hop.

use coact::prelude::{Cown, when};

use super::super::runtime;
use super::Size;
use crate::harness::{Finish, Measured, Setup, Stopwatch};

struct Node {
    next: Option<Cown<Node>>,
    finish: Finish,
}

impl Node {
    /// Passes a token on that has made `done` of its hops.
    fn pass(&mut self, done: u64, hops: u64) {
        let next = self.next.as_ref().expect("the ring is closed");
        when(next, move |next| next.take(done + 1, hops));
    }

    fn take(&mut self, done: u64, hops: u64) {
        if done == hops {
            self.finish.part(done);
        } else {
            self.pass(done, hops);
        }
    }
}

/// Closes the rings, lets the tokens go, and opens the rings again so that they can be freed.
pub fn run(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(size.all_tokens());
    let stopwatch = Stopwatch::default();
    let nodes: Vec<Cown<Node>> = (0..size.rings * size.nodes)
        .map(|_| Cown::new(Node { next: None, finish: finish.clone() }))
        .collect();
    for ring in nodes.chunks(size.nodes) {
        for (node, next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            let next = next.clone();
            when(node, move |node| node.next = Some(next));
        }
    }
    let started = stopwatch.clone();
    when(&nodes, move |mut nodes| {
        started.start();
        for ring in 0..size.rings {
            for start in size.starts() {
                nodes[ring * size.nodes + start].pass(0, size.hops_each);
            }
        }
    });
    let (elapsed, hops) = stopwatch.until(&finish);
    for node in &nodes {
        when(node, |node| node.next = None);
    }
    runtime.wait_idle();
    Measured::new(elapsed, size.total_hops(), hops)
}

//! A cown a node; a behaviour on the next node is a hop. The nodes of a ring may be one group.

use coact::prelude::{Cown, Group, when};
use coact_bench_workloads::work::rings::RingSizes;
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

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

/// How the cowns of a ring are made.
type Make = fn(&Group, Node) -> Cown<Node>;

/// Each node has a queue of its own.
pub fn run(given: &Given) -> anyhow::Result<Measured> {
    let size = RingSizes::rings(given)?;
    run_with(given, size, |_, node| Cown::new(node))
}

/// The nodes of a ring are a group.
pub fn run_grouped(given: &Given) -> anyhow::Result<Measured> {
    let size = RingSizes::rings(given)?;
    run_with(given, size, |group, node| group.cown(node))
}

/// Closes the rings, lets the tokens go, and opens the rings again so that they can be freed.
fn run_with(given: &Given, size: RingSizes, make: Make) -> anyhow::Result<Measured> {
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(size.all_tokens());
    let stopwatch = Stopwatch::default();
    let mut nodes: Vec<Cown<Node>> = Vec::with_capacity(size.rings * size.nodes);
    for _ in 0..size.rings {
        let group = Group::new();
        let ring = (0..size.nodes).map(|_| Node { next: None, finish: finish.clone() });
        nodes.extend(ring.map(|node| make(&group, node)));
    }
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
    Ok(Measured::new(elapsed, size.total_hops(), hops))
}

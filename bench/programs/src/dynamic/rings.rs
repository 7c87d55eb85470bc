//! An actor a node; a message is a hop.

use std::ops::ControlFlow::{Break, Continue};

use coact::dynamic::{
    DynContext, DynThread, SameWorker, StateAddr, ThreadSpawn, atom, cases, fiber, spawn_dyn_with,
};
use coact::when;
use coact_bench_workloads::work::rings::RingSizes;
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

struct Node {
    next: Option<StateAddr<Node>>,
    hops: u64,
    finish: Finish,
}

fn node(state: Node) -> StateAddr<Node> {
    spawn_dyn_with(state, |me| {
        me.become_(cases! { |me: &mut DynContext<Node>|
            // A token, with the number of hops that it has made.
            (atom!("token"), done: u64) => {
                if done == me.state().hops {
                    me.state().finish.part(done);
                } else {
                    let next = me.state().next.as_ref().expect("the ring is closed");
                    me.send(next, (atom!("token"), done + 1)).expect("the ring lives");
                }
            },
        });
    })
}

/// The same that waits for its tokens on a stack of its own.
fn fiber_node(state: Node) -> ThreadSpawn<Node> {
    let node = fiber(state, |me: &mut DynThread<Node>| {
        me.receive_loop(cases! { |me: &mut DynThread<Node>|
            (atom!("token"), done: u64) => {
                if done == me.state().hops {
                    me.state().finish.part(done);
                } else {
                    let next = me.state().next.as_ref().expect("the ring is closed");
                    me.send(next, (atom!("token"), done + 1)).expect("the ring lives");
                }
                Continue(())
            },
            (atom!("end")) => Break(()),
        });
    });
    node.stack_size(64 * 1024)
}

/// Actors that change their cases.
pub fn run(given: &Given) -> anyhow::Result<Measured> {
    run_of(given, node, |_| {})
}

/// Actors with a stack.
pub fn on_fibers(given: &Given) -> anyhow::Result<Measured> {
    run_of(given, |state| fiber_node(state).spawn(), end)
}

/// The same, all on one worker.
pub fn on_fibers_together(given: &Given) -> anyhow::Result<Measured> {
    let together = SameWorker::new();
    run_of(given, |state| fiber_node(state).same_worker(&together).spawn(), end)
}

fn end(node: &StateAddr<Node>) {
    node.send(atom!("end")).expect("the body waits");
}

/// Closes the rings, lets the tokens go, and opens the rings again so that the actors end.
fn run_of(
    given: &Given,
    node: impl Fn(Node) -> StateAddr<Node>,
    end: fn(&StateAddr<Node>),
) -> anyhow::Result<Measured> {
    let size = RingSizes::rings(given)?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(size.all_tokens());
    let stopwatch = Stopwatch::default();
    let nodes: Vec<StateAddr<Node>> = (0..size.rings * size.nodes)
        .map(|_| node(Node { next: None, hops: size.hops_each, finish: finish.clone() }))
        .collect();
    for ring in nodes.chunks(size.nodes) {
        for (node, next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            let next = next.clone();
            when(node, move |node| node.next = Some(next));
        }
    }
    runtime.wait_idle();
    stopwatch.start();
    for ring in 0..size.rings {
        for start in size.starts() {
            // It has made this hop.
            let first = &nodes[ring * size.nodes + (start + 1) % size.nodes];
            first.send((atom!("token"), 1_u64)).expect("the ring lives");
        }
    }
    let (elapsed, hops) = stopwatch.until(&finish);
    for node in &nodes {
        when(node, |node| node.next = None);
        end(node);
    }
    runtime.wait_idle();
    Ok(Measured::new(elapsed, size.total_hops(), hops))
}

//! One token round a ring. The ring is opened at the end, and falls apart.

use coact::dynamic::{DynAddr, DynContext, atom, cases, spawn_dyn_with};
use coact_bench_workloads::Finish;

struct Node {
    next: Option<DynAddr>,
    hops: u64,
    done: Finish,
}

fn node(next: Option<DynAddr>, hops: u64, done: &Finish) -> DynAddr {
    let node = spawn_dyn_with(Node { next, hops, done: done.clone() }, |me| {
        me.become_(cases! { |me: &mut DynContext<Node>|
            (atom!("close"), next: DynAddr) => me.state_mut().next = Some(next),
            (atom!("token"), made: u64) => {
                if made == me.state().hops {
                    me.state_mut().next = None;
                    me.state().done.part(made);
                } else if let Some(next) = &me.state().next {
                    me.send(next, (atom!("token"), made + 1)).ok();
                }
            },
        });
    });
    node.into()
}

pub fn start(actors: u64, hops: u64, done: Finish) {
    let last = node(None, hops, &done);
    let first = (1..actors).fold(last.clone(), |next, _| node(Some(next), hops, &done));
    let _ = last.send((atom!("close"), first.clone()));
    let _ = first.send((atom!("token"), 0_u64));
}

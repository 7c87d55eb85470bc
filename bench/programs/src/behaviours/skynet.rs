//! A cown a node.

use coact::prelude::{Cown, when};
use coact_bench_workloads::work::tree::{Sum, WIDTH, children, nodes};
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

struct Node {
    above: Above,
    sum: Sum,
}

/// Where a node reports.
enum Above {
    Parent(Cown<Node>),
    Root(Finish),
}

impl Above {
    fn report(&self, sum: u64) {
        match self {
            Above::Root(finish) => finish.part(sum),
            Above::Parent(parent) => when(parent, move |parent| {
                if let Some(total) = parent.sum.add(sum) {
                    parent.above.report(total);
                }
            }),
        }
    }
}

fn spawn(above: Above, first: u64, leaves: u64) {
    let node = Cown::new(Node { above, sum: Sum::new() });
    if leaves == 1 {
        when(&node, move |node| node.above.report(first));
    } else {
        let parent = node.clone();
        when(&node, move |_| {
            for start in children(first, leaves) {
                spawn(Above::Parent(parent.clone()), start, leaves / WIDTH);
            }
        });
    }
}

/// Grows the tree; each node is freed when it has reported.
pub fn run(given: &Given) -> anyhow::Result<Measured> {
    let leaves = given.number("leaves")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let (started, finished) = (stopwatch.clone(), finish.clone());
    when(Cown::new(()), move |_| {
        started.start();
        spawn(Above::Root(finished), 0, leaves);
    });
    let (elapsed, sum) = stopwatch.until(&finish);
    runtime.wait_idle();
    Ok(Measured::new(elapsed, nodes(leaves), sum))
}

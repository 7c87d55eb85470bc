//! An actor a node.

use coact::prelude::{Actor, Addr, Context, Handler, Message, spawn};

use super::{Sum, WIDTH, children, nodes};
use crate::harness::{Finish, Measured, Setup, Stopwatch};
use crate::workloads::runtime;

struct Node {
    above: Above,
    first: u64,
    leaves: u64,
    sum: Sum,
}

/// Where a node reports.
enum Above {
    Parent(Addr<Node>),
    Root(Stopwatch, Finish),
}

impl Above {
    fn report(&self, sum: u64) {
        match self {
            Above::Root(_, finish) => finish.part(sum),
            Above::Parent(parent) => parent.send(Report(sum)).expect("the parent waits"),
        }
    }
}

/// A child's sum.
struct Report(u64);

impl Message for Report {
    type Reply = ();
}

impl Handler<Report> for Node {
    fn handle(&mut self, Report(sum): Report, _: &mut Context<Self>) {
        if let Some(total) = self.sum.add(sum) {
            self.above.report(total);
        }
    }
}

impl Node {
    fn new(above: Above, first: u64, leaves: u64) -> Node {
        Node { above, first, leaves, sum: Sum::new() }
    }
}

impl Actor for Node {
    fn started(&mut self, context: &mut Context<Self>) {
        if let Above::Root(stopwatch, _) = &self.above {
            stopwatch.start();
        }
        if self.leaves == 1 {
            return self.above.report(self.first);
        }
        let parent = context.address();
        for first in children(self.first, self.leaves) {
            // Its children's addresses keep a node alive, and a leaf ends at once.
            spawn(Node::new(Above::Parent(parent.clone()), first, self.leaves / WIDTH));
        }
    }
}

/// Grows the tree; each node ends when nobody has its address any more: when its children have ended.
pub fn run(setup: &Setup, leaves: u64) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    drop(spawn(Node::new(Above::Root(stopwatch.clone(), finish.clone()), 0, leaves)));
    let (elapsed, sum) = stopwatch.until(&finish);
    runtime.wait_idle();
    Measured::new(elapsed, nodes(leaves), sum)
}

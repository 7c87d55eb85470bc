//! A task and a mailbox a node.

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Sum, WIDTH, children, nodes};
use crate::harness::{Finish, Measured, Setup, Stopwatch};
use crate::workloads::runtime;

/// Where a node reports.
enum Above {
    Parent(UnboundedSender<u64>),
    Root(Finish),
}

impl Above {
    fn report(&self, sum: u64) {
        match self {
            Above::Root(finish) => finish.part(sum),
            Above::Parent(parent) => parent.send(sum).expect("the parent waits"),
        }
    }
}

/// A task cannot name its own type, so the recursion goes through this plain function.
fn spawn(above: Above, first: u64, leaves: u64) {
    tokio::spawn(async move {
        let (mailbox, mut reports) = unbounded_channel();
        if leaves == 1 {
            above.report(first);
            return;
        }
        for start in children(first, leaves) {
            spawn(Above::Parent(mailbox.clone()), start, leaves / WIDTH);
        }
        let mut sum = Sum::new();
        while let Some(report) = reports.recv().await {
            if let Some(total) = sum.add(report) {
                above.report(total);
                return;
            }
        }
    });
}

/// Grows the tree; each task ends when it has reported.
pub fn run(setup: &Setup, leaves: u64) -> Measured {
    let runtime = runtime::tokio(setup);
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let (started, finished) = (stopwatch.clone(), finish.clone());
    runtime.spawn(async move {
        started.start();
        spawn(Above::Root(finished), 0, leaves);
    });
    let (elapsed, sum) = stopwatch.until(&finish);
    Measured::new(elapsed, nodes(leaves), sum)
}

//! An actor a node, which makes its children when it starts.

use std::time::Instant;

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::work::tree::{WIDTH, nodes};
use coact_bench_workloads::{Finish, Given, Measured};

use crate::runtime;

struct Node {
    /// Where it answers, once.
    above: Option<Above>,
    first: u64,
    leaves: u64,
    sum: u64,
    missing: u64,
    /// Its own address: it lives until all children have answered.
    own: Option<Addr<Node>>,
    /// The children, where they are to stay.
    kept: Option<Vec<Addr<Node>>>,
}

enum Above {
    Parent(Addr<Node>),
    Root(Finish),
}

impl Node {
    fn new(above: Above, first: u64, leaves: u64, keeps: bool) -> Node {
        let kept = keeps.then(Vec::new);
        Node { above: Some(above), first, leaves, sum: 0, missing: WIDTH, own: None, kept }
    }

    fn tell(&mut self, sum: u64) {
        match self.above.take().expect("it answers once") {
            Above::Root(done) => done.part(sum),
            Above::Parent(parent) => parent.send(Answer { sum }).expect("the parent waits"),
        }
    }
}

impl Actor for Node {
    fn started(&mut self, context: &mut Context<Self>) {
        if self.leaves == 1 {
            return self.tell(self.first);
        }
        let (leaves, own) = (self.leaves / WIDTH, context.address());
        for child in 0..WIDTH {
            let parent = Above::Parent(own.clone());
            let first = self.first + child * leaves;
            let child = spawn(Node::new(parent, first, leaves, self.kept.is_some()));
            if let Some(kept) = &mut self.kept {
                kept.push(child);
            }
        }
        self.own = Some(own);
    }
}

#[handlers]
impl Node {
    #[message]
    fn answer(&mut self, sum: u64) {
        self.sum += sum;
        self.missing -= 1;
        if self.missing == 0 {
            self.own = None;
            self.tell(self.sum);
        }
    }
}

/// The tree lives until the clock has stopped.
pub fn kept(given: &Given) -> anyhow::Result<Measured> {
    let leaves = given.number("leaves")?;
    runtime::run(given, nodes(leaves), 1, move |done| {
        spawn(Node::new(Above::Root(done), 0, leaves, true));
    })
}

/// The clock stops when all have ended.
pub fn ended(given: &Given) -> anyhow::Result<Measured> {
    let leaves = given.number("leaves")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let done = Finish::after(1);
    let start = Instant::now();
    spawn(Node::new(Above::Root(done.clone()), 0, leaves, false));
    runtime.wait_idle();
    let elapsed = start.elapsed();
    let (_, sum) = done.wait(start);
    Ok(Measured::new(elapsed, nodes(leaves), sum))
}

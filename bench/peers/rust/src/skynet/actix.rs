//! An actor a node.

use std::sync::Arc;

use actix::prelude::*;
use coact_bench_workloads::Measured;

use super::common::{Seed, Size};
use crate::system::{self, Arbiters};
use coact_bench_workloads::work::tree::Sum;

struct Node {
    seed: Seed<Addr<Node>>,
    sum: Sum,
    /// An actor lives as long as there is an address of it.
    children: Vec<Addr<Node>>,
    /// Only the root knows them; others start their children where they are themselves.
    arbiters: Option<Arc<Arbiters>>,
}

impl Node {
    fn new(seed: Seed<Addr<Node>>, arbiters: Option<Arc<Arbiters>>) -> Node {
        Node { seed, sum: Sum::new(), children: Vec::new(), arbiters }
    }

    fn report(&self, sum: u64) {
        match &self.seed.parent {
            Some(parent) => parent.do_send(Report(sum)),
            None => self.seed.finish.part(sum),
        }
    }
}

impl Actor for Node {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        if self.seed.is_leaf() {
            self.report(self.seed.first);
            // There is no address of a leaf any more, so it ends now.
            return;
        }
        for (number, seed) in self.seed.children(&context.address()).enumerate() {
            let ends = seed.ends;
            let child = match &self.arbiters {
                Some(arbiters) => {
                    let node = move |_: &mut _| Node::new(seed, None);
                    Node::start_in_arbiter(arbiters.number(number), node)
                }
                None => Node::new(seed, None).start(),
            };
            if !ends {
                self.children.push(child);
            }
        }
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        self.seed.ended();
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Report(u64);

impl Handler<Report> for Node {
    type Result = ();

    fn handle(&mut self, Report(sum): Report, context: &mut Context<Self>) {
        let Some(total) = self.sum.add(sum) else { return };
        self.report(total);
        if self.seed.ends {
            context.stop();
        }
    }
}

/// The root is on the first arbiter.
pub fn run(arbiters: usize, size: Size) -> Measured {
    system::run(arbiters, size.nodes(), size.parts(), async move |arbiters, finish| {
        let arbiters = Arc::new(arbiters.clone());
        let root = Node::new(Seed::root(size, finish), Some(arbiters)).start();
        // Its address keeps it.
        std::future::pending::<()>().await;
        drop(root);
    })
}

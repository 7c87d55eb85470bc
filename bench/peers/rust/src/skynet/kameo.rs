//! An actor a node.

use coact_bench_workloads::{Given, Measured};
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn, WeakActorRef};
use kameo::error::{ActorStopReason, Infallible};
use kameo::mailbox::unbounded;
use kameo::message::{Context, Message};

use super::common::{Seed, Size};
use crate::runtime;
use coact_bench_workloads::work::tree::Sum;

struct Node {
    seed: Seed<ActorRef<Node>>,
    sum: Sum,
    /// An actor lives as long as there is a reference to it.
    children: Vec<ActorRef<Node>>,
}

impl Node {
    fn report(&self, sum: u64) {
        match &self.seed.parent {
            Some(parent) => parent.tell(Report(sum)).try_send().expect("the parent waits"),
            None => self.seed.finish.part(sum),
        }
    }
}

impl Actor for Node {
    type Args = Seed<ActorRef<Node>>;
    type Error = Infallible;

    async fn on_start(seed: Self::Args, this: ActorRef<Self>) -> Result<Node, Infallible> {
        let mut node = Node { seed, sum: Sum::new(), children: Vec::new() };
        if node.seed.is_leaf() {
            node.report(node.seed.first);
            // There is no reference to a leaf any more, so it ends now.
            return Ok(node);
        }
        for seed in node.seed.children(&this) {
            let ends = seed.ends;
            let child = Node::spawn_with_mailbox(seed, unbounded());
            if !ends {
                node.children.push(child);
            }
        }
        Ok(node)
    }

    async fn on_stop(
        &mut self,
        _: WeakActorRef<Self>,
        _: ActorStopReason,
    ) -> Result<(), Infallible> {
        self.seed.ended();
        Ok(())
    }
}

struct Report(u64);

impl Message<Report> for Node {
    type Reply = ();

    async fn handle(&mut self, Report(sum): Report, context: &mut Context<Self, ()>) {
        let Some(total) = self.sum.add(sum) else { return };
        self.report(total);
        if self.seed.ends {
            context.stop();
        }
    }
}

/// The root is spawned by a task.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.nodes(), size.parts(), move |finish| async move {
        let root = Node::spawn_with_mailbox(Seed::root(size, finish), unbounded());
        root.wait_for_shutdown().await;
    }))
}

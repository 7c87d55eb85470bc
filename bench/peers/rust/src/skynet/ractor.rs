//! An actor a node.

use coact_bench_workloads::{Given, Measured};
use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::common::{Seed, Size};
use crate::runtime;
use coact_bench_workloads::work::tree::Sum;

struct Node;

struct State {
    seed: Seed<ActorRef<u64>>,
    sum: Sum,
}

impl State {
    fn report(&self, this: &ActorRef<u64>, sum: u64) -> Result<(), ActorProcessingErr> {
        match &self.seed.parent {
            Some(parent) => parent.cast(sum)?,
            None => self.seed.finish.part(sum),
        }
        if self.seed.ends {
            this.stop(None);
        }
        Ok(())
    }
}

impl Actor for Node {
    /// A child's sum.
    type Msg = u64;
    type State = State;
    type Arguments = Seed<ActorRef<u64>>;

    async fn pre_start(
        &self,
        _: ActorRef<u64>,
        seed: Self::Arguments,
    ) -> Result<State, ActorProcessingErr> {
        Ok(State { seed, sum: Sum::new() })
    }

    async fn post_start(
        &self,
        this: ActorRef<u64>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        if state.seed.is_leaf() {
            return state.report(&this, state.seed.first);
        }
        for seed in state.seed.children(&this) {
            Actor::spawn(None, Node, seed).await?;
        }
        Ok(())
    }

    async fn handle(
        &self,
        this: ActorRef<u64>,
        sum: u64,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        state.sum.add(sum).map_or(Ok(()), |total| state.report(&this, total))
    }

    async fn post_stop(
        &self,
        _: ActorRef<u64>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        state.seed.ended();
        Ok(())
    }
}

/// The root is spawned by a task.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.nodes(), size.parts(), move |finish| async move {
        Actor::spawn(None, Node, Seed::root(size, finish)).await.expect("the root starts");
    }))
}

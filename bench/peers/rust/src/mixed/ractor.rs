//! Actors; a link's message and a master's is the token.

use coact_bench_workloads::work::mixed::MixedSizes;
use coact_bench_workloads::work::primes::sum_of_factors;
use coact_bench_workloads::{Given, Measured};
use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::common::{Collected, Told};
use crate::runtime;

struct Collector;

impl Actor for Collector {
    type Msg = Told;
    type State = Collected;
    type Arguments = Collected;

    async fn pre_start(
        &self,
        _: ActorRef<Told>,
        collected: Collected,
    ) -> Result<Collected, ActorProcessingErr> {
        Ok(collected)
    }

    async fn handle(
        &self,
        _: ActorRef<Told>,
        told: Told,
        collected: &mut Collected,
    ) -> Result<(), ActorProcessingErr> {
        collected.take(told);
        Ok(())
    }
}

struct Worker;

impl Actor for Worker {
    /// What is to be factorised.
    type Msg = u64;
    type State = ActorRef<Told>;
    type Arguments = ActorRef<Told>;

    async fn pre_start(
        &self,
        _: ActorRef<u64>,
        collector: ActorRef<Told>,
    ) -> Result<ActorRef<Told>, ActorProcessingErr> {
        Ok(collector)
    }

    async fn handle(
        &self,
        _: ActorRef<u64>,
        number: u64,
        collector: &mut ActorRef<Told>,
    ) -> Result<(), ActorProcessingErr> {
        Ok(collector.cast(Told::Factors(sum_of_factors(number)))?)
    }
}

struct Token(u64);

struct Link;

impl Actor for Link {
    type Msg = Token;
    /// The next one.
    type State = ActorRef<Token>;
    type Arguments = ActorRef<Token>;

    async fn pre_start(
        &self,
        _: ActorRef<Token>,
        next: ActorRef<Token>,
    ) -> Result<ActorRef<Token>, ActorProcessingErr> {
        Ok(next)
    }

    async fn handle(
        &self,
        this: ActorRef<Token>,
        Token(value): Token,
        next: &mut ActorRef<Token>,
    ) -> Result<(), ActorProcessingErr> {
        next.cast(Token(value))?;
        if value == 0 {
            this.stop(None);
        }
        Ok(())
    }
}

struct Master;

struct State {
    size: MixedSizes,
    collector: ActorRef<Told>,
    worker: ActorRef<u64>,
    /// Rings that have been built.
    built: u64,
    /// The first link, after which the ring comes back here.
    first: ActorRef<Token>,
}

impl State {
    async fn build(&mut self, this: ActorRef<Token>) -> Result<(), ActorProcessingErr> {
        if self.built == self.size.rebuilds {
            return Ok(self.collector.cast(Told::Over)?);
        }
        self.built += 1;
        self.worker.cast(self.size.number)?;
        self.first = this;
        for _ in 0..self.size.links {
            self.first = Actor::spawn(None, Link, self.first.clone()).await?.0;
        }
        Ok(self.first.cast(Token(self.size.token))?)
    }
}

impl Actor for Master {
    type Msg = Token;
    type State = State;
    type Arguments = (MixedSizes, ActorRef<Told>);

    async fn pre_start(
        &self,
        this: ActorRef<Token>,
        (size, collector): Self::Arguments,
    ) -> Result<State, ActorProcessingErr> {
        let (worker, _) = Actor::spawn(None, Worker, collector.clone()).await?;
        Ok(State { size, collector, worker, built: 0, first: this })
    }

    async fn post_start(
        &self,
        this: ActorRef<Token>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        state.build(this).await
    }

    async fn handle(
        &self,
        this: ActorRef<Token>,
        Token(value): Token,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match value {
            0 => state.build(this).await,
            _ => Ok(state.first.cast(Token(value - 1))?),
        }
    }
}

/// The masters are spawned by a task.
pub fn run(given: &Given, size: MixedSizes) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.messages(), 1, move |finish| async move {
        let collected = Collected::new(size, finish);
        let collector = Actor::spawn(None, Collector, collected).await;
        let (collector, _) = collector.expect("the collector starts");
        for _ in 0..size.rings {
            let arguments = (size, collector.clone());
            Actor::spawn(None, Master, arguments).await.expect("a master starts");
        }
    }))
}

//! Actors; a token comes to links and masters alike.

use coact_bench_workloads::work::mixed::MixedSizes;
use coact_bench_workloads::work::primes::sum_of_factors;
use coact_bench_workloads::{Given, Measured};
use kameo::Actor;
use kameo::actor::{ActorRef, Recipient, Spawn};
use kameo::error::Infallible;
use kameo::mailbox::unbounded;
use kameo::message::{Context, Message};

use super::common::{Collected, Told};
use crate::runtime;

#[derive(Actor)]
struct Collector(Collected);

impl Message<Told> for Collector {
    type Reply = ();

    async fn handle(&mut self, told: Told, _: &mut Context<Self, ()>) {
        self.0.take(told);
    }
}

#[derive(Actor)]
struct Worker {
    collector: ActorRef<Collector>,
}

struct Factorise(u64);

impl Message<Factorise> for Worker {
    type Reply = ();

    async fn handle(&mut self, Factorise(number): Factorise, _: &mut Context<Self, ()>) {
        let told = Told::Factors(sum_of_factors(number));
        self.collector.tell(told).try_send().expect("the collector waits");
    }
}

struct Token(u64);

#[derive(Actor)]
struct Link {
    next: Recipient<Token>,
}

impl Message<Token> for Link {
    type Reply = ();

    async fn handle(&mut self, Token(value): Token, context: &mut Context<Self, ()>) {
        self.next.tell(Token(value)).try_send().expect("the ring lives");
        if value == 0 {
            context.stop();
        }
    }
}

struct Master {
    size: MixedSizes,
    collector: ActorRef<Collector>,
    worker: ActorRef<Worker>,
    /// Rings that have been built.
    built: u64,
    /// The first link, after which the ring comes back here.
    first: Recipient<Token>,
}

impl Master {
    fn build(&mut self, this: &ActorRef<Self>) {
        if self.built == self.size.rebuilds {
            self.collector.tell(Told::Over).try_send().expect("the collector waits");
            return;
        }
        self.built += 1;
        self.worker.tell(Factorise(self.size.number)).try_send().expect("the worker lives");
        let last = this.clone().recipient();
        self.first = (0..self.size.links)
            .fold(last, |next, _| Link::spawn_with_mailbox(Link { next }, unbounded()).recipient());
        let token = Token(self.size.token);
        self.first.tell(token).try_send().expect("the ring has just been built");
    }
}

impl Actor for Master {
    type Args = (MixedSizes, ActorRef<Collector>);
    type Error = Infallible;

    async fn on_start(
        (size, collector): Self::Args,
        this: ActorRef<Self>,
    ) -> Result<Master, Infallible> {
        let worker =
            Worker::spawn_with_mailbox(Worker { collector: collector.clone() }, unbounded());
        let first = this.clone().recipient();
        let mut master = Master { size, collector, worker, built: 0, first };
        master.build(&this);
        Ok(master)
    }
}

impl Message<Token> for Master {
    type Reply = ();

    async fn handle(&mut self, Token(value): Token, context: &mut Context<Self, ()>) {
        if value == 0 {
            self.build(context.actor_ref());
        } else {
            self.first.tell(Token(value - 1)).try_send().expect("the ring lives");
        }
    }
}

/// The masters are spawned by a task.
pub fn run(given: &Given, size: MixedSizes) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.messages(), 1, move |finish| async move {
        let collected = Collected::new(size, finish);
        let collector = Collector::spawn_with_mailbox(Collector(collected), unbounded());
        for _ in 0..size.rings {
            Master::spawn_with_mailbox((size, collector.clone()), unbounded());
        }
    }))
}

//! A collector; and for each ring a master, which builds it, and a worker, which factorises.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::work::mixed::MixedSizes;
use coact_bench_workloads::work::primes::sum_of_factors;
use coact_bench_workloads::{Finish, Given, Measured};

use crate::runtime;

#[derive(Actor)]
struct Collector {
    missing: u64,
    sum: u64,
    done: Finish,
}

#[handlers]
impl Collector {
    #[message]
    fn factors(&mut self, sum: u64) {
        self.sum += sum;
        self.told();
    }

    /// A master has no ring to build any more.
    #[message]
    fn over(&mut self) {
        self.told();
    }

    fn told(&mut self) {
        self.missing -= 1;
        if self.missing == 0 {
            self.done.part(self.sum);
        }
    }
}

#[derive(Actor)]
struct Worker {
    collector: Addr<Collector>,
}

#[handlers]
impl Worker {
    #[message]
    fn factorise(&mut self, number: u64) {
        let sum = sum_of_factors(number);
        self.collector.send(Factors { sum }).expect("the collector waits");
    }
}

/// The token comes to links and masters alike.
#[derive(Message)]
struct Token(u64);

#[derive(Actor)]
struct Link {
    next: Recipient<Token>,
}

impl Handler<Token> for Link {
    fn handle(&mut self, Token(value): Token, context: &mut Context<Self>) {
        self.next.send(Token(value)).expect("the ring lives");
        if value == 0 {
            context.stop();
        }
    }
}

#[derive(Actor)]
struct Master {
    size: MixedSizes,
    collector: Addr<Collector>,
    worker: Addr<Worker>,
    rebuilds: u64,
    first: Option<Recipient<Token>>,
}

#[handlers]
impl Master {
    #[message]
    fn build(&mut self, context: &mut Context<Self>) {
        if self.rebuilds == 0 {
            return self.collector.send(Over).expect("the collector waits");
        }
        self.rebuilds -= 1;
        self.worker.send(Factorise { number: self.size.number }).expect("the worker lives");
        let last = context.address().to_recipient();
        let first = (0..self.size.links).fold(last, |next, _| spawn(Link { next }).to_recipient());
        first.send(Token(self.size.token)).expect("the ring has just been built");
        self.first = Some(first);
    }
}

impl Handler<Token> for Master {
    fn handle(&mut self, Token(value): Token, context: &mut Context<Self>) {
        match self.first.take() {
            Some(first) if value > 0 => {
                first.send(Token(value - 1)).expect("the ring lives");
                self.first = Some(first);
            }
            _ => self.build(context),
        }
    }
}

pub fn run(given: &Given) -> anyhow::Result<Measured> {
    let size = MixedSizes::of(given)?;
    runtime::run(given, size.messages(), 1, move |done| start(size, done))
}

fn start(size: MixedSizes, done: Finish) {
    let missing = size.rings * (size.rebuilds + 1);
    let collector = spawn(Collector { missing, sum: 0, done });
    for _ in 0..size.rings {
        let collector = collector.clone();
        let worker = spawn(Worker { collector: collector.clone() });
        let rebuilds = size.rebuilds;
        let master = spawn(Master { size, collector, worker, rebuilds, first: None });
        master.send(Build).expect("it has just been spawned");
    }
}

#[cfg(test)]
mod tests {
    use coact_bench_workloads::{Given, Setup, table};

    use super::MixedSizes;

    #[test]
    fn the_full_size_is_that_of_the_paper() {
        let workload = table::named("mixed").expect("there is such a workload");
        let full = workload.sizes(&Setup { scale: 1.0, workers: 2 });
        let size = MixedSizes::of(&Given::of(&full)).expect("all sizes are given");
        assert_eq!(size.messages(), 50_005_000);
    }
}

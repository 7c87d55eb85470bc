//! Actors; a token comes to links and masters alike.

use actix::prelude::*;
use coact_bench_workloads::Measured;
use coact_bench_workloads::work::mixed::MixedSizes;
use coact_bench_workloads::work::primes::sum_of_factors;

use super::common::{Collected, Told};
use crate::system;

impl Message for Told {
    type Result = ();
}

impl Actor for Collected {
    type Context = Context<Self>;
}

impl Handler<Told> for Collected {
    type Result = ();

    fn handle(&mut self, told: Told, _: &mut Context<Self>) {
        self.take(told);
    }
}

struct Worker {
    collector: Addr<Collected>,
}

impl Actor for Worker {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Factorise(u64);

impl Handler<Factorise> for Worker {
    type Result = ();

    fn handle(&mut self, Factorise(number): Factorise, _: &mut Context<Self>) {
        self.collector.do_send(Told::Factors(sum_of_factors(number)));
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Token(u64);

struct Link {
    next: Recipient<Token>,
}

impl Actor for Link {
    type Context = Context<Self>;
}

impl Handler<Token> for Link {
    type Result = ();

    fn handle(&mut self, Token(value): Token, context: &mut Context<Self>) {
        self.next.do_send(Token(value));
        if value == 0 {
            context.stop();
        }
    }
}

struct Master {
    size: MixedSizes,
    collector: Addr<Collected>,
    worker: Addr<Worker>,
    /// Rings that have been built.
    built: u64,
    first: Option<Recipient<Token>>,
}

impl Master {
    fn build(&mut self, context: &mut Context<Self>) {
        if self.built == self.size.rebuilds {
            return self.collector.do_send(Told::Over);
        }
        self.built += 1;
        self.worker.do_send(Factorise(self.size.number));
        let last = context.address().recipient();
        let link = |next, _| Link { next }.start().recipient();
        let first: Recipient<Token> = (0..self.size.links).fold(last, link);
        first.do_send(Token(self.size.token));
        self.first = Some(first);
    }
}

impl Actor for Master {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        self.build(context);
    }
}

impl Handler<Token> for Master {
    type Result = ();

    fn handle(&mut self, Token(value): Token, context: &mut Context<Self>) {
        match &self.first {
            Some(first) if value > 0 => first.do_send(Token(value - 1)),
            _ => self.build(context),
        }
    }
}

/// The collector is on the first arbiter.
pub fn run(arbiters: usize, size: MixedSizes) -> Measured {
    system::run(arbiters, size.messages(), 1, async move |arbiters, finish| {
        let collector = Collected::new(size, finish).start();
        for number in 0..size.rings as usize {
            let collector = collector.clone();
            Master::start_in_arbiter(arbiters.number(number), move |_| {
                let worker = Worker { collector: collector.clone() }.start();
                Master { size, collector, worker, built: 0, first: None }
            });
        }
    })
}

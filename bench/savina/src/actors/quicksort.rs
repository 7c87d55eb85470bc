//! An actor a list, which has two children sort the parts of it.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::work::sorting::{Pivots, digest, join, split};

#[derive(Actor)]
struct Sorter {
    threshold: usize,
    less: Option<Vec<u64>>,
    greater: Option<Vec<u64>>,
    reply: Option<Reply<Vec<u64>>>,
}

impl Sorter {
    fn spawn(threshold: usize) -> Addr<Sorter> {
        spawn(Sorter { threshold, less: None, greater: None, reply: None })
    }
}

#[handlers]
impl Sorter {
    #[message]
    fn sort(&mut self, list: Vec<u64>, reply: Reply<Vec<u64>>, context: &mut Context<Self>) {
        let mut list = list;
        if list.len() <= self.threshold {
            list.sort_unstable();
            return reply.send(list);
        }
        self.reply = Some(reply);
        let (less, pivots, greater) = split(list);
        context.ask(&Sorter::spawn(self.threshold), Sort { list: less }, move |this, less, _| {
            this.less = less.ok();
            this.join(pivots);
        });
        context.ask(
            &Sorter::spawn(self.threshold),
            Sort { list: greater },
            move |this, list, _| {
                this.greater = list.ok();
                this.join(pivots);
            },
        );
    }

    fn join(&mut self, pivots: Pivots) {
        if self.less.is_none() || self.greater.is_none() {
            return;
        }
        let parts = self.less.take().zip(self.greater.take());
        if let (Some((less, greater)), Some(reply)) = (parts, self.reply.take()) {
            reply.send(join(less, pivots, greater));
        }
    }
}

#[derive(Actor)]
struct Client {
    done: Finish,
}

#[handlers]
impl Client {
    #[message]
    fn run(&mut self, list: Vec<u64>, threshold: usize, context: &mut Context<Self>) {
        context.ask(&Sorter::spawn(threshold), Sort { list }, |this, list, _| {
            this.done.part(digest(&list.unwrap_or_default()));
        });
    }
}

pub fn start(list: Vec<u64>, threshold: usize, done: Finish) {
    let _ = spawn(Client { done }).send(Run { list, threshold });
}

//! An actor a receiver.

use std::sync::Arc;

use actix::prelude::*;
use coact_bench_workloads::{Finish, Measured};

use super::common::{Next, Rounds, Size, read};
use crate::system::{self, Arbiters};

struct Receiver {
    sender: Addr<Sender>,
}

impl Actor for Receiver {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Page(Arc<[u8]>);

impl Handler<Page> for Receiver {
    type Result = ();

    fn handle(&mut self, Page(page): Page, _: &mut Context<Self>) {
        self.sender.do_send(Got(read(&page)));
    }
}

struct Sender {
    rounds: Rounds,
    arbiters: Arbiters,
    receivers: Vec<Addr<Receiver>>,
    finish: Finish,
}

impl Sender {
    fn send(&self, page: &Arc<[u8]>) {
        for receiver in &self.receivers {
            receiver.do_send(Page(Arc::clone(page)));
        }
    }
}

impl Actor for Sender {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        for number in 0..self.rounds.size.receivers as usize {
            let sender = context.address();
            let receiver =
                Receiver::start_in_arbiter(self.arbiters.number(number), |_| Receiver { sender });
            self.receivers.push(receiver);
        }
        let page = self.rounds.begin();
        self.send(&page);
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Got(u64);

impl Handler<Got> for Sender {
    type Result = ();

    fn handle(&mut self, Got(bytes): Got, _: &mut Context<Self>) {
        match self.rounds.got(bytes) {
            Next::Wait => {}
            Next::Send(page) => self.send(&page),
            Next::End(sum) => self.finish.part(sum),
        }
    }
}

/// The sender is an actor on the first arbiter.
pub fn run(arbiters: usize, size: Size) -> Measured {
    system::run(arbiters, size.messages(), 1, async move |arbiters, finish| {
        let (rounds, arbiters) = (Rounds::new(size), arbiters.clone());
        Sender { rounds, arbiters, receivers: Vec::new(), finish }.start();
    })
}

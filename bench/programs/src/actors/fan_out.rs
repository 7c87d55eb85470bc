//! A sender, and receivers that tell it what they have got.

use coact::Context;
use coact::actor::Shared;
use coact::prelude::*;
use coact_bench_workloads::{Finish, Given, Measured};

use crate::runtime;

#[derive(Clone, Copy)]
struct Size {
    receivers: u64,
    rounds: u64,
    bytes: u64,
}

impl Size {
    fn of(given: &Given) -> anyhow::Result<Size> {
        let (receivers, rounds) = (given.number("receivers")?, given.number("rounds")?);
        Ok(Size { receivers, rounds, bytes: given.number("size")? })
    }
}

#[derive(Message)]
struct Page(Vec<u8>);

impl Page {
    fn new(bytes: u64) -> Page {
        Page((0..bytes).map(|place| (place % 251) as u8).collect())
    }
}

#[derive(Actor)]
struct Receiver {
    sender: Addr<Sender>,
    /// Both ends of the last page.
    ends: Option<(u8, u8)>,
}

impl Handler<Shared<Page>> for Receiver {
    fn handle(&mut self, page: Shared<Page>, _: &mut Context<Self>) {
        self.ends = page.0.first().copied().zip(page.0.last().copied());
        self.sender.send(Got { bytes: page.0.len() as u64 }).expect("the sender waits");
    }
}

#[derive(Actor)]
struct Sender {
    size: Size,
    receivers: Vec<Addr<Receiver>>,
    rounds: u64,
    missing: u64,
    sum: u64,
    done: Finish,
}

#[handlers]
impl Sender {
    #[message]
    fn begin(&mut self, context: &mut Context<Self>) {
        let receiver = |_| spawn(Receiver { sender: context.address(), ends: None });
        self.receivers = (0..self.size.receivers).map(receiver).collect();
        self.round();
    }

    #[message]
    fn got(&mut self, bytes: u64, context: &mut Context<Self>) {
        self.sum += bytes;
        self.missing -= 1;
        if self.missing > 0 {
            return;
        }
        self.rounds -= 1;
        if self.rounds > 0 {
            self.round();
        } else {
            self.done.part(self.sum);
            // The receivers have its address; without theirs they end.
            context.stop();
        }
    }

    fn round(&mut self) {
        let page = Shared::new(Page::new(self.size.bytes));
        self.missing = self.size.receivers;
        for receiver in &self.receivers {
            receiver.send(page.clone()).expect("the receivers live");
        }
    }
}

pub fn run(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    runtime::run(given, size.receivers * size.rounds, 1, move |done| {
        let sender =
            Sender { size, receivers: Vec::new(), rounds: size.rounds, missing: 0, sum: 0, done };
        spawn(sender).send(Begin).expect("the sender lives");
    })
}

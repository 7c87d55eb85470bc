//! An actor a receiver.

use std::sync::Arc;

use coact_bench_workloads::Given;
use coact_bench_workloads::{Finish, Measured};
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::error::Infallible;
use kameo::mailbox::unbounded;
use kameo::message::{Context, Message};

use super::common::{Next, Rounds, Size, read};
use crate::runtime;

#[derive(Actor)]
struct Receiver {
    sender: ActorRef<Sender>,
}

struct Page(Arc<[u8]>);

impl Message<Page> for Receiver {
    type Reply = ();

    async fn handle(&mut self, Page(page): Page, _: &mut Context<Self, ()>) {
        self.sender.tell(Got(read(&page))).try_send().expect("the sender waits");
    }
}

struct Sender {
    rounds: Rounds,
    receivers: Vec<ActorRef<Receiver>>,
    finish: Finish,
}

impl Sender {
    fn send(&self, page: &Arc<[u8]>) {
        for receiver in &self.receivers {
            receiver.tell(Page(Arc::clone(page))).try_send().expect("the receivers live");
        }
    }
}

impl Actor for Sender {
    type Args = (Size, Finish);
    type Error = Infallible;

    async fn on_start(
        (size, finish): Self::Args,
        this: ActorRef<Self>,
    ) -> Result<Sender, Infallible> {
        let receiver =
            |_| Receiver::spawn_with_mailbox(Receiver { sender: this.clone() }, unbounded());
        let receivers = (0..size.receivers).map(receiver).collect();
        let mut sender = Sender { rounds: Rounds::new(size), receivers, finish };
        let page = sender.rounds.begin();
        sender.send(&page);
        Ok(sender)
    }
}

struct Got(u64);

impl Message<Got> for Sender {
    type Reply = ();

    async fn handle(&mut self, Got(bytes): Got, _: &mut Context<Self, ()>) {
        match self.rounds.got(bytes) {
            Next::Wait => {}
            Next::Send(page) => self.send(&page),
            Next::End(sum) => self.finish.part(sum),
        }
    }
}

/// The sender is an actor as well.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.messages(), 1, move |finish| async move {
        let sender = Sender::spawn_with_mailbox((size, finish), unbounded());
        sender.wait_for_shutdown().await;
    }))
}

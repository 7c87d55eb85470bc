//! An actor a receiver.

use std::sync::Arc;

use coact_bench_workloads::Given;
use coact_bench_workloads::{Finish, Measured};
use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::common::{Next, Rounds, Size, read};
use crate::runtime;

struct Receiver;

struct Page(Arc<[u8]>);

impl Actor for Receiver {
    type Msg = Page;
    type State = ActorRef<Got>;
    type Arguments = ActorRef<Got>;

    async fn pre_start(
        &self,
        _: ActorRef<Page>,
        sender: ActorRef<Got>,
    ) -> Result<ActorRef<Got>, ActorProcessingErr> {
        Ok(sender)
    }

    async fn handle(
        &self,
        _: ActorRef<Page>,
        Page(page): Page,
        sender: &mut ActorRef<Got>,
    ) -> Result<(), ActorProcessingErr> {
        Ok(sender.cast(Got(read(&page)))?)
    }
}

struct Sender;

struct State {
    rounds: Rounds,
    receivers: Vec<ActorRef<Page>>,
    finish: Finish,
}

impl State {
    fn send(&self, page: &Arc<[u8]>) -> Result<(), ActorProcessingErr> {
        for receiver in &self.receivers {
            receiver.cast(Page(Arc::clone(page)))?;
        }
        Ok(())
    }
}

struct Got(u64);

impl Actor for Sender {
    type Msg = Got;
    type State = State;
    type Arguments = (Size, Finish);

    async fn pre_start(
        &self,
        this: ActorRef<Got>,
        (size, finish): Self::Arguments,
    ) -> Result<State, ActorProcessingErr> {
        let mut receivers = Vec::with_capacity(size.receivers as usize);
        for _ in 0..size.receivers {
            receivers.push(Actor::spawn(None, Receiver, this.clone()).await?.0);
        }
        let mut state = State { rounds: Rounds::new(size), receivers, finish };
        let page = state.rounds.begin();
        state.send(&page)?;
        Ok(state)
    }

    async fn handle(
        &self,
        _: ActorRef<Got>,
        Got(bytes): Got,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match state.rounds.got(bytes) {
            Next::Wait => {}
            Next::Send(page) => state.send(&page)?,
            Next::End(sum) => state.finish.part(sum),
        }
        Ok(())
    }
}

/// The sender is an actor as well.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.messages(), 1, move |finish| async move {
        Actor::spawn(None, Sender, (size, finish)).await.expect("the sender starts");
    }))
}

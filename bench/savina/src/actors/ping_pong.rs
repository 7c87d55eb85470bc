//! Ping and pong, who know each other until the last pong.

use coact::{Context, prelude::*};
use coact_bench_workloads::Finish;

#[derive(Actor)]
struct PingActor {
    pong: Option<Addr<PongActor>>,
    messages: u64,
    pongs: u64,
    done: Finish,
}

#[handlers]
impl PingActor {
    #[message]
    fn serve(&mut self, context: &mut Context<Self>) {
        self.pong = Some(spawn(PongActor(context.address())));
        self.ping();
    }

    #[message]
    fn pong(&mut self) {
        self.pongs += 1;
        self.ping();
    }

    fn ping(&mut self) {
        if self.pongs == self.messages {
            self.pong = None;
            self.done.part(self.pongs);
        }
        if let Some(pong) = &self.pong {
            let _ = pong.send(Ping);
        }
    }
}

#[derive(Actor)]
struct PongActor(Addr<PingActor>);

#[handlers]
impl PongActor {
    #[message]
    fn ping(&self) {
        let _ = self.0.send(Pong);
    }
}

pub fn start(messages: u64, done: Finish) {
    let _ = spawn(PingActor { pong: None, messages, pongs: 0, done }).send(Serve);
}

//! Ping and pong.

use coact::prelude::*;

use crate::harness::Finish;

#[derive(Actor)]
struct PingActor {
    pong: Addr<PongActor>,
    left: u64,
    pongs: u64,
    done: Finish,
}

#[handlers]
impl PingActor {
    #[message]
    fn pong(&mut self, context: &mut Context<Self>) {
        self.pongs += 1;
        self.serve(context);
    }

    #[message]
    fn serve(&mut self, context: &mut Context<Self>) {
        if self.left == 0 {
            return self.done.part(self.pongs);
        }
        self.left -= 1;
        let _ = self.pong.send(Ping { from: context.address() });
    }
}

#[derive(Actor)]
struct PongActor;

#[handlers]
impl PongActor {
    #[message]
    fn ping(&mut self, from: Addr<PingActor>) {
        let _ = from.send(Pong);
    }
}

pub fn start(messages: u64, done: Finish) {
    let ping = PingActor { pong: spawn(PongActor), left: messages, pongs: 0, done };
    let _ = spawn(ping).send(Serve);
}

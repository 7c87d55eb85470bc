//! Ping, and pong, which answers to the sender.

use coact::dynamic::{DynAddr, DynContext, atom, cases, spawn_dyn, spawn_dyn_with};
use coact_bench_workloads::Finish;

struct Ping {
    pong: Option<DynAddr>,
    messages: u64,
    pongs: u64,
    done: Finish,
}

fn ping(me: &mut DynContext<Ping>) {
    let state = me.state_mut();
    if state.pongs == state.messages {
        state.pong = None;
        state.done.part(state.pongs);
    }
    if let Some(pong) = &me.state().pong {
        me.send(pong, atom!("ping")).ok();
    }
}

pub fn start(messages: u64, done: Finish) {
    let pong = spawn_dyn(|me: &mut DynContext| {
        me.become_(cases! { |me: &mut DynContext| (atom!("ping")) => me.reply(atom!("pong")) });
    });
    spawn_dyn_with(Ping { pong: Some(pong), messages, pongs: 0, done }, |me| {
        me.become_(cases! { |me: &mut DynContext<Ping>|
            (atom!("pong")) => {
                me.state_mut().pongs += 1;
                ping(me);
            },
        });
        ping(me);
    });
}

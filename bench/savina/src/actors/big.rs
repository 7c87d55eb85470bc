//! Each actor pings others at random, and answers all pings.

use std::sync::Arc;

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::random::R16;

#[derive(Actor)]
struct Peer {
    number: usize,
    peers: Arc<[Addr<Peer>]>,
    sink: Addr<Sink>,
    random: R16,
    pings: u64,
    pinged: usize,
    right: u64,
}

#[handlers]
impl Peer {
    #[message]
    fn meet(&mut self, peers: Arc<[Addr<Peer>]>) {
        self.peers = peers;
    }

    #[message]
    fn next(&mut self) {
        if self.pings == 0 {
            return drop(self.sink.send(Told { right: self.right }));
        }
        self.pings -= 1;
        self.pinged = self.random.below(self.peers.len() as u32) as usize;
        let _ = self.peers[self.pinged].send(Ping { from: self.number });
    }

    #[message]
    fn ping(&mut self, from: usize) {
        let _ = self.peers[from].send(Pong { from: self.number });
    }

    #[message]
    fn pong(&mut self, from: usize) {
        self.right += u64::from(from == self.pinged);
        self.next();
    }

    #[message]
    fn end(&mut self, context: &mut Context<Self>) {
        context.stop();
    }
}

#[derive(Actor)]
struct Sink {
    peers: Arc<[Addr<Peer>]>,
    told: usize,
    right: u64,
    done: Finish,
}

#[handlers]
impl Sink {
    #[message]
    fn watch(&mut self, peers: Arc<[Addr<Peer>]>) {
        self.peers = peers;
    }

    #[message]
    fn told(&mut self, right: u64) {
        self.right += right;
        self.told += 1;
        if self.told == self.peers.len() {
            self.done.part(self.right);
            self.peers.iter().for_each(|peer| drop(peer.send(End)));
        }
    }
}

pub fn start(actors: u64, pings: u64, done: Finish) {
    let nobody: Arc<[Addr<Peer>]> = Arc::default();
    let sink = spawn(Sink { peers: nobody.clone(), told: 0, right: 0, done });
    let peer = |number| {
        let (peers, sink, random) = (nobody.clone(), sink.clone(), R16::new(number as u32 + 1));
        spawn(Peer { number, peers, sink, random, pings, pinged: 0, right: 0 })
    };
    let peers: Arc<[_]> = (0..actors as usize).map(peer).collect();
    let _ = sink.send(Watch { peers: peers.clone() });
    // All know all before the first of them pings.
    peers.iter().for_each(|peer| drop(peer.send(Meet { peers: peers.clone() })));
    peers.iter().for_each(|peer| drop(peer.send(Next)));
}

//! A thread and an unbounded channel a node.

use std::thread;
use std::time::Instant;

use coact_bench_workloads::work::rings::RingSizes;
use coact_bench_workloads::{Finish, Measured};
use crossbeam_channel::{Receiver, Sender, unbounded};

/// Starts the nodes, and lets the tokens go. The threads end with the process.
pub fn run(size: RingSizes) -> Measured {
    let finish = Finish::after(size.all_tokens());
    let rings: Vec<Vec<Sender<u64>>> = (0..size.rings).map(|_| ring(size, &finish)).collect();
    // The start of a thread per node is no part of a hop.
    let start = Instant::now();
    for senders in &rings {
        for position in size.starts() {
            senders[position].send(1).expect("the ring lives");
        }
    }
    let (elapsed, hops) = finish.wait(start);
    Measured::new(elapsed, size.total_hops(), hops)
}

fn ring(size: RingSizes, finish: &Finish) -> Vec<Sender<u64>> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..size.nodes).map(|_| unbounded()).unzip();
    for (receiver, next) in receivers.into_iter().zip(senders.iter().cycle().skip(1)) {
        let (next, finish) = (next.clone(), finish.clone());
        thread::spawn(move || node(&receiver, &next, size.hops_each, &finish));
    }
    senders
}

fn node(tokens: &Receiver<u64>, next: &Sender<u64>, hops: u64, finish: &Finish) {
    for done in tokens {
        if done == hops {
            finish.part(done);
        } else {
            next.send(done + 1).expect("the ring lives");
        }
    }
}

//! A thread and an unbounded channel a node.

use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::Size;
use crate::harness::{Finish, Measured};

/// Tells a node to end.
const STOP: u64 = 0;

/// Both ends of each node's channel.
type Ring = (Vec<Sender<u64>>, Vec<Receiver<u64>>);

/// Starts the nodes, lets the tokens go and, after the last hop, stops the nodes.
pub fn run(size: Size) -> Measured {
    let finish = Finish::after(size.all_tokens());
    let rings: Vec<Ring> =
        (0..size.rings).map(|_| (0..size.nodes).map(|_| unbounded()).unzip()).collect();
    std::thread::scope(|scope| {
        for (senders, receivers) in &rings {
            for (receiver, next) in receivers.iter().zip(senders.iter().cycle().skip(1)) {
                let finish = finish.clone();
                scope.spawn(move || node(receiver, next, size.hops_each, &finish));
            }
        }
        let start = Instant::now();
        for (senders, _) in &rings {
            for position in size.starts() {
                senders[(position + 1) % size.nodes].send(1).expect("the ring lives");
            }
        }
        let (elapsed, hops) = finish.wait(start);
        for sender in rings.iter().flat_map(|(senders, _)| senders) {
            sender.send(STOP).expect("the ring lives");
        }
        Measured::new(elapsed, size.total_hops(), hops)
    })
}

fn node(tokens: &Receiver<u64>, next: &Sender<u64>, hops: u64, finish: &Finish) {
    for done in tokens {
        match done {
            STOP => break,
            done if done == hops => finish.part(done),
            done => next.send(done + 1).expect("the ring lives"),
        }
    }
}

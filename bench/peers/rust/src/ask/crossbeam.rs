//! Two threads; the request carries the client's reply channel.

use std::time::Instant;

use coact_bench::harness::Measured;
use crossbeam_channel::{Sender, bounded, unbounded};

use super::Server;

/// Each side sleeps until the other has sent.
pub fn run(rounds: u64) -> Measured {
    let start = Instant::now();
    let (requests, received) = unbounded::<Sender<u64>>();
    std::thread::spawn(move || {
        let mut server = Server::default();
        for reply in received {
            reply.send(server.answer()).expect("the client waits");
        }
    });
    let (reply, answers) = bounded(1);
    let mut sum = 0;
    for _ in 0..rounds {
        requests.send(reply.clone()).expect("the server lives");
        sum += answers.recv().expect("the server answers");
    }
    Measured::new(start.elapsed(), rounds, sum)
}

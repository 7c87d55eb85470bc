//! Two threads; the request carries the client's reply channel.

use std::time::Instant;

use coact_bench_workloads::Measured;
use crossbeam_channel::{Sender, bounded, unbounded};

use super::common::{Server, Size};

/// Each side sleeps until the other has sent.
pub fn run(size: Size) -> Measured {
    let start = Instant::now();
    let (requests, received) = unbounded::<Sender<u64>>();
    std::thread::spawn(move || {
        let mut server = Server::default();
        for reply in received {
            reply.send(server.answer()).expect("the client waits");
        }
    });
    let (reply, answers) = bounded(1);
    let mut tally = 0;
    for _ in 0..size.rounds {
        requests.send(reply.clone()).expect("the server lives");
        let answer = answers.recv().expect("the server answers");
        tally = (size.tally)(tally, answer);
    }
    Measured::new(start.elapsed(), size.rounds, tally)
}

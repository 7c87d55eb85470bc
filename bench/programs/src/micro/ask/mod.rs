//! A client that asks a server, again and again, each time waiting for the reply.

mod actors;
mod coact;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Implementation, Measured, Setup, Workload};

/// The server replies with the number of requests it has seen, the client adds the replies up.
#[derive(Default)]
struct Server {
    requests: u64,
}

impl Server {
    fn answer(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }
}

fn rounds(setup: &Setup) -> u64 {
    setup.scaled(1_000_000)
}

fn check(rounds: u64, measured: &Measured) -> Result<(), Mismatch> {
    expect("the sum of the replies", rounds * (rounds + 1) / 2, measured)
}

/// Sequential round trips.
pub struct Ask;

impl Workload for Ask {
    fn name(&self) -> &'static str {
        "cown-ask"
    }

    fn about(&self) -> &'static str {
        "a client asks a server and waits for the reply, 1,000,000 times; a round trip"
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("round_trips", rounds(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        check(rounds(setup), measured)
    }

    fn implementations(&self) -> &'static [Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "a behaviour on the server spawns one on the client",
                run: |setup| coact::behaviours(setup, rounds(setup)),
            },
            Implementation {
                name: "coact-promise",
                about: "ask the server, then go on with the client",
                run: |setup| coact::promises(setup, rounds(setup)),
            },
        ]
    }
}

/// Sequential round trips from a plain thread to an actor.
pub struct ActorWait;

impl Workload for ActorWait {
    fn name(&self) -> &'static str {
        "actor-wait"
    }

    fn about(&self) -> &'static str {
        "a plain thread asks an actor and waits for the reply, 100,000 times; a round trip"
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("round_trips", waits(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        check(waits(setup), measured)
    }

    fn implementations(&self) -> &'static [Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "`Addr::ask` and `Ask::wait`",
                run: |setup| actors::waiting(setup, waits(setup)),
            },
            Implementation {
                name: "coact-cowns",
                about: "a behaviour with a promise, which the thread waits for",
                run: |setup| coact::waiting(setup, waits(setup)),
            },
        ]
    }
}

fn waits(setup: &Setup) -> u64 {
    setup.scaled(100_000)
}

//! The benchmark tool with other crates' actors beside ours: `coact-bench`'s workloads for actors, in one call.

mod actix;
mod kameo;
mod ractor;
mod size;

use std::process::ExitCode;

use coact_bench::cli;
use coact_bench::harness::{Beside, Implementation, Workload};
use coact_bench::workloads::{ask, idle, rings};

use size::Ring;

const WORKLOADS: &[&dyn Workload] = &[&RING, &PING_PONG, &ASK, &IDLE];

/// A ring of each peer's actors; fewer hops, for each takes longer.
macro_rules! rings {
    ($size:path) => {
        &[
            Implementation {
                name: "kameo",
                about: "an actor a node, unbounded mailboxes, `tell` without waiting",
                run: |setup| kameo::ring(setup, $size(setup)),
            },
            Implementation {
                name: "ractor",
                about: "an actor a node, `cast`",
                run: |setup| ractor::ring(setup, $size(setup)),
            },
            Implementation {
                name: "actix",
                about: "an actor a node, all on one arbiter, `do_send`",
                run: |setup| actix::ring(1, $size(setup)),
            },
            Implementation {
                name: "actix-arbiters",
                about: "an actor a node, dealt to two arbiters, `do_send`",
                run: |setup| actix::ring(2, $size(setup)),
            },
        ]
    };
}

static RING: Beside = Beside::new(&rings::ActorRing, rings!(Ring::long));

static PING_PONG: Beside = Beside::new(&rings::ActorPingPong, rings!(Ring::pair));

static ASK: Beside = Beside::new(
    &ask::ActorAsk,
    &[
        Implementation {
            name: "kameo",
            about: "`ask(..).await` in a handler",
            run: |setup| kameo::ask(setup, size::round_trips(setup)),
        },
        Implementation {
            name: "ractor",
            about: "`call!` in a handler",
            run: |setup| ractor::ask(setup, size::round_trips(setup)),
        },
        Implementation {
            name: "actix",
            about: "`send(..).await` in a handler's future, both on one arbiter",
            run: |setup| actix::ask(1, size::round_trips(setup)),
        },
        Implementation {
            name: "actix-arbiters",
            about: "the same, each on an arbiter of its own",
            run: |setup| actix::ask(2, size::round_trips(setup)),
        },
    ],
);

static IDLE: Beside = Beside::new(
    &idle::IdleActors,
    &[
        Implementation {
            name: "kameo",
            about: "100,000 actors with unbounded mailboxes",
            run: |setup| kameo::idle(setup, size::idle(setup)),
        },
        Implementation {
            name: "ractor",
            about: "100,000 actors",
            run: |setup| ractor::idle(setup, size::idle(setup)),
        },
        Implementation {
            name: "actix",
            about: "100,000 actors on one arbiter",
            run: |setup| actix::idle(size::idle(setup)),
        },
    ],
);

fn main() -> ExitCode {
    cli::run(WORKLOADS)
}

//! Producers that add to one counter: from plain threads, and from inside the runtime.

mod actors;
mod coact;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Finish, Implementation, Measured, Setup, Workload};

/// How many producers, and how many adds each.
#[derive(Clone, Copy)]
struct Size {
    producers: u64,
    each: u64,
}

impl Size {
    fn one(setup: &Setup) -> Size {
        Size { producers: 1, each: setup.scaled(1_000_000) }
    }

    fn two(setup: &Setup) -> Size {
        Size { producers: 2, each: setup.scaled(1_500_000) }
    }

    fn twenty(setup: &Setup) -> Size {
        Size { producers: 20, each: setup.scaled(1_000_000) }
    }

    fn total(self) -> u64 {
        self.producers * self.each
    }

    fn parameters(self) -> Vec<(&'static str, u64)> {
        vec![("producers", self.producers), ("adds_each", self.each)]
    }
}

/// The state that is added to. The last add ends the run.
struct Counter {
    sum: u64,
    awaited: u64,
    finish: Finish,
}

impl Counter {
    fn new(size: Size, finish: &Finish) -> Counter {
        Counter { sum: 0, awaited: size.total(), finish: finish.clone() }
    }

    fn add(&mut self, amount: u64) {
        self.sum += amount;
        if self.sum == self.awaited {
            self.finish.part(self.sum);
        }
    }
}

workload!(
    /// Two plain threads.
    TwoProducers,
    "two-producers",
    "the sum" = total,
    Size::two,
    "two plain threads add 3,000,000 times to one counter; an add",
    &[
        Implementation {
            name: "coact",
            about: "a behaviour an add",
            run: |setup| coact::from_threads(setup, Size::two(setup)),
        },
        Implementation {
            name: "coact-credits",
            about: "a behaviour an add, 1,024 in flight at most",
            run: |setup| coact::with_credits(setup, Size::two(setup)),
        },
    ]
);

workload!(
    /// Two behaviours or tasks.
    TwoProducersSpawned,
    "two-producers-spawned",
    "the sum" = total,
    Size::two,
    "two behaviours add 3,000,000 times to one counter; an add",
    &[
        Implementation {
            name: "coact",
            about: "a behaviour an add, spawned by two behaviours",
            run: |setup| coact::spawned(setup, Size::two(setup)),
        },
    ]
);

workload!(
    /// Twenty plain threads.
    ManyToOne,
    "many-to-one",
    "the sum" = total,
    Size::twenty,
    "twenty plain threads add 1,000,000 times each to one counter; an add",
    &[
        Implementation {
            name: "coact",
            about: "a behaviour an add",
            run: |setup| coact::from_threads(setup, Size::twenty(setup)),
        },
        Implementation {
            name: "coact-credits",
            about: "a behaviour an add, 1,024 in flight at most",
            run: |setup| coact::with_credits(setup, Size::twenty(setup)),
        },
    ]
);

workload!(
    /// Twenty behaviours or tasks.
    ManyToOneSpawned,
    "many-to-one-spawned",
    "the sum" = total,
    Size::twenty,
    "twenty behaviours add 1,000,000 times each to one counter; an add",
    &[
        Implementation {
            name: "coact",
            about: "a behaviour an add, spawned by twenty behaviours",
            run: |setup| coact::spawned(setup, Size::twenty(setup)),
        },
    ]
);

workload!(
    /// One behaviour or task.
    OneCown,
    "one-cown",
    "the sum" = total,
    Size::one,
    "one behaviour spawns 1,000,000 behaviours on one cown; a behaviour",
    &[
        Implementation {
            name: "coact",
            about: "a behaviour an add, spawned by one behaviour",
            run: |setup| coact::spawned(setup, Size::one(setup)),
        },
    ]
);

workload!(
    /// One actor.
    ActorCount,
    "actor-count",
    "the sum" = total,
    Size::one,
    "one actor sends 1,000,000 adds to another one; an add",
    &[
        Implementation {
            name: "coact",
            about: "a message an add",
            run: |setup| actors::from_an_actor(setup, Size::one(setup)),
        },
        Implementation {
            name: "coact-cowns",
            about: "a behaviour an add, spawned by one behaviour",
            run: |setup| coact::spawned(setup, Size::one(setup)),
        },
    ]
);

workload!(
    /// In place, on one free cown.
    HereOne,
    "here-one",
    "the sum" = total,
    Size::one,
    "one thread adds 1,000,000 times in place to one free counter; an add",
    &[
        Implementation {
            name: "coact",
            about: "when_here on the counter",
            run: |setup| coact::here(setup, Size::one(setup)),
        },
        Implementation {
            name: "coact-behaviour",
            about: "the same inside a behaviour",
            run: |setup| coact::here_in_a_behaviour(setup, Size::one(setup)),
        },
    ]
);

workload!(
    /// On an actor that runs where its messages come from.
    ActorCaller,
    "actor-caller",
    "the sum" = total,
    Size::one,
    "one thread sends 1,000,000 adds to an idle actor that runs on its callers; an add",
    &[
        Implementation {
            name: "coact",
            about: "`Host::caller`, from a plain thread",
            run: |setup| actors::on_the_caller(setup, Size::one(setup)),
        },
        Implementation {
            name: "coact-behaviour",
            about: "the same inside a behaviour",
            run: |setup| actors::on_a_behaviour(setup, Size::one(setup)),
        },
        Implementation {
            name: "coact-workers",
            about: "an actor on the workers, from a plain thread",
            run: |setup| actors::on_the_workers(setup, Size::one(setup)),
        },
    ]
);

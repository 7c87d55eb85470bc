//! What the papers and pages measure that this runtime stands on.

use super::row::ROW;
use crate::work::{primes, tree};
use crate::workload::Size::{By, Fixed, Scaled, Times};
use crate::workload::{Drawing, Group, Setup, Sizes, Unit, Workload};

const HEADLINE: Workload = Workload { group: Group::Headline, ..ROW };

const COUNTER: Workload = Workload {
    about: "plain threads post 3,000,000 adds to one actor, which is then asked for the sum; an add",
    result: "the sum",
    expected: |sizes| sizes["messages"],
    ..HEADLINE
};

const RING: Workload = Workload {
    about: "8 rings of actors, one token in each; a hop",
    result: "the number of hops",
    expected: |sizes| sizes["rings"] * sizes["hops"],
    drawing: |sizes| over_actors("ring-nfold", sizes["rings"] * sizes["nodes"]),
    ..HEADLINE
};

const GROUPED: Workload = Workload {
    about: "pairs of actors in different groups, one message in flight in each; a message",
    result: "the number of hops",
    expected: |sizes| sizes["pairs"] * sizes["hops"],
    drawing: |sizes| over_actors("pingpong-grouped", 2 * sizes["pairs"]),
    ..HEADLINE
};

const BULK: Workload = Workload {
    about: "pairs of actors, 100 messages in flight from each side; a message",
    result: "the number of hops",
    expected: |sizes| sizes["pairs"] * 2 * sizes["flight"] * sizes["hops"],
    drawing: |sizes| over_actors("pingpong-bulk", 2 * sizes["pairs"]),
    ..HEADLINE
};

const SKYNET: Workload = Workload {
    unit: Unit::Seconds,
    sizes: &[("leaves", By(tree::leaves))],
    result: "the sum of the leaves",
    expected: |sizes| tree::sum(sizes["leaves"]),
    ..HEADLINE
};

const CACHE: Workload = Workload {
    about: "1,000 tasks change 10 strings in a shared map, sleep, and do it again; the whole",
    unit: Unit::Seconds,
    result: "the sum of the values",
    expected: |sizes| 2 * sizes["tasks"] * sizes["keys"],
    ..HEADLINE
};

const BANKING: Workload = Workload {
    about: "10 tellers make 50,000 transfers among 1,000 accounts, each all or nothing; the whole",
    unit: Unit::Seconds,
    result: "the sum of the balances",
    expected: |sizes| sizes["accounts"] * sizes["start"],
    ..HEADLINE
};

fn over_actors(plot: &str, actors: u64) -> Drawing {
    Drawing::Actors { plot: plot.to_owned(), actors }
}

/// Beside the ideal: operations that each take `work` microseconds of a processor.
fn over_workers(operations: u64, sizes: &Sizes) -> Drawing {
    Drawing::Workers { ideal: Some(operations as f64 * sizes["work"] as f64 / 1e6) }
}

/// Messages of a side of a pair, with a hundred in flight; fewer only where the whole would be more
/// than the scale wants: how many are in flight, and how often each is sent.
fn bulk(setup: &Setup, pairs: u64) -> (u64, u64) {
    let each = setup.scaled_at_least(8_000_000, 2 * pairs) / (2 * pairs);
    let flight = each.min(100);
    (flight, each / flight)
}

/// All of them, in the order of the reports.
pub const ALL: &[Workload] = &[
    Workload {
        name: "counter-1",
        sizes: &[("threads", Fixed(1)), ("messages", Scaled(3_000_000))],
        ..COUNTER
    },
    Workload {
        name: "counter-2",
        sizes: &[("threads", Fixed(2)), ("messages", Times(2, 1_500_000))],
        ..COUNTER
    },
    Workload {
        name: "counter-4",
        sizes: &[("threads", Fixed(4)), ("messages", Times(4, 750_000))],
        ..COUNTER
    },
    Workload {
        name: "counter-8",
        sizes: &[("threads", Fixed(8)), ("messages", Times(8, 375_000))],
        ..COUNTER
    },
    Workload {
        name: "mailbox-n1",
        about: "20 plain threads send 1,000,000 messages each to one actor; a message",
        sizes: &[("senders", Fixed(20)), ("messages", Scaled(1_000_000))],
        result: "the number of messages",
        expected: |sizes| sizes["senders"] * sizes["messages"],
        ..HEADLINE
    },
    Workload {
        name: "mixed",
        about: "20 rings of 50 actors pass a token 10,000 times, are built 5 times, and factorise a number beside it; the whole",
        unit: Unit::Seconds,
        drawing: |_| Drawing::Memory,
        sizes: &[
            ("rings", Fixed(20)),
            ("links", Fixed(49)),
            ("token", Scaled(10_000)),
            ("rebuilds", Fixed(5)),
            ("number", By(|setup| product(primes::factors(setup)))),
        ],
        result: "the sum of the factors",
        expected: |sizes| {
            let (less, greater) = primes::factors(&sizes.setup);
            sizes["rings"] * sizes["rebuilds"] * (less + greater)
        },
        ..HEADLINE
    },
    Workload {
        name: "ring-nfold-100",
        sizes: &[("rings", Fixed(8)), ("nodes", Fixed(12)), ("hops", Scaled(500_000))],
        ..RING
    },
    Workload {
        name: "ring-nfold-1000",
        sizes: &[("rings", Fixed(8)), ("nodes", Fixed(125)), ("hops", Scaled(500_000))],
        ..RING
    },
    Workload {
        name: "ring-nfold-10000",
        sizes: &[("rings", Fixed(8)), ("nodes", Fixed(1_250)), ("hops", Scaled(500_000))],
        ..RING
    },
    Workload {
        name: "pingpong-grouped-100",
        sizes: &[("pairs", Fixed(50)), ("hops", Times(2, 40_000))],
        ..GROUPED
    },
    Workload {
        name: "pingpong-grouped-1000",
        sizes: &[("pairs", Fixed(500)), ("hops", Times(2, 4_000))],
        ..GROUPED
    },
    Workload {
        name: "pingpong-grouped-10000",
        sizes: &[("pairs", Fixed(5_000)), ("hops", Times(2, 400))],
        ..GROUPED
    },
    Workload {
        name: "pingpong-bulk-100",
        sizes: &[
            ("pairs", Fixed(50)),
            ("flight", By(|setup| bulk(setup, 50).0)),
            ("hops", By(|setup| bulk(setup, 50).1)),
        ],
        ..BULK
    },
    Workload {
        name: "pingpong-bulk-1000",
        sizes: &[
            ("pairs", Fixed(500)),
            ("flight", By(|setup| bulk(setup, 500).0)),
            ("hops", By(|setup| bulk(setup, 500).1)),
        ],
        ..BULK
    },
    Workload {
        name: "pingpong-bulk-10000",
        sizes: &[
            ("pairs", Fixed(5_000)),
            ("flight", By(|setup| bulk(setup, 5_000).0)),
            ("hops", By(|setup| bulk(setup, 5_000).1)),
        ],
        ..BULK
    },
    Workload {
        name: "skynet",
        about: "a ten-way tree of 1,111,111 actors is made, and its leaves' numbers summed up to the root; the whole",
        ..SKYNET
    },
    Workload {
        name: "skynet-stop",
        about: "the same, and each actor ends once it has answered; the whole, until all have ended",
        ..SKYNET
    },
    Workload {
        name: "cache-calc-8",
        sizes: &[("tasks", Scaled(1_000)), ("keys", Fixed(10)), ("sleep", Fixed(8))],
        ..CACHE
    },
    Workload {
        name: "cache-calc-64",
        sizes: &[("tasks", Scaled(1_000)), ("keys", Fixed(10)), ("sleep", Fixed(64))],
        ..CACHE
    },
    Workload {
        name: "reasonable-banking",
        sizes: &[
            ("accounts", Fixed(1_000)),
            ("transfers", Times(10, 5_000)),
            ("tellers", Fixed(10)),
            ("start", Fixed(10_000)),
        ],
        ..BANKING
    },
    Workload {
        name: "busy-banking",
        drawing: |sizes| over_workers(sizes["transfers"], sizes),
        sizes: &[
            ("accounts", Fixed(1_000)),
            ("transfers", Times(10, 5_000)),
            ("tellers", Fixed(10)),
            ("start", Fixed(10_000)),
            ("work", Fixed(10)),
        ],
        ..BANKING
    },
    Workload {
        name: "dining-scale",
        about: "100 philosophers have 500 meals each, which take 1 ms and two forks; the whole",
        unit: Unit::Seconds,
        drawing: |sizes| over_workers(sizes["philosophers"] * sizes["meals"], sizes),
        sizes: &[("philosophers", Fixed(100)), ("meals", Scaled(500)), ("work", Fixed(1_000))],
        result: "the number of meals",
        expected: |sizes| sizes["philosophers"] * sizes["meals"],
        ..HEADLINE
    },
    Workload {
        name: "spawn",
        about: "1,000,000 actors of a u64 are spawned, and idle once all have started; an actor, and the bytes of each",
        sizes: &[("actors", Scaled(1_000_000))],
        result: "the number of actors",
        expected: |sizes| sizes["actors"],
        ..HEADLINE
    },
    Workload {
        name: "ask-latency",
        about: "an actor asks another one and waits for the answer, 1,000,000 times; a round trip",
        sizes: &[("asks", Scaled(1_000_000))],
        result: "the number of answers",
        expected: |sizes| sizes["asks"],
        ..HEADLINE
    },
    Workload {
        name: "fan-out",
        about: "a message of 4 KiB goes to 10,000 actors, 1,000 times; one of the receptions",
        sizes: &[("receivers", Fixed(10_000)), ("rounds", Scaled(1_000)), ("size", Fixed(4_096))],
        result: "the number of bytes",
        expected: |sizes| sizes["receivers"] * sizes["rounds"] * sizes["size"],
        ..HEADLINE
    },
];

fn product((less, greater): (u64, u64)) -> u64 {
    less * greater
}

#[cfg(test)]
mod tests {
    use crate::table::named;
    use crate::workload::Setup;

    const FULL: Setup = Setup { scale: 1.0, workers: 2 };

    /// What the full size counts, and one of the sizes.
    fn full(name: &str, size: &str) -> (u64, u64) {
        let workload = named(name).expect("there is such a workload");
        let sizes = workload.sizes(&FULL);
        ((workload.expected)(&sizes), sizes[size])
    }

    #[test]
    fn the_full_sizes_of_the_pairs_are_those_of_the_programs() {
        let names = [100, 1_000, 10_000];
        let single = names.map(|actors| full(&format!("pingpong-grouped-{actors}"), "hops"));
        assert_eq!(single, [80_000, 8_000, 800].map(|hops| (4_000_000, hops)));
        let bulk = names.map(|actors| full(&format!("pingpong-bulk-{actors}"), "hops"));
        assert_eq!(bulk, [800, 80, 8].map(|hops| (8_000_000, hops)));
        let flight = names.map(|actors| full(&format!("pingpong-bulk-{actors}"), "flight").1);
        assert_eq!(flight, [100; 3]);
    }

    #[test]
    fn counters_have_three_million_messages_on_any_number_of_threads() {
        for threads in [1, 2, 4, 8] {
            let all = full(&format!("counter-{threads}"), "threads");
            assert_eq!(all, (3_000_000, threads));
        }
    }
}

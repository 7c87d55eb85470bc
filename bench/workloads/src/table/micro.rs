//! The core's own measures, which are sharper than the headline workloads: each is about one path
//! through the runtime.

use super::row::ROW as MICRO;
use crate::work::bank::{self, Transfer};
use crate::work::{front, idle, recursion, tree};
use crate::workload::Size::{By, Fixed, Scaled};
use crate::workload::{Setup, Size, Sizes, Unit, Workload};

const ADDS: Workload = Workload {
    result: "the sum",
    expected: |sizes| sizes["producers"] * sizes["adds_each"],
    ..MICRO
};

const ONE: &[(&str, Size)] = &[("producers", Fixed(1)), ("adds_each", Scaled(1_000_000))];
const TWO: &[(&str, Size)] = &[("producers", Fixed(2)), ("adds_each", Scaled(1_500_000))];
const TWENTY: &[(&str, Size)] = &[("producers", Fixed(20)), ("adds_each", Scaled(1_000_000))];

const HOPS: Workload = Workload {
    result: "the number of hops",
    expected: |sizes| sizes["rings"] * sizes["tokens"] * sizes["hops"],
    ..MICRO
};

const TAKEN: Workload =
    Workload { result: "the number of messages taken", expected: |sizes| sizes["taken"], ..MICRO };

const CASES: Workload = Workload {
    sizes: &[("messages", Scaled(1_000_000))],
    result: "the sum",
    expected: |sizes| sizes["messages"],
    ..MICRO
};

/// A long ring, hardly anything to do at once. Its tokens share the ring, so workers take the nodes
/// from each other.
const RING: &[(&str, Size)] = &rings(1, 100, 2, 5_000_000);
/// A ring of two is a pair that plays ping-pong.
const PAIRS: &[(&str, Size)] = &rings(8, 2, 1, 1_000_000);

const fn rings(rings: u64, nodes: u64, tokens: u64, hops: u64) -> [(&'static str, Size); 4] {
    [
        ("rings", Fixed(rings)),
        ("nodes", Fixed(nodes)),
        ("tokens", Fixed(tokens)),
        ("hops", Scaled(hops)),
    ]
}

const TRANSFERS: Workload = Workload {
    result: "the digest of the balances",
    expected: |sizes| {
        let accounts = sizes["accounts"];
        let all = (0..sizes["transfers"]).map(|number| Transfer::among(accounts, number));
        bank::expected(accounts, all)
    },
    ..MICRO
};

const FRONT: Workload =
    Workload { result: "the digest of the balances", expected: requests, ..MICRO };

fn requests(sizes: &Sizes) -> u64 {
    let (accounts, wanted) = (sizes["accounts"], sizes["wanted"]);
    let all = (0..sizes["requests"]).map(|number| front::request(accounts, wanted, number));
    bank::expected(accounts, all)
}

const TASKS: u64 = 64;

fn by_task(setup: &Setup) -> u64 {
    setup.scaled_at_least(1_000_000, TASKS)
}

const REPLIES: Workload = Workload {
    result: "the sum of the replies",
    expected: |sizes| sizes["round_trips"] * (sizes["round_trips"] + 1) / 2,
    ..MICRO
};

/// All of them, in the order of the reports.
pub const ALL: &[Workload] = &[
    Workload {
        name: "two-producers",
        about: "two plain threads add 3,000,000 times to one counter; an add",
        sizes: TWO,
        ..ADDS
    },
    Workload {
        name: "two-producers-spawned",
        about: "two behaviours add 3,000,000 times to one counter; an add",
        sizes: TWO,
        ..ADDS
    },
    Workload {
        name: "many-to-one",
        about: "twenty plain threads add 1,000,000 times each to one counter; an add",
        sizes: TWENTY,
        ..ADDS
    },
    Workload {
        name: "many-to-one-spawned",
        about: "twenty behaviours add 1,000,000 times each to one counter; an add",
        sizes: TWENTY,
        ..ADDS
    },
    Workload {
        name: "one-cown",
        about: "one behaviour spawns 1,000,000 behaviours on one cown; a behaviour",
        sizes: ONE,
        ..ADDS
    },
    Workload {
        name: "cown-ring",
        about: "two tokens in a ring of 100; a hop",
        sizes: RING,
        ..HOPS
    },
    Workload {
        name: "cown-rings",
        about: "two rings of 100, one token in each; a hop",
        sizes: &rings(2, 100, 1, 5_000_000),
        ..HOPS
    },
    Workload {
        name: "cown-pairs",
        about: "8 pairs, one message in flight in each; a message",
        sizes: PAIRS,
        ..HOPS
    },
    Workload {
        name: "cown-pairs-bulk",
        about: "8 pairs, 100 messages in flight in each; a message",
        sizes: &rings(8, 2, 100, 10_000),
        ..HOPS
    },
    Workload {
        name: "cown-ask",
        about: "a client asks a server and waits for the reply, 1,000,000 times; a round trip",
        sizes: &[("round_trips", Scaled(1_000_000))],
        ..REPLIES
    },
    Workload {
        name: "cown-skynet",
        about: "a ten-way tree of 1,111,111 cowns is made, and its leaves' numbers summed up to the root; the whole",
        unit: Unit::Seconds,
        sizes: &[
            ("leaves", By(tree::leaves)),
            ("nodes", By(|setup| tree::nodes(tree::leaves(setup)))),
        ],
        result: "the sum of the leaves",
        expected: |sizes| tree::sum(sizes["leaves"]),
        ..MICRO
    },
    Workload {
        name: "idle-cowns",
        about: "1,000,000 idle cowns of a u64 are made and kept; a cown, and the bytes of each",
        sizes: &[("cowns", Scaled(1_000_000))],
        result: "the sum of the witnesses",
        expected: |sizes| idle::witnesses(sizes["cowns"]).iter().sum(),
        ..MICRO
    },
    Workload {
        name: "transfers",
        about: "1,000,000 two-cown transfers among 1,000 accounts, spawned by one behaviour; a transfer",
        sizes: &[
            ("accounts", Fixed(1_000)),
            ("transfers", Scaled(1_000_000)),
            ("threads", Fixed(1)),
        ],
        ..TRANSFERS
    },
    Workload {
        name: "here-free",
        about: "one thread makes 3,000,000 transfers in place among 1,000 free accounts; a transfer",
        sizes: &[
            ("accounts", Fixed(1_000)),
            ("transfers", Scaled(3_000_000)),
            ("threads", Fixed(1)),
        ],
        ..TRANSFERS
    },
    Workload {
        name: "here-contended",
        about: "as many threads as workers make 1,000,000 transfers in place between the same two accounts; a transfer",
        sizes: &[
            ("accounts", Fixed(2)),
            ("transfers", By(|setup| setup.scaled_at_least(1_000_000, setup.workers as u64))),
            ("threads", By(|setup| setup.workers as u64)),
        ],
        ..TRANSFERS
    },
    Workload {
        name: "crowd",
        about: "twenty plain threads make 400,000 transfers between the same two accounts; a transfer",
        sizes: &[("accounts", Fixed(2)), ("transfers", Scaled(400_000)), ("threads", Fixed(20))],
        ..TRANSFERS
    },
    Workload {
        name: "tokio-front",
        about: "64 tokio tasks each wait for one request after the other, a transfer between two of 1,000 accounts; a request",
        sizes: &[
            ("accounts", Fixed(1_000)),
            ("wanted", Fixed(1_000)),
            ("tasks", Fixed(TASKS)),
            ("requests", By(by_task)),
            ("http", Fixed(0)),
        ],
        ..FRONT
    },
    Workload {
        name: "tokio-front-skewed",
        about: "the same with four fifths of the requests between two of 8 accounts; a request",
        sizes: &[
            ("accounts", Fixed(1_000)),
            ("wanted", Fixed(8)),
            ("tasks", Fixed(TASKS)),
            ("requests", By(by_task)),
            ("http", Fixed(0)),
        ],
        ..FRONT
    },
    Workload {
        name: "http-front",
        about: "64 connections of an HTTP server on tokio each bring one request after the other for two of 1,000 accounts; a request",
        sizes: &[
            ("accounts", Fixed(1_000)),
            ("wanted", Fixed(1_000)),
            ("tasks", Fixed(TASKS)),
            ("requests", By(|setup| (by_task(setup) / 5).max(TASKS))),
            ("http", Fixed(1)),
        ],
        ..FRONT
    },
    Workload {
        name: "here-one",
        about: "one thread adds 1,000,000 times in place to one free counter; an add",
        sizes: ONE,
        ..ADDS
    },
    Workload {
        name: "fork-join",
        about: "fork-join Fibonacci of 25, a request and a reply a call; one of 485,570 behaviours",
        sizes: &[
            ("number", By(recursion::calls_within)),
            ("calls", By(|setup| recursion::calls_to_zero(recursion::calls_within(setup)))),
        ],
        result: "the Fibonacci number",
        expected: |sizes| recursion::fibonacci(sizes["number"]),
        ..MICRO
    },
    Workload {
        name: "cown-dining",
        about: "20 philosophers have 10,000 meals each with two forks; a meal",
        sizes: &[("philosophers", Fixed(20)), ("meals_each", Scaled(10_000))],
        result: "the uses of the forks",
        expected: |sizes| 2 * sizes["philosophers"] * sizes["meals_each"],
        ..MICRO
    },
    Workload {
        name: "independent",
        about: "64 chains of 100 pieces of work on a processor; a piece; the ratio of single to all workers is the speed-up",
        sizes: &[("chains", Fixed(64)), ("pieces", Scaled(100)), ("steps", Fixed(20_000))],
        result: "the number of pieces",
        expected: |sizes| sizes["chains"] * sizes["pieces"],
        ..MICRO
    },
    Workload {
        name: "actor-ring",
        about: "two tokens in a ring of 100 actors; a hop",
        sizes: RING,
        ..HOPS
    },
    Workload {
        name: "actor-ping-pong",
        about: "two actors, one message in flight; a message",
        sizes: &rings(1, 2, 1, 5_000_000),
        ..HOPS
    },
    Workload {
        name: "actor-pairs",
        about: "8 pairs of actors, one message in flight in each; a message",
        sizes: PAIRS,
        ..HOPS
    },
    Workload {
        name: "actor-wait",
        about: "a plain thread asks an actor and waits for the reply, 100,000 times; a round trip",
        sizes: &[("round_trips", Scaled(100_000))],
        ..REPLIES
    },
    Workload {
        name: "actor-count",
        about: "one actor sends 1,000,000 adds to another one; an add",
        sizes: ONE,
        ..ADDS
    },
    Workload {
        name: "skipped",
        about: "an actor takes 1,000,000 messages of two types in turns, with 10,000 of a third in front of them; a message",
        sizes: &[("skipped", Fixed(10_000)), ("taken", Scaled(1_000_000))],
        ..TAKEN
    },
    Workload {
        name: "none-skipped",
        about: "the same with an empty mailbox; a message",
        sizes: &[("skipped", Fixed(0)), ("taken", Scaled(1_000_000))],
        ..TAKEN
    },
    Workload {
        name: "cases-2",
        about: "an actor takes 1,000,000 tuples by two cases; a message",
        ..CASES
    },
    Workload { name: "cases-30", about: "the same by thirty cases; a message", ..CASES },
    Workload {
        name: "actor-caller",
        about: "one thread sends 1,000,000 adds to an idle actor that runs on its callers; an add",
        sizes: ONE,
        ..ADDS
    },
    Workload {
        name: "actor-ends",
        about: "the addresses of 1,000,000 idle actors are dropped, and all end; an end",
        sizes: &[("actors", Scaled(1_000_000))],
        result: "the number of dropped states",
        expected: |sizes| sizes["actors"],
        ..MICRO
    },
    Workload {
        name: "actor-lives",
        about: "1,000,000 actors are spawned and ended, 100 at a time; a life",
        sizes: &[("rounds", Scaled(10_000)), ("at_once", Fixed(100))],
        result: "the number of dropped states",
        expected: |sizes| sizes["rounds"] * sizes["at_once"],
        ..MICRO
    },
];

//! The actor benchmark suite Savina, in the selection of L. Cheeseman et al., *When concurrency
//! matters* (OOPSLA 2023).

use super::row::ROW;
use crate::work::filter_bank::Bank;
use crate::work::integral::{self, Integral};
use crate::work::logistic_map::{self, Terms};
use crate::work::lookups::{self, Load};
use crate::work::{matrices, primes, recursion, sorting, transactions};
use crate::workload::Size::{By, Fixed, Scaled, Times};
use crate::workload::{Group, Setup, Unit, Workload};

const SAVINA: Workload = Workload { group: Group::Savina, ..ROW };

/// Columns of a filter.
fn columns(setup: &Setup) -> u64 {
    setup.scaled_at_least(16_384, 2)
}

/// The limit of the sieve.
fn limit(setup: &Setup) -> u64 {
    setup.scaled_at_least(100_000, 3)
}

/// All of them, in the order of the reports.
pub const ALL: &[Workload] = &[
    Workload {
        name: "banking",
        about: "transactions between 1,000 accounts, each over two; a transaction",
        sizes: &[("accounts", Fixed(1_000)), ("transactions", Scaled(50_000))],
        result: "the weighted sum of the balances",
        expected: |sizes| transactions::weighted(sizes["accounts"], sizes["transactions"]),
        ..SAVINA
    },
    Workload {
        name: "big",
        about: "120 actors ping one another, chosen at random; a ping and its pong",
        sizes: &[("actors", Fixed(120)), ("pings", Scaled(20_000))],
        result: "the number of right pongs",
        expected: |sizes| sizes["actors"] * sizes["pings"],
        ..SAVINA
    },
    Workload {
        name: "bounded-buffer",
        about: "40 producers and 40 consumers that work, a buffer of 50 items between them; an item",
        sizes: &[
            ("producers", Fixed(40)),
            ("consumers", Fixed(40)),
            ("items", Scaled(1_000)),
            ("buffer", Fixed(50)),
            ("cost", Fixed(25)),
        ],
        result: "the sum of the items' numbers",
        expected: |sizes| {
            let items = sizes["producers"] * sizes["items"];
            items * (items - 1) / 2
        },
        ..SAVINA
    },
    Workload {
        name: "chameneos",
        about: "100 creatures meet in a mall, two at a time; a meeting",
        sizes: &[("creatures", Fixed(100)), ("meetings", Scaled(200_000))],
        result: "the meetings, counted by both",
        expected: |sizes| 2 * sizes["meetings"],
        ..SAVINA
    },
    Workload {
        name: "cigarette-smokers",
        about: "an arbiter has one of 200 smokers smoke at a time; a round",
        sizes: &[("smokers", Fixed(200)), ("rounds", Scaled(1_000))],
        result: "the steps that were smoked",
        expected: |sizes| lookups::smoked(sizes["rounds"]),
        ..SAVINA
    },
    Workload {
        name: "concurrent-dictionary",
        about: "20 workers ask a dictionary, a tenth of them to write; a question and its answer",
        sizes: &[("workers_n", Fixed(20)), ("messages", Scaled(10_000)), ("writes", Fixed(10))],
        result: "the sum of the answers",
        expected: |sizes| lookups::answers(sizes["workers_n"], sizes["messages"]),
        ..SAVINA
    },
    Workload {
        name: "concurrent-sorted-list",
        about: "20 workers ask a sorted list, a tenth of them to add; a question and its answer",
        sizes: &[
            ("workers_n", Fixed(20)),
            ("messages", Scaled(8_000)),
            ("writes", Fixed(10)),
            ("sizes", Fixed(1)),
        ],
        result: "the weighted sum of the list",
        expected: |sizes| {
            let (writes, list_sizes) = (sizes["writes"] as u32, sizes["sizes"] as u32);
            let load = Load { messages: sizes["messages"], writes, sizes: list_sizes };
            lookups::weighted(sizes["workers_n"], load)
        },
        ..SAVINA
    },
    Workload {
        name: "count",
        about: "a producer sends increments to a counter and asks for the count; an increment",
        sizes: &[("messages", Scaled(1_000_000))],
        result: "the count",
        expected: |sizes| sizes["messages"],
        ..SAVINA
    },
    Workload {
        name: "dining-philosophers",
        about: "20 philosophers eat with two forks each; a meal",
        sizes: &[("philosophers", Fixed(20)), ("rounds", Scaled(10_000))],
        result: "the number of meals",
        expected: |sizes| sizes["philosophers"] * sizes["rounds"],
        ..SAVINA
    },
    Workload {
        name: "fibonacci",
        about: "the 25th number by naive recursion; the whole",
        unit: Unit::Seconds,
        sizes: &[("n", By(recursion::number_within))],
        result: "the Fibonacci number",
        expected: |sizes| recursion::fibonacci(sizes["n"]),
        ..SAVINA
    },
    Workload {
        name: "filter-bank",
        about: "a signal through 8 chains of filters; a value of the signal",
        sizes: &[
            ("channels", Fixed(8)),
            ("columns", By(columns)),
            // Both filters of a bank must be full before anything comes out of it.
            ("simulations", By(|setup| setup.scaled_at_least(34_816, 2 * columns(setup)))),
        ],
        result: "the sum of the bits",
        expected: |sizes| {
            let (channels, columns) = (sizes["channels"], sizes["columns"]);
            Bank { channels, columns, simulations: sizes["simulations"] }.bits()
        },
        ..SAVINA
    },
    Workload {
        name: "fork-join-create",
        about: "an actor for each short computation; an actor",
        sizes: &[("workers_n", Scaled(40_000))],
        result: "the count of results above zero",
        expected: |sizes| sizes["workers_n"],
        ..SAVINA
    },
    Workload {
        name: "fork-join-throughput",
        about: "60 actors, each with a short computation for every message; a message",
        sizes: &[("actors", Fixed(60)), ("messages", Scaled(10_000))],
        result: "the number of messages handled",
        expected: |sizes| sizes["actors"] * sizes["messages"],
        ..SAVINA
    },
    Workload {
        name: "logistic-map",
        about: "ten series whose terms are computed by other actors; the whole",
        unit: Unit::Seconds,
        sizes: &[
            ("series", Fixed(10)),
            ("terms", Scaled(25_000)),
            ("start", Fixed(34_600)),
            ("increment", Fixed(25)),
        ],
        result: "the sum of the last terms' bits",
        expected: |sizes| {
            let (start, increment) = (sizes["start"], sizes["increment"]);
            let terms = Terms { series: sizes["series"], terms: sizes["terms"], start, increment };
            logistic_map::expected(terms)
        },
        ..SAVINA
    },
    Workload {
        name: "ping-pong",
        about: "two actors, one message in flight; a ping and its pong",
        sizes: &[("messages", Scaled(40_000))],
        result: "the number of pongs",
        expected: |sizes| sizes["messages"],
        ..SAVINA
    },
    Workload {
        name: "quicksort",
        about: "a list is split until the parts are small; a value",
        sizes: &[
            ("values", Scaled(1_000_000)),
            // Small enough that something is left to split.
            ("threshold", By(|setup| (setup.scaled(1_000_000) / 8).clamp(1, 2_048))),
            ("seed", Fixed(1_024)),
        ],
        result: "the sorted list's digest",
        expected: |sizes| sorting::sorted(sizes["values"], sizes["seed"]),
        ..SAVINA
    },
    Workload {
        name: "radix-sort",
        about: "values pass through 60 actors, each of which sorts by one bit; a value",
        sizes: &[("values", Scaled(100_000)), ("seed", Fixed(2_048))],
        result: "the digest of the values as they arrive",
        expected: |sizes| sorting::sorted(sizes["values"], sizes["seed"]),
        ..SAVINA
    },
    Workload {
        name: "recursive-matrix",
        about: "two matrices of 1,024 x 1,024 in 512 blocks; the whole",
        unit: Unit::Seconds,
        sizes: &[
            ("size", By(matrices::size)),
            ("workers_n", Fixed(20)),
            // An eighth of the size, so that there are always as many blocks.
            ("threshold", By(|setup| (matrices::size(setup) / 8).pow(2))),
        ],
        result: "the sum of the product",
        expected: |sizes| matrices::product(sizes["size"]),
        ..SAVINA
    },
    Workload {
        name: "sieve",
        about: "primes below 100,000, in a chain of actors with 1,000 each; the whole",
        unit: Unit::Seconds,
        sizes: &[
            ("limit", By(limit)),
            // Less where there are fewer primes, so that there is always a chain.
            ("buffer", By(|setup| (limit(setup) / 100).clamp(1, 1_000))),
        ],
        result: "the number of primes",
        expected: |sizes| primes::below(sizes["limit"]),
        ..SAVINA
    },
    Workload {
        name: "sleeping-barber",
        about: "customers who wait for one barber, and come again if all places are taken; a haircut",
        sizes: &[
            ("haircuts", Scaled(5_000)),
            ("places", Scaled(1_000)),
            ("production", Fixed(1_000)),
            ("haircut", Fixed(1_000)),
        ],
        result: "the number of haircuts",
        expected: |sizes| sizes["haircuts"],
        ..SAVINA
    },
    Workload {
        name: "thread-ring",
        about: "a token goes round a ring of 100 actors; a hop",
        sizes: &[("actors", Fixed(100)), ("hops", Scaled(100_000))],
        result: "the number of hops",
        expected: |sizes| sizes["hops"],
        ..SAVINA
    },
    Workload {
        name: "trapezoid",
        about: "100 workers compute parts of an integral; a piece",
        sizes: &[
            ("pieces", Times(100, 100_000)),
            ("workers_n", Fixed(100)),
            ("left", Fixed(1)),
            ("right", Fixed(5)),
        ],
        result: "the area in millionths",
        expected: |sizes| {
            let (left, right) = (sizes["left"], sizes["right"]);
            let (pieces, workers) = (sizes["pieces"], sizes["workers_n"]);
            integral::expected(Integral { pieces, workers, left, right })
        },
        ..SAVINA
    },
];

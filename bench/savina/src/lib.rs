//! The actor benchmark suite Savina, in the selection of L. Cheeseman et al., *When concurrency
//! matters* (OOPSLA 2023): 22 programs as actors that send messages, 11 of them also as behaviours
//! over several cowns, 2 as actors that take tuples.
//!
//! A file a program, in the folder of its form, written as a user would write it: their lines are
//! counted ([`LINES`]).

mod actors;
mod behaviours;
mod dynamic;
mod lines;
mod sizes;

pub use lines::{Form, LINES, Lines};

use coact_bench_programs::runtime::run;
use coact_bench_workloads::Way;
use coact_bench_workloads::work::matrices::Matrices;
use coact_bench_workloads::work::{recursion, sorting};

/// The actor form of each.
pub const ACTORS: &[Way] = &[
    Way::new(
        &["banking"],
        "coact",
        "an actor an account, which queues its transfers until the other one has answered",
        |given| {
            let (accounts, number) = (given.number("accounts")?, given.number("transactions")?);
            run(given, number, 1, move |done| actors::banking::start(accounts, number, done))
        },
    ),
    Way::new(&["big"], "coact", "a message each way", |given| {
        let (actors, pings) = (given.number("actors")?, given.number("pings")?);
        run(given, actors * pings, 1, move |done| actors::big::start(actors, pings, done))
    }),
    Way::new(
        &["bounded-buffer"],
        "coact",
        "a manager queues the items, and keeps who has nothing to do",
        |given| {
            let buffer = sizes::Buffer::of(given)?;
            run(given, buffer.producers * buffer.items, buffer.consumers, move |done| {
                actors::bounded_buffer::start(buffer, done)
            })
        },
    ),
    Way::new(
        &["chameneos"],
        "coact",
        "the mall tells the first of the second, who is told the colour",
        |given| {
            let (creatures, meetings) = (given.number("creatures")?, given.number("meetings")?);
            run(given, meetings, creatures, move |done| {
                actors::chameneos::start(creatures, meetings, done)
            })
        },
    ),
    Way::new(&["cigarette-smokers"], "coact", "a message each way", |given| {
        let (smokers, rounds) = (given.number("smokers")?, given.number("rounds")?);
        run(given, rounds, 1, move |done| actors::cigarette_smokers::start(smokers, rounds, done))
    }),
    Way::new(
        &["concurrent-dictionary"],
        "coact",
        "an ask each, whose answer comes back as a message",
        |given| {
            let (workers, load) = (given.number("workers_n")?, sizes::lookups(given)?);
            let map = actors::concurrent_dictionary::map();
            run(given, workers * load.messages, workers, move |done| {
                actors::concurrent_dictionary::start(map, workers, load, done)
            })
        },
    ),
    Way::new(
        &["concurrent-sorted-list"],
        "coact",
        "an ask each, whose answer comes back as a message",
        |given| {
            let (workers, load) = (given.number("workers_n")?, sizes::list_lookups(given)?);
            run(given, workers * load.messages, 1, move |done| {
                actors::concurrent_sorted_list::start(workers, load, done)
            })
        },
    ),
    Way::new(&["count"], "coact", "a message an increment", |given| {
        let messages = given.number("messages")?;
        run(given, messages, 1, move |done| actors::count::start(messages, done))
    }),
    Way::new(
        &["dining-philosophers"],
        "coact",
        "an arbiter has the forks; who is denied them asks again",
        |given| {
            let (philosophers, rounds) = (given.number("philosophers")?, given.number("rounds")?);
            run(given, philosophers * rounds, 1, move |done| {
                actors::dining_philosophers::start(philosophers, rounds, done)
            })
        },
    ),
    Way::new(
        &["fibonacci"],
        "coact",
        "an actor a call, which answers its parent and ends",
        |given| {
            let n = given.number("n")?;
            let calls = recursion::calls_to_one(n);
            run(given, calls, 1, move |done| actors::fibonacci::start(n, done))
        },
    ),
    Way::new(&["filter-bank"], "coact", "an actor a filter", |given| {
        let bank = sizes::bank(given)?;
        run(given, bank.simulations, 1, move |done| actors::filter_bank::start(bank, done))
    }),
    Way::new(
        &["fork-join-create"],
        "coact",
        "an actor each, which ends after its message",
        |given| {
            let workers = given.number("workers_n")?;
            run(given, workers, workers, move |done| actors::fork_join_create::start(workers, done))
        },
    ),
    Way::new(&["fork-join-throughput"], "coact", "a message each", |given| {
        let (actors, messages) = (given.number("actors")?, given.number("messages")?);
        run(given, actors * messages, actors, move |done| {
            actors::fork_join_throughput::start(actors, messages, done);
        })
    }),
    Way::new(
        &["logistic-map"],
        "coact",
        "a message a term, and two between the series and its computer",
        |given| {
            let terms = sizes::terms(given)?;
            run(given, terms.all(), terms.series, move |done| {
                actors::logistic_map::start(terms, done)
            })
        },
    ),
    Way::new(
        &["ping-pong"],
        "coact",
        "a message each way, between actors that know each other",
        |given| {
            let messages = given.number("messages")?;
            run(given, messages, 1, move |done| actors::ping_pong::start(messages, done))
        },
    ),
    Way::new(&["ping-pong"], "coact-dynamic", "a tuple, and a reply to its sender", |given| {
        let messages = given.number("messages")?;
        run(given, messages, 1, move |done| dynamic::ping_pong::start(messages, done))
    }),
    Way::new(&["quicksort"], "coact", "an actor a list, which asks two for its parts", |given| {
        let (values, threshold) = (given.number("values")?, given.size("threshold")?);
        let list = sorting::list(values, given.number("seed")?);
        run(given, values, 1, move |done| actors::quicksort::start(list, threshold, done))
    }),
    Way::new(&["radix-sort"], "coact", "a message a value and an actor", |given| {
        let (values, seed) = (given.number("values")?, given.number("seed")?);
        run(given, values, 1, move |done| actors::radix_sort::start(values as usize, seed, done))
    }),
    Way::new(&["recursive-matrix"], "coact", "a master deals blocks to 20 workers", |given| {
        let workers = given.number("workers_n")?;
        let matrices = Matrices::new(given.number("size")?, given.number("threshold")?);
        run(given, 1, 1, move |done| actors::recursive_matrix::start(workers, matrices, done))
    }),
    Way::new(&["sieve"], "coact", "a message a number and an actor", |given| {
        let (limit, buffer) = (given.number("limit")? as u32, given.size("buffer")?);
        run(given, 1, 1, move |done| actors::sieve::start(limit, buffer, done))
    }),
    Way::new(
        &["sleeping-barber"],
        "coact",
        "customers and the room are actors, the barber asks for the next",
        |given| {
            let shop = sizes::Shop::of(given)?;
            run(given, shop.haircuts, 1, move |done| actors::sleeping_barber::start(shop, done))
        },
    ),
    Way::new(&["thread-ring"], "coact", "a message a hop", |given| {
        let (actors, hops) = (given.number("actors")?, given.number("hops")?);
        run(given, hops, 1, move |done| actors::thread_ring::start(actors, hops, done))
    }),
    Way::new(&["thread-ring"], "coact-dynamic", "a tuple with its sender a hop", |given| {
        let (actors, hops) = (given.number("actors")?, given.number("hops")?);
        run(given, hops, 1, move |done| dynamic::thread_ring::start(actors, hops, done))
    }),
    Way::new(&["trapezoid"], "coact", "a master asks each worker for its area", |given| {
        let integral = sizes::integral(given)?;
        run(given, integral.pieces, 1, move |done| actors::trapezoid::start(integral, done))
    }),
];

/// The full form of those that have one.
pub const BEHAVIOURS: &[Way] = &[
    Way::new(&["banking"], "coact-full", "a behaviour over both accounts a transaction", |given| {
        let (accounts, number) = (given.number("accounts")?, given.number("transactions")?);
        run(given, number, 1, move |done| behaviours::banking::start(accounts, number, done))
    }),
    Way::new(&["chameneos"], "coact-full", "a behaviour over both creatures a meeting", |given| {
        let (creatures, meetings) = (given.number("creatures")?, given.number("meetings")?);
        run(given, meetings, creatures, move |done| {
            behaviours::chameneos::start(creatures, meetings, done)
        })
    }),
    Way::new(
        &["count"],
        "coact-full",
        "a behaviour an increment, and one over both at the end",
        |given| {
            let messages = given.number("messages")?;
            run(given, messages, 1, move |done| behaviours::count::start(messages, done))
        },
    ),
    Way::new(
        &["dining-philosophers"],
        "coact-full",
        "a behaviour over both forks a meal",
        |given| {
            let (philosophers, rounds) = (given.number("philosophers")?, given.number("rounds")?);
            run(given, philosophers * rounds, philosophers, move |done| {
                behaviours::dining_philosophers::start(philosophers, rounds, done)
            })
        },
    ),
    Way::new(
        &["fibonacci"],
        "coact-full",
        "a cown a call; one behaviour adds the other's to its own",
        |given| {
            let n = given.number("n")?;
            let calls = recursion::calls_to_one(n);
            run(given, calls, 1, move |done| behaviours::fibonacci::start(n, done))
        },
    ),
    Way::new(
        &["fork-join-create"],
        "coact-full",
        "a cown each, which its behaviour takes along",
        |given| {
            let workers = given.number("workers_n")?;
            run(given, workers, workers, move |done| {
                behaviours::fork_join_create::start(workers, done)
            })
        },
    ),
    Way::new(
        &["fork-join-throughput"],
        "coact-full",
        "a behaviour each, and one over all cowns at the end",
        |given| {
            let (actors, messages) = (given.number("actors")?, given.number("messages")?);
            run(given, actors * messages, 1, move |done| {
                behaviours::fork_join_throughput::start(actors, messages, done)
            })
        },
    ),
    Way::new(
        &["logistic-map"],
        "coact-full",
        "a behaviour over a series and its computer a term",
        |given| {
            let terms = sizes::terms(given)?;
            run(given, terms.all(), terms.series, move |done| {
                behaviours::logistic_map::start(terms, done)
            })
        },
    ),
    Way::new(
        &["quicksort"],
        "coact-full",
        "a cown a list; a behaviour over two parts and the whole joins them",
        |given| {
            let (values, threshold) = (given.number("values")?, given.size("threshold")?);
            let list = sorting::list(values, given.number("seed")?);
            run(given, values, 1, move |done| behaviours::quicksort::start(list, threshold, done))
        },
    ),
    Way::new(
        &["sleeping-barber"],
        "coact-full",
        "a behaviour over the barber and a customer is a haircut",
        |given| {
            let shop = sizes::Shop::of(given)?;
            run(given, shop.haircuts, 1, move |done| behaviours::sleeping_barber::start(shop, done))
        },
    ),
    Way::new(
        &["trapezoid"],
        "coact-full",
        "a cown an area, and one behaviour over all of them",
        |given| {
            let integral = sizes::integral(given)?;
            run(given, integral.pieces, 1, move |done| behaviours::trapezoid::start(integral, done))
        },
    ),
];

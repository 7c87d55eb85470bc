//! Our way to do the headline workloads and those of one path each, written as a user would write
//! them.
//!
//! A file a program, in the folder of its form; one that serves several sizes is there once. Beside
//! the folders lies what both forms of a program share.

mod actors;
mod behaviours;
mod cache;
mod counter;
mod dynamic;
mod idle;
pub mod runtime;
mod tellers;

use coact_bench_workloads::Way;

const COUNTERS: &[&str] = &["counter-1", "counter-2", "counter-4", "counter-8"];
const THREADS: &[&str] = &["two-producers", "many-to-one"];
const RINGS: &[&str] = &["cown-ring", "cown-rings", "cown-pairs", "cown-pairs-bulk"];
const ACTOR_RINGS: &[&str] = &["actor-ring", "actor-ping-pong", "actor-pairs"];
const NFOLD: &[&str] = &["ring-nfold-100", "ring-nfold-1000", "ring-nfold-10000"];
const GROUPED: &[&str] =
    &["pingpong-grouped-100", "pingpong-grouped-1000", "pingpong-grouped-10000"];
const BULK: &[&str] = &["pingpong-bulk-100", "pingpong-bulk-1000", "pingpong-bulk-10000"];
const CACHES: &[&str] = &["cache-calc-8", "cache-calc-64"];
const FRONTS: &[&str] = &["tokio-front", "tokio-front-skewed", "http-front"];

/// What each does, the first of a workload first.
#[rustfmt::skip]
pub const WAYS: &[Way] = &[
    Way::new(COUNTERS, "coact", "a message an add, then an ask", actors::counter::asked),
    Way::new(COUNTERS, "coact-caller", "the same, and the actor runs on the threads that send to it", actors::counter::asked_on_callers),
    Way::new(COUNTERS, "coact-here", "a cown, worked on at once by the thread if it is free: `when_here`", behaviours::counter::asked_here),
    Way::new(COUNTERS, "coact-cowns", "a cown, a behaviour an add, then one with a promise", behaviours::counter::asked),
    Way::new(&["mailbox-n1"], "coact", "a message each, into a mailbox without bounds", actors::counter::from_threads),
    Way::new(&["mailbox-n1"], "coact-dynamic", "a tuple each, without a sender", dynamic::counter::from_threads),
    Way::new(THREADS, "coact", "a behaviour an add", behaviours::counter::from_threads),
    Way::new(THREADS, "coact-credits", "a behaviour an add, 1,024 in flight at most", behaviours::counter::with_credits),
    Way::new(&["two-producers-spawned"], "coact", "a behaviour an add, spawned by two behaviours", behaviours::counter::spawned),
    Way::new(&["many-to-one-spawned"], "coact", "a behaviour an add, spawned by twenty behaviours", behaviours::counter::spawned),
    Way::new(&["one-cown"], "coact", "a behaviour an add, spawned by one behaviour", behaviours::counter::spawned),
    Way::new(&["here-one"], "coact", "when_here on the counter", behaviours::counter::here),
    Way::new(&["here-one"], "coact-behaviour", "the same inside a behaviour", behaviours::counter::here_in_a_behaviour),
    Way::new(&["actor-count"], "coact", "a message an add", actors::counter::from_an_actor),
    Way::new(&["actor-count"], "coact-dynamic", "a tuple an add, with its sender", dynamic::counter::from_an_actor),
    Way::new(&["skipped", "none-skipped"], "coact", "become, twice a pair", dynamic::skipped::run),
    Way::new(&["cases-2"], "coact", "two cases of two types", dynamic::cases::of_two),
    Way::new(&["cases-30"], "coact", "thirty cases of four types", dynamic::cases::of_thirty),
    Way::new(&["actor-count"], "coact-cowns", "a behaviour an add, spawned by one behaviour", behaviours::counter::spawned),
    Way::new(&["actor-caller"], "coact", "`Host::caller`, from a plain thread", actors::counter::on_the_caller),
    Way::new(&["actor-caller"], "coact-behaviour", "the same inside a behaviour", actors::counter::on_a_behaviour),
    Way::new(&["actor-caller"], "coact-workers", "an actor on the workers, from a plain thread", actors::counter::on_the_workers),

    Way::new(NFOLD, "coact", "the actors of a ring are a group", actors::ring_nfold::grouped),
    Way::new(NFOLD, "coact-ungrouped", "each actor for itself", actors::ring_nfold::ungrouped),
    Way::new(RINGS, "coact", "a cown a node, a behaviour a hop", behaviours::rings::run),
    Way::new(RINGS, "coact-grouped", "the same, with the nodes of a ring in one group", behaviours::rings::run_grouped),
    Way::new(ACTOR_RINGS, "coact", "an actor a node, a message a hop", actors::rings::run),
    Way::new(ACTOR_RINGS, "coact-grouped", "the same, with the nodes of a ring in one group", actors::rings::run_grouped),
    Way::new(&["actor-ring", "actor-ping-pong"], "coact-fiber", "an actor with a stack a node, a tuple with its sender a hop", dynamic::rings::on_fibers),
    Way::new(&["actor-ring", "actor-ping-pong"], "coact-fiber-together", "the same, all on one worker", dynamic::rings::on_fibers_together),
    Way::new(&["actor-ring", "actor-ping-pong"], "coact-dynamic", "an actor a node, a tuple with its sender a hop", dynamic::rings::run),
    Way::new(ACTOR_RINGS, "coact-cowns", "a cown a node, a behaviour a hop", behaviours::rings::run),
    Way::new(GROUPED, "coact", "each actor for itself", actors::pairs::single),
    Way::new(GROUPED, "coact-grouped", "a group a worker; the two of a pair lie in different ones", actors::pairs::single_across_groups),
    Way::new(BULK, "coact", "each actor for itself", actors::pairs::bulk),
    Way::new(BULK, "coact-grouped", "a pair is a group", actors::pairs::bulk_in_groups),

    Way::new(&["ask-latency"], "coact", "`Context::ask`: the answer comes back to the asker, as a message does", actors::ask::by_an_actor),
    Way::new(&["ask-latency"], "coact-dynamic", "a request, with cases for its answer", dynamic::ask::by_requests),
    Way::new(&["ask-latency"], "coact-dynamic-messages", "a tuple there, and a reply to its sender", dynamic::ask::by_messages),
    Way::new(&["ask-latency"], "coact-grouped", "the same, with both in one group", actors::ask::in_a_group),
    Way::new(&["ask-latency"], "coact-task", "a future asks, and awaits each answer", actors::ask::by_a_task),
    Way::new(&["ask-latency"], "coact-messages", "a message there, with the asker's address in it, and a message back", actors::request::run),
    Way::new(&["cown-ask"], "coact", "a behaviour on the server spawns one on the client", behaviours::ask::behaviours),
    Way::new(&["cown-ask"], "coact-promise", "ask the server, then go on with the client", behaviours::ask::promises),
    Way::new(&["actor-wait"], "coact", "`Addr::ask` and `Ask::wait`", actors::ask::by_a_thread),
    Way::new(&["actor-wait"], "coact-cowns", "a behaviour with a promise, which the thread waits for", behaviours::ask::waiting),

    Way::new(&["skynet"], "coact", "an actor has its children's addresses, and they live as long", actors::skynet::kept),
    Way::new(&["skynet-stop"], "coact", "a child's address is dropped at once, and so it ends after its work", actors::skynet::ended),
    Way::new(&["cown-skynet"], "coact", "a cown a node; a behaviour to make it, one to report", behaviours::skynet::run),
    Way::new(&["fork-join"], "coact", "a cown a call; a behaviour for the request, one for the reply", behaviours::fork_join::run),

    Way::new(&["spawn"], "coact", "an actor, spawned in a behaviour", actors::idle::spawned),
    Way::new(&["spawn"], "coact-cowns", "a cown and an empty behaviour on it, made in a behaviour", behaviours::idle::started),
    Way::new(&["idle-cowns"], "coact", "a cown in a cache line of its own, made in a behaviour", behaviours::idle::made),
    Way::new(&["idle-cowns"], "coact-packed", "a cown in no more memory than it takes", behaviours::idle::packed),
    Way::new(&["actor-ends"], "coact", "the last address of each is dropped by an actor", actors::idle::ended),
    Way::new(&["actor-ends"], "coact-cowns", "the last handle of each is dropped in a behaviour", behaviours::idle::ended),
    Way::new(&["actor-lives"], "coact", "an actor is spawned, and its address dropped", actors::lives::dropped),
    Way::new(&["actor-lives"], "coact-stopped", "an actor is spawned and stopped", actors::lives::stopped),
    Way::new(&["actor-lives"], "coact-cowns", "a cown is made, and its handle dropped", actors::lives::of_cowns),

    Way::new(&["reasonable-banking"], "coact", "an account is a cown, a transfer one behaviour on two", behaviours::tellers::reasonable),
    Way::new(&["reasonable-banking"], "coact-actors", "accounts that are acquired, a manager a transfer, and two phases", actors::tellers::reasonable),
    Way::new(&["busy-banking"], "coact", "an account is a cown, a transfer one behaviour on two", behaviours::tellers::busy),
    Way::new(&["busy-banking"], "coact-actors", "accounts that are acquired, a manager a transfer, and two phases", actors::tellers::busy),
    Way::new(&["transfers"], "coact", "a behaviour on both accounts", behaviours::bank::spawned),
    Way::new(&["transfers"], "coact-singles", "two behaviours, one on each account (not atomic)", behaviours::bank::singles),
    Way::new(&["here-free", "here-contended"], "coact", "when_here on both accounts", behaviours::bank::here),
    Way::new(&["crowd"], "coact", "each thread spawns a behaviour on both accounts a transfer", behaviours::bank::spawned_by_threads),
    Way::new(&["crowd"], "coact-here", "when_here on both accounts", behaviours::bank::here),
    Way::new(&["here-free"], "coact-behaviour", "the same inside a behaviour", behaviours::bank::here_in_a_behaviour),
    Way::new(FRONTS, "coact", "call_here on both accounts: at once, in the task, if they are free", behaviours::front::here),
    Way::new(FRONTS, "coact-call", "call on both accounts: a worker's turn", behaviours::front::asked),
    Way::new(FRONTS, "coact-hosted", "the same, with workers on tokio's threads", behaviours::front::hosted),

    Way::new(CACHES, "coact", "futures that ask an actor, and sleep by the runtime's timers", actors::cache::run),
    Way::new(CACHES, "coact-when", "a behaviour on a cown, and another by a timer", behaviours::cache::run),
    Way::new(&["dining-scale"], "coact", "a behaviour a meal; first the odd ones sit down, then the even", behaviours::dining::alternating),
    Way::new(&["dining-scale"], "coact-sequential", "the same; they sit down one beside the other", behaviours::dining::sequential),
    Way::new(&["cown-dining"], "coact", "a behaviour a meal; each philosopher owns its handles", behaviours::dining::owned),
    Way::new(&["cown-dining"], "coact-borrowed", "a behaviour a meal; the table is static, and no handle is cloned", behaviours::dining::borrowed),
    Way::new(&["mixed"], "coact", "an actor a link, a master, a worker and the collector", actors::mixed::run),
    Way::new(&["mixed"], "coact-dynamic", "the same actors, a tuple with its sender a message", dynamic::mixed::run),
    Way::new(&["fan-out"], "coact", "`Shared`: a pointer each", actors::fan_out::run),
    Way::new(&["independent"], "coact", "a cown a chain, a behaviour a piece", behaviours::chains::run),
    Way::new(&["independent"], "coact-single", "the same on one worker", behaviours::chains::run_single),
];

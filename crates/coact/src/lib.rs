//! Coact: behaviour-oriented concurrency for Rust. State lives in **cowns**; work on it is
//! **behaviours**, each of which names the cowns that it needs and runs once it holds them all.
//!
//! ```
//! use coact::prelude::*;
//!
//! let (from, to) = (Cown::new(100), Cown::new(0));
//! when((&from, &to), |(from, to)| { *from -= 30; *to += 30; });
//! let both = call((from.read(), to.read()), |(from, to)| (*from, *to));
//! assert_eq!(both.wait(), Ok((70, 30)));
//! ```
//!
//! **Actors** are cowns with an address, messages and a lifecycle. Messages to them and behaviours
//! over several of them share one total order:
//!
//! ```
//! use coact::prelude::*;
//!
//! #[derive(Actor)]
//! struct Account { balance: i64 }
//!
//! #[handlers]
//! impl Account {
//!     #[message]
//!     fn deposit(&mut self, amount: i64) -> i64 { self.balance += amount; self.balance }
//! }
//!
//! let (a, b) = (spawn(Account { balance: 0 }), spawn(Account { balance: 0 }));
//! a.send(Deposit { amount: 100 })?;
//! when((&a, &b), |(a, b)| { a.balance -= 30; b.balance += 30; });
//! assert_eq!(a.ask(Deposit { amount: 1 }).wait()?, 71);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A behaviour is atomic, behaviours whose cowns overlap run in the order in which they were
//! spawned, and none can deadlock. The compiler checks the rest: state is reachable in a behaviour
//! only, so there are no data races, and no guard that could be held too long.
//!
//! # Concepts
//!
//! | you want to | use |
//! | --- | --- |
//! | keep state | [`Cown::new`]; weak handles: [`Cown::downgrade`] |
//! | work on one or several cowns | [`when`]; what it takes, besides a single cown: [`CownSet`] |
//! | work on a slice of them | [`when`] on `&cowns`: the closure gets [`Members`] |
//! | read them, in parallel with other readers | [`Cown::read`], [`read_all`] |
//! | use those that are not poisoned, and learn which are | [`ReadAll::checked`], [`checked_all`] |
//! | pass a cown on with its work | the handle by value: the closure gets [`Held`] |
//! | let cowns talk to each other at the least cost | [`Group`]: one queue for all of them |
//! | have a result | [`call`], which gives a [`Promise`]: await it, wait for it, or chain cowns to it |
//! | run on the spot if the cowns are free | [`when_here`]; with a result: [`call_here`] |
//! | be told if it cannot run to its end | [`when_or_else`] |
//! | spawn several behaviours as one step | [`batch`]; later, or in a loop: [`Batch`] |
//! | keep the cowns until something else is done, without a thread | [`detain`](behaviour::detain) |
//! | borrow from the stack | [`scope`] |
//! | work later, or again and again | [`after`], [`every`], [`sleep`] |
//! | hold back producers that are too fast | [`Credits`] |
//! | block, or await | [`blocking`], [`spawn_future`] |
//! | go on after a panic | [`Cown::checked`], [`Poisoned`], [`StoreFault`] |
//! | choose workers and hooks, wait for the end of all work, shut down | [`Runtime`], [`Builder`] |
//! | keep state on one thread, that of a user interface or a test | [`Pump`] |
//! | let behaviours block | [`Builder::on_blocking_threads`] |
//! | share the threads of tokio, or of another executor | [`Builder::on_executor`] |
//! | have state with an address, messages and a lifecycle | [`Actor`], [`Handler`], [`handlers`], [`spawn`], [`actor`] |
//! | send, ask and reply | [`Addr::send`], [`Addr::ask`], [`Context::ask`], [`Reply`], [`Recipient`] |
//! | await in a handler | [`Context::detach`], [`Context::hold`]; circles of asks: [`AskCycle`] |
//! | restart what fails | [`Supervisor`], [`Tree`]; links and monitors: [`Context::link`], [`Context::monitor`] |
//! | bound a mailbox, or give it lanes | [`Mailbox`] |
//! | choose where actors run | [`System`], [`Host`]; actors that are not `Send`: [`actor_local`] |
//! | let actors share one queue | [`Group`] |
//! | find, group and spread them | [`lookup`], [`Router`], [`Pool`], [`Topic`], [`events`] |
//! | take streams, and offer them | [`Context::attach`], [`Addr::stream`] |
//! | let a plain thread take part | [`this_thread`] |
//! | run actors inside of tokio | [`Builder::around_threads`], [`RuntimeHandle::within`] |
//! | have what happens to actors stored, and several of them change in one commit | the module `durable` (feature `durable`; example `39_durable_actors`) |
//! | keep at hand what is asked for often, and load it once for all askers | the module `cache` (feature `cache`; example `40_caching`) |
//! | test a program under all its interleavings | the module `sim` (feature `sim`; example `13_simulation`) |
//!
//! The root has the names of nearly every program; everything has its module, by concept; and the
//! [`prelude`] has some thirty names, none of which means something else elsewhere.
//!
//! # What dropping does
//!
//! It depends on the type alone:
//!
//! | dropping | of | does |
//! | --- | --- | --- |
//! | names and results | `Promise`, `Answer`, `Ask`, `FirstAnswer`, `Request`, `Timer`, `AttachedStream`, `MonitorId`, `OnDownId` | nothing: the message, the work, the timer, the stream or the monitor goes on, and ends by itself, or by `cancel`, `detach`, `demonitor` or `cancel_on_down` |
//! | guards | `Subscription`, `Sleep`, `Acquire`, `Permit`, `WaitFor`, `ActorStream`, `EnterGuard`, `Busy`, `OnCancel` | ends what it guards; so each is `#[must_use]`. A subscription can be kept: `Subscription::keep` |
//! | obligations | `Resolver`, `Reply`, `Demand` | breaks the promise, fails the ask, ends the stream; so each is `#[must_use]` |
//! | owners | `Cown`, `Addr`, `Recipient`, `Supervisor`, `Pool`, `Runtime`, `System` | nothing before the last one, which ends what is owned |
//!
//! # Features
//!
//! * `actors` (on): addresses, messages, supervision, mailboxes. Without it the crate is cowns and
//!   behaviours alone.
//! * `macros` (on): `#[handlers]`, and `Actor` and `Message` to be derived. Implies `actors`.
//! * `dynamic` (off): dynamically typed messages, and actors that take them. Implies `macros`.
//! * `durable` (off): durable actors, which are stored. Implies `macros`. Stores in a file and in a
//!   database are the crates `coact-sqlite` and `coact-postgres`.
//! * `cache` (off): caching actors, with loads and writes through or behind. Implies `actors`.
//! * `sim` (off): the deterministic mode, which runs whole programs under a seeded scheduler, on
//!   one thread, in virtual time. For tests.
//!
//! The compiler names the feature that an item needs: "the item is gated behind the `sim` feature".
//!
//! # Going on
//!
//! The folder `examples` of the repository has a small program for each row of the table;
//! `docs/from` has a page for each system that you may come from, `docs/patterns.md` what comes up
//! in real programs, `docs/glossary.md` the words, `docs/semantics.md` the contract, one sentence a
//! point, and `ARCHITECTURE.md` the map of the code.
//!
//! [`AskCycle`]: actor::AskCycle
//! [`Builder`]: runtime::Builder
//! [`Builder::around_threads`]: runtime::Builder::around_threads
//! [`Builder::on_blocking_threads`]: runtime::Builder::on_blocking_threads
//! [`Builder::on_executor`]: runtime::Builder::on_executor
//! [`CownSet`]: cown::CownSet
//! [`Credits`]: credits::Credits
//! [`StoreFault`]: runtime::Fault
//! [`Held`]: cown::Held
//! [`Host`]: system::Host
//! [`Mailbox`]: mailbox::Mailbox
//! [`Members`]: cown::Members
//! [`Poisoned`]: cown::Poisoned
//! [`Pool`]: routing::Pool
//! [`Pump`]: runtime::Pump
//! [`ReadAll::checked`]: cown::ReadAll::checked
//! [`Recipient`]: actor::Recipient
//! [`Reply`]: actor::Reply
//! [`Router`]: routing::Router
//! [`RuntimeHandle::within`]: runtime::RuntimeHandle::within
//! [`Supervisor`]: supervise::Supervisor
//! [`System`]: system::System
//! [`Topic`]: pubsub::Topic
//! [`Tree`]: supervise::Tree
//! [`actor`]: actor::actor
//! [`actor_local`]: actor::actor_local
//! [`after`]: time::after
//! [`blocking`]: runtime::blocking
//! [`checked_all`]: cown::checked_all
//! [`events`]: pubsub::events
//! [`every`]: time::every
//! [`lookup`]: registry::lookup
//! [`read_all`]: cown::read_all
//! [`sleep`]: time::sleep
//! [`spawn_future`]: runtime::spawn_future

#![forbid(unsafe_code)]

// The verbs and nouns of nearly every program.
#[cfg(feature = "actors")]
pub use coact_actor::{Actor, Addr, Context, Handler, Message, spawn};
pub use coact_core::{
    Batch, Broken, Cown, Group, Promise, Runtime, WeakCown, batch, call, call_here, scope,
    try_call, try_when, when, when_here, when_or_else,
};
#[cfg(feature = "macros")]
pub use coact_macros::{Actor, Message, handlers, message};

// Cowns and behaviours.
#[doc(inline)]
pub use coact_core::{behaviour, cown, credits, group, promise, runtime, time};

#[cfg(feature = "sim")]
#[doc(inline)]
pub use coact_core::sim;

// Actors.
#[cfg(feature = "actors")]
#[doc(inline)]
pub use coact_actor::{mailbox, pubsub, registry, routing, stream, supervise, system, this_thread};

/// Actors: what one is, how it is spawned and reached, and what it is told.
#[cfg(feature = "actors")]
pub mod actor {
    #[doc(inline)]
    pub use coact_actor::actor::*;
    #[cfg(feature = "macros")]
    #[doc(inline)]
    pub use coact_macros::{Actor, Message, handlers, message};
}

/// Dynamically typed messages: tuples of any types, atoms, cases that take them, and actors that
/// change their cases.
#[cfg(feature = "dynamic")]
pub mod dynamic {
    #[doc(inline)]
    pub use coact_dynamic::*;
    #[doc(inline)]
    pub use coact_macros::{Element, cases};
}

/// Durable actors: actors whose state outlives their process, since what happens to them is stored.
///
/// A state is [`EventSourced`](durable::EventSourced), and changed by events alone, or a
/// [`DurableState`](durable::DurableState), which is stored as it is. [Commands](durable::Decide)
/// and behaviours decide; what they decide is stored through a [`Journal`](durable::Journal) before
/// anyone learns of it; and a `when` over several is one commit, or nothing.
///
/// ```
/// use coact::durable::{DurableState, EntityId, Journal, MemoryStore, stored};
/// use coact::prelude::*;
///
/// #[stored(name = "shop.stock")]
/// #[derive(Clone)]
/// struct Stock { #[n(0)] pieces: u64 }
///
/// impl DurableState for Stock {
///     const KIND: &'static str = "shop.stock";
///     fn new(_: &EntityId) -> Self { Self { pieces: 10 } }
/// }
///
/// let journal = Journal::new(MemoryStore::new());
/// let (here, there) = (journal.entity::<Stock>("here"), journal.entity::<Stock>("there"));
/// let moved = call((&here, &there), |(here, there)| {
///     here.update(|stock| stock.pieces -= 3);
///     there.update(|stock| stock.pieces += 3);
///     there.pieces
/// });
/// assert_eq!(moved.wait()?, 13);
/// # Ok::<(), coact::Broken>(())
/// ```
///
/// Stores are in memory ([`MemoryStore`](durable::MemoryStore)), in a file
/// (`coact_sqlite::SqliteStore`) and in a database (`coact_postgres::PostgresStore`): crates of
/// their own. The guide is `docs/actors/durable.md` of the repository, the promises are those with
/// an E in `docs/semantics.md`, and `examples/bank` is a program that can be killed at any time.
#[cfg(feature = "durable")]
pub mod durable;

/// Caching actors: what is asked for often, kept at hand, loaded once for all askers, and written
/// through or behind.
#[cfg(feature = "cache")]
pub mod cache {
    #[doc(inline)]
    pub use coact_cache::*;
}

/// What nearly every program needs: `use coact::prelude::*;`.
///
/// No name in it is that of something else in this crate, and few are of what programs import every
/// day from elsewhere: of `std::thread` these are `spawn` and `scope`, best written with their
/// module (`thread::spawn`). All else has its module.
pub mod prelude {
    #[cfg(feature = "actors")]
    #[doc(no_inline)]
    pub use coact_actor::actor::{
        Actor, Addr, Ask, AskError, ExitReason, Handler, Message, Receive, Recipient, Reply,
        SendError, actor, spawn,
    };
    #[doc(no_inline)]
    pub use coact_core::cown::read_all;
    #[doc(no_inline)]
    pub use coact_core::time::{after, every};
    #[doc(no_inline)]
    pub use coact_core::{
        Batch, Broken, Cown, Group, Promise, Runtime, batch, call, scope, try_when, when, when_here,
    };
    #[cfg(feature = "macros")]
    #[doc(no_inline)]
    pub use coact_macros::{Actor, Message, handlers, message};
}

/// What the project's own crates and tests need and programs do not: no part of the interface, and
/// it may change at any time.
#[doc(hidden)]
pub mod internals {
    #[cfg(feature = "actors")]
    pub use coact_actor::internals::*;
    pub use coact_core::internals::*;
}

/// The guide's programs.
#[cfg(all(doctest, feature = "sim"))]
#[doc = include_str!("../../../docs/testing.md")]
struct TestingGuide;

/// The page about behaviours.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../../../docs/behaviours.md")]
struct BehavioursGuide;

/// The programs of the patterns, which are tested under simulation.
#[cfg(all(doctest, feature = "macros", feature = "sim"))]
#[doc = include_str!("../../../docs/patterns.md")]
struct PatternsGuide;

/// The first page of the repository.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../../../README.md")]
struct ReadmePage;

/// The pages about actors. (Those on streams and tokio need more crates: `tests/src/lib.rs` has
/// them.)
#[cfg(all(doctest, feature = "macros"))]
mod actors {
    #[doc = include_str!("../../../docs/actors/actors.md")]
    struct Actors;

    #[doc = include_str!("../../../docs/actors/async.md")]
    struct Async;

    #[cfg(all(feature = "cache", feature = "durable"))]
    #[doc = include_str!("../../../docs/actors/caching.md")]
    struct Caching;

    #[cfg(feature = "durable")]
    mod durable {
        #[doc = include_str!("../../../docs/actors/durable/confirmed.md")]
        struct Confirmed;

        #[doc = include_str!("../../../docs/actors/durable/evolution.md")]
        struct Evolution;

        #[doc = include_str!("../../../docs/actors/durable/first-steps.md")]
        struct FirstSteps;

        #[doc = include_str!("../../../docs/actors/durable/messages.md")]
        struct Messages;

        #[doc = include_str!("../../../docs/actors/durable/operations.md")]
        struct Operations;

        #[doc = include_str!("../../../docs/actors/durable/outcomes.md")]
        struct Outcomes;

        #[doc = include_str!("../../../docs/actors/durable/pipelined.md")]
        struct Pipelined;

        #[doc = include_str!("../../../docs/actors/durable/projections.md")]
        struct Projections;

        #[doc = include_str!("../../../docs/actors/durable/repeated-requests.md")]
        struct RepeatedRequests;

        #[doc = include_str!("../../../docs/actors/durable/tests.md")]
        struct Tests;
    }

    #[cfg(feature = "dynamic")]
    #[doc = include_str!("../../../docs/actors/dynamic.md")]
    struct Dynamic;

    #[doc = include_str!("../../../docs/actors/events.md")]
    struct Events;

    #[doc = include_str!("../../../docs/actors/groups.md")]
    struct Groups;

    #[doc = include_str!("../../../docs/actors/hosts.md")]
    struct Hosts;

    #[doc = include_str!("../../../docs/actors/mailboxes.md")]
    struct Mailboxes;

    #[doc = include_str!("../../../docs/actors/messages.md")]
    struct Messages;

    #[doc = include_str!("../../../docs/actors/registry.md")]
    struct Registry;

    #[doc = include_str!("../../../docs/actors/routing.md")]
    struct Routing;

    #[doc = include_str!("../../../docs/actors/supervision.md")]
    struct Supervision;

    #[doc = include_str!("../../../docs/actors/threads.md")]
    struct Threads;

    #[doc = include_str!("../../../docs/actors/timeouts.md")]
    struct Timeouts;
}

/// The pages for those who come from elsewhere.
#[cfg(all(doctest, feature = "macros"))]
mod from {
    #[doc = include_str!("../../../docs/from/akka.md")]
    struct Akka;

    #[doc = include_str!("../../../docs/from/erlang.md")]
    struct Erlang;

    #[doc = include_str!("../../../docs/from/kameo-actix-ractor.md")]
    struct KameoActixRactor;

    #[cfg(feature = "dynamic")]
    #[doc = include_str!("../../../docs/from/libcppa.md")]
    struct Libcppa;

    #[doc = include_str!("../../../docs/from/mutexes.md")]
    struct Mutexes;

    #[doc = include_str!("../../../docs/from/tokio.md")]
    struct Tokio;

    #[doc = include_str!("../../../docs/from/verona.md")]
    struct Verona;
}

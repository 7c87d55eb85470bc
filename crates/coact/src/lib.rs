//! Coact: behaviour-oriented concurrency for Rust. State lives in **cowns**; work on it is
//! **behaviours**, each of which names the cowns that it needs and runs once it holds them all.
//!
//! ```
//! use coact::prelude::*;
//!
//! let (from, to) = (Cown::new(100), Cown::new(0));
//! when((&from, &to), |(from, to)| { *from -= 30; *to += 30; });
//! let both = ask((from.read(), to.read()), |(from, to)| (*from, *to));
//! assert_eq!(both.wait(), Ok((70, 30)));
//! ```
//!
//! **Actors** are cowns with an address, messages and a life of their own; messages to them and
//! behaviours over several of them stand in one order:
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
//! | work on one or several cowns | [`when`]; what can stand in front of the closure: [`CownSet`] |
//! | work on a slice of them | [`when`] on `&cowns`: the closure gets [`Members`] |
//! | read them, in parallel with other readers | [`Cown::read`], [`read_all`] |
//! | have all that are sound, and be told which are not | [`ReadAll::checked`], [`checked_all`] |
//! | pass a cown on with its work | the handle by value: the closure gets [`Held`] |
//! | let cowns talk to each other at the least cost | [`Group`]: one queue for all of them |
//! | have a result | [`ask`], which gives a [`Promise`]: await it, wait for it, or chain cowns to it |
//! | run right here if nobody is in the way | [`when_here`]; with a result: [`ask_here`] |
//! | be told if it cannot run to its end | [`when_or_else`] |
//! | spawn several behaviours as one step | [`batch`] |
//! | borrow from the stack | [`scope`] |
//! | work later, or again and again | [`after`], [`every`], [`sleep`] |
//! | hold back producers that are too fast | [`Credits`] |
//! | block, or await | [`blocking`], [`spawn_future`] |
//! | go on after a panic | [`Cown::checked`], [`Poisoned`], [`Fault`] |
//! | choose workers and hooks, wait for the end of all work, shut down | [`Runtime`], [`Builder`] |
//! | keep state on one thread, that of a user interface or a test | [`Pump`] |
//! | let behaviours block | [`Builder::on_blocking_threads`] |
//! | share the threads of tokio, or of another executor | [`Builder::on_executor`] |
//! | have state with an address, messages and a life | [`Actor`], [`Handler`], [`handlers`], [`spawn`], [`actor`] |
//! | send, ask, and be answered | [`Addr::send`], [`Addr::ask`], [`Context::ask`], [`Reply`], [`Recipient`] |
//! | await in a handler | [`Context::detach`], [`Context::hold`]; circles of asks: [`AskCycle`] |
//! | restart what fails | [`Supervisor`], [`Tree`]; links and monitors: [`Context::link`], [`Context::monitor`] |
//! | bound a mailbox, or give it lanes | [`Mailbox`] |
//! | choose where actors run | [`System`], [`Host`]; actors that are not `Send`: [`actor_local`] |
//! | let actors share one queue | [`Group`] |
//! | find, group and spread them | [`lookup`], [`Router`], [`Pool`], [`Topic`], [`events`] |
//! | take streams, and offer them | [`Context::attach`], [`Addr::stream`] |
//! | let a plain thread take part | [`this_thread`] |
//! | run actors inside of tokio | [`Builder::around_threads`], [`RuntimeHandle::within`] |
//! | test a program under all its interleavings | the module `sim` (feature `sim`; example `13_simulation`) |
//!
//! # Features
//!
//! * `actors` (on): addresses, messages, supervision, mailboxes. Without it the crate is cowns and behaviours alone.
//! * `macros` (on): `#[handlers]`, and `Actor` and `Message` to be derived. Implies `actors`.
//! * `sim` (off): the deterministic mode, which runs whole programs under a seeded scheduler, on one
//!   thread, in virtual time. For tests.
//!
//! # Going on
//!
//! The folder `examples` of the repository has a small program for each row of the table;
//! `docs/semantics.md` has the contract, one sentence a point, and `ARCHITECTURE.md` the map of the
//! code.

#![forbid(unsafe_code)]

#[cfg(feature = "actors")]
pub use coact_actor::*;
pub use coact_core::*;
#[cfg(feature = "macros")]
pub use coact_macros::*;

/// What most programs use: `use coact::prelude::*;`.
pub mod prelude {
    // Actors.
    #[cfg(feature = "actors")]
    pub use coact_actor::{
        Actor, ActorId, ActorStream, Addr, AnyAddr, Ask, AskCycle, AskError, Attached, Context,
        Demand, Down, ExitReason, Exited, Handler, Lane, Mailbox, Message, Receive, ReceiveTimeout,
        Recipient, Reply, SendActor, SendError, Shared, Stopped, StreamEnd, WeakAddr, actor, spawn,
        this_thread,
    };
    #[cfg(feature = "actors")]
    pub use coact_actor::{
        Backoff, Child, Restart, Shutdown, Supervisor, Tree, permanent, temporary, transient,
    };
    // Where they run.
    #[cfg(feature = "actors")]
    pub use coact_actor::{Host, PumpActors, Spread, System, actor_local, dispatcher, spawn_local};
    // Finding and grouping them.
    #[cfg(feature = "actors")]
    pub use coact_actor::{
        LookupError, NameTaken, NoAnswer, Pool, Registry, RouteError, Router, Routing, Scatter,
        Subscription, Topic, TopicTree, Uid, events, lookup, registry, topic, whereis,
    };
    #[cfg(feature = "macros")]
    pub use coact_macros::{Actor, Message, handlers, message};
    // What is spawned, and on what.
    pub use coact_core::{
        Batch, Checked, CheckedMembers, CheckedReadMembers, Cown, CownId, CownSet, Group, Held,
        MemberError, Members, Read, ReadAll, ReadMembers, Scope, WeakCown, ask, ask_here, batch,
        checked_all, read_all, scope, try_ask, try_when, when, when_here, when_or_else,
    };
    // What comes of it.
    pub use coact_core::{
        Answer, Broken, Fault, Overlap, Poisoned, PoisonedRead, Promise, Refusal, Resolver,
        WhenError,
    };
    // Where, when, and how much of it.
    pub use coact_core::{
        Acquire, BuildError, Builder, Credits, EnterGuard, MoveError, Permit, Pump, PumpHandle,
        Runtime, RuntimeHandle, ShutdownReport, Timer, WorkerFuture, after, blocking, every,
        every_with_fixed_delay, sleep, spawn_future,
    };
}

/// The guide's programs.
#[cfg(all(doctest, feature = "sim"))]
#[doc = include_str!("../../../docs/testing.md")]
struct TestingGuide;

//! Actors on cowns: state with an address, messages and a life of its own.
//!
//! An actor is a cown with a lifecycle; a message is a behaviour on one cown. So messages and
//! `when((&a, &b), …)` over several actors stand in one order, and none of it can deadlock. Users
//! take the crate `coact`, which exports all of this.
//!
//! Reading order: `actor` (what users write), `address` (how they reach it), `cell` (an actor as
//! the state of a cown: everything that happens to it), `signal` (what overtakes messages),
//! `mailbox` (how many messages wait, and which comes first).

#![forbid(unsafe_code)]

mod actor;
mod address;
mod any;
mod ask;
mod begun;
mod caught;
mod cell;
mod context;
mod cycle;
mod error;
mod events;
mod exit;
mod hold;
mod host;
mod id;
mod idle_timeout;
mod links;
mod mailbox;
mod once;
mod outbox;
mod park;
mod pool;
mod recipient;
mod registry;
mod reply;
mod router;
mod services;
mod settings;
mod shared;
mod shared_state;
mod signal;
mod spawn;
mod stream;
mod supervise;
mod system;
pub mod this_thread;
mod timers;
mod topic;
mod waiting;
mod watch;

pub use actor::{Actor, Handler, Message, MessageTo, Receive, SendActor, SyncActor};
pub use address::{Addr, WeakAddr};
pub use any::AnyAddr;
pub use ask::Ask;
#[doc(hidden)]
pub use cell::Cell;
pub use context::Context;
pub use cycle::{AskCycle, CycleAsk};
pub use error::{AskError, SendError, Stopped};
pub use events::{
    ActorFailed, ActorRestarted, ActorStarted, ActorStopped, DeadLetter, DropCause, EventCounts,
    Events, LateReply, MessageDropped, events,
};
pub use exit::ExitReason;
pub use hold::HeldFuture;
pub use host::{CALLER_BATCH, Host, PumpActors, Spread};
pub use id::ActorId;
pub use idle_timeout::ReceiveTimeout;
pub use links::{Down, Exited, MonitorId};
pub use mailbox::{BehavioursView, Lane, LaneView, Mailbox, MailboxView, StashFull};
pub use pool::{Pool, PoolBuilder};
pub use recipient::{Recipient, WeakRecipient};
pub use registry::{
    BadUid, LookupError, NameTaken, RegisterError, Registry, Uid, Whereis, lookup, registry,
    whereis,
};
pub use reply::Reply;
pub use router::{NoAnswer, RouteError, Router, Routing, Scatter};
pub use shared::Shared;
pub use spawn::{Spawn, actor, actor_local, spawn, spawn_local};
pub use stream::{
    ActorStream, Attached, ConsumerGone, Demand, Feed, OfferEnd, PushError, StreamEnd, StreamId,
};
pub use supervise::{
    Backoff, Child, ChildError, ChildInfo, ChildState, Counts, IntoChild, Request, Restart,
    Shutdown, StartError, Strategy, Supervisor, Tree, permanent, temporary, transient,
};
pub use system::{System, SystemBuilder, SystemError, SystemReport, UnknownDispatcher, dispatcher};
pub use topic::{BadPattern, Published, Subscription, Topic, TopicTree, topic};

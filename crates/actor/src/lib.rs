//! Actors on cowns: state with an address, messages and a lifecycle.
//!
//! An actor is a cown with a lifecycle; a message is a behaviour on one cown. So messages and
//! `when((&a, &b), …)` over several actors share one total order, and none of it can deadlock.
//! Users depend on the crate `coact`, which has the same modules.
//!
//! Reading order: `handler` (what users write), `address` (how they reach it), `cell` (an actor as
//! the state of a cown: everything that happens to it), `signal` (what overtakes messages),
//! `mailbox` (how many messages wait, and which comes first).

#![forbid(unsafe_code)]

mod address;
mod any_addr;
mod ask;
mod attached_streams;
mod backpressure;
mod block_on;
mod cell;
mod context;
mod context_extras;
mod cycle;
#[cfg(feature = "dynamic")]
mod elements;
mod events;
mod exit;
mod handler;
mod holding_future;
mod host;
mod id;
mod in_flight;
mod intensity;
mod lifecycle;
mod links;
mod lookup_error;
pub mod mailbox;
mod message;
mod monitor;
mod monitor_guard;
mod once_lock;
mod owned_work;
mod parts;
mod pending_sends;
mod pool;
mod recipient;
pub mod registry;
mod reply;
mod router;
mod runtime_singleton;
mod send_error;
mod settings;
mod shared_message;
mod shared_state;
mod signal;
mod spawn;
mod spawn_on_pump;
pub mod stream;
mod subscribe;
pub mod supervise;
mod supervised_side;
pub mod system;
pub mod this_thread;
mod thread_queue;
mod timeout_slots;
mod timer_table;
mod timers;
mod topic;

/// Actors: what an actor is, how it is spawned and reached, and the notifications that it receives.
pub mod actor {
    pub use crate::any_addr::AnyAddr;
    pub use crate::ask::Ask;
    pub use crate::context::ReceiveTimeout;
    pub use crate::cycle::{AskCycle, CycleAsk};
    pub use crate::exit::{ExitReason, Stopped};
    pub use crate::handler::{Handler, HasApi, MessageTo, Receive, SendActor, SyncActor};
    pub use crate::id::ActorId;
    pub use crate::message::Message;
    pub use crate::monitor::{Down, Exited, MonitorId, OnDownId};
    pub use crate::parts::Actor;
    pub use crate::parts::Context;
    pub use crate::parts::HeldFuture;
    pub use crate::parts::{Addr, WeakAddr};
    pub use crate::recipient::{Recipient, WeakRecipient};
    pub use crate::reply::Reply;
    pub use crate::send_error::{AskError, SendError};
    pub use crate::shared_message::Shared;
    pub use crate::spawn::{Spawn, actor, actor_local, spawn, spawn_local};
    pub use crate::timer_table::TimerKey;
    pub use crate::timers::KeyedTimers;
}

/// One address for many actors: routers, and pools of the same actor.
pub mod routing {
    pub use crate::pool::{Pool, PoolBuilder};
    pub use crate::router::{FirstAnswer, NoAnswer, RouteError, Router, Routing};
}

/// Messages to all subscribers: topics, and the events of a runtime.
pub mod pubsub {
    pub use crate::events::{
        ActorFailed, ActorRestarted, ActorStarted, ActorStopped, DeadLetter, DropCause,
        EventCounts, Events, HookTaken, LateReply, MessageDropped, UndeliveredCause,
        UndeliveredMessage, events,
    };
    pub use crate::topic::{BadPattern, PublishReport, Subscription, Topic, TopicTree, topic};
}

pub use actor::{Actor, Addr, Context, Handler, Message, spawn};

/// Internals for the facade, not for programs: not part of the interface, and subject to change at
/// any time.
#[doc(hidden)]
pub mod internals {
    pub use crate::context::extension::*;
    pub use crate::parts::ActorCell;
    pub use crate::reply::{UnwindReason, reply_channel};
    pub use crate::thread_queue::ThreadQueue;
}

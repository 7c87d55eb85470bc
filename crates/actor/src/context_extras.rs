//! The parts of a context that few actors need: pending operations, the stash, streams, timers.

use std::any::Any;

use coact_sync::shim::process::Mutex;

use crate::attached_streams::AttachedStreams;
use crate::exit::ExitReason;
use crate::mailbox::Stash;
use crate::owned_work::StateWork;
use crate::pending_sends::PendingSends;
use crate::timer_table::TimerTable;

/// The extras of a context.
#[derive(Default)]
pub(crate) struct ContextExtras {
    /// A pending stop.
    pub(crate) stop: Option<ExitReason>,
    /// The typed part has what finishes the handler that has just run.
    pub(crate) has_unfinished: bool,
    /// The part that depends on the actor's type, boxed so that the rest is compiled once.
    pub(crate) typed: Option<Box<dyn Any + Send>>,
    pub(crate) stash: Stash,
    pub(crate) feeds: AttachedStreams,
    /// `None` until the first timer is set by key.
    pub(crate) timers: Option<Box<TimerTable>>,
    /// The number of the incarnation to which this belongs.
    pub(crate) incarnation: u32,
    /// What ends with it.
    pub(crate) begun: StateWork,
    /// Called when the runtime is about to end; returns whether the actor then ends itself.
    pub(crate) on_runtime_end: Option<Box<dyn Fn() -> bool + Send>>,
    pub(crate) outbox: PendingSends,
}

impl ContextExtras {
    /// Creates the extras of an incarnation, counted from 0.
    pub(crate) fn boxed(incarnation: u32) -> Box<Mutex<Self>> {
        Box::new(Mutex::new(Self { incarnation, ..Self::default() }))
    }
}

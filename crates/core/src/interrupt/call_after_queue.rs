//! Deferred calls: run after everything in a cown's queue, without access to its state. One task
//! type for cowns of all types.

use crate::group::run_ring::run_forgetting_in_group;
use crate::queue::enqueue_request::spawn_from_anywhere;
use crate::queue::live_cown::LiveCown;
use std::ptr::NonNull;

use super::interruptible::Interruptible;
use crate::cown::handle::Cown;
use crate::group::spawn as group;
use crate::panic::drop_quietly;
use crate::queue::group_ring::RingEntry;
use crate::queue::release::release_to_next;
use crate::queue::requested_cown::RequestedCown;
use crate::queue::single_block;
use crate::queue::single_block::Single;
use crate::sched::at_work_in;
use crate::sched::runtime_handle::count_abandoned;
use crate::sched::watchdog::current_task;
use crate::task::{GroupTaskFns, RunContext, RunMode, TaskPtr, TaskVTable};

/// The call, which receives whether the runtime is past its deadline; `None` for a request that
/// only makes its group look for interrupts, which is no work.
pub(super) type DeferredCall = Option<Box<dyn FnOnce(RunMode) + Send>>;

static VTABLE: TaskVTable = TaskVTable::new(run, single_block::link, name);

static VTABLE_IN_GROUP: TaskVTable =
    TaskVTable::new(run_forgetting_in_group, single_block::link_in_group, name)
        .in_group(GroupTaskFns { body: run_body, dispose });

fn name() -> &'static str {
    "a deferred call"
}

impl<T: Interruptible> Cown<T> {
    /// Calls `call` behind everything spawned on the cown, even if the cown is closed, and even
    /// past the deadline of a shutdown, whose report counts it. A panic is caught, and poisons
    /// nothing.
    ///
    /// **Cost.** That of a behaviour.
    pub fn defer(&self, call: Box<dyn FnOnce() + Send>) {
        // SAFETY: this handle keeps the cown alive.
        unsafe { append(self.live_cown(), Some(Box::new(|_| call()))) };
    }
}

/// Appends a deferred call to the queue of a cown, or of its group.
///
/// # Safety
/// The cown is alive.
pub(super) unsafe fn append(cown: LiveCown, call: DeferredCall) {
    let member = RequestedCown::exclusive(cown);
    // SAFETY: the cown is alive, and keeps the leader of its group alive.
    unsafe {
        let header = cown.header();
        match cown.leader() {
            None => {
                at_work_in(header.home(), || {
                    Single::spawn(Single::allocate(member, &VTABLE, call));
                });
            }
            Some(leader) if group::goes_into_ring(leader) => {
                group::push(leader, member, call, run_in_ring);
            }
            Some(leader) => {
                let node = Single::allocate(member, &VTABLE_IN_GROUP, call);
                spawn_from_anywhere(leader, Single::slot(node));
            }
        }
    }
}

fn run_call(call: DeferredCall, context: &RunContext) {
    let Some(call) = call else { return };
    current_task::goes_on_with(name);
    let mode = context.mode();
    if mode == RunMode::Cancel {
        // Shows progress to threads that wait for the end (`sched/ending.rs`).
        count_abandoned(context.home);
    }
    drop_quietly(move || call(mode));
}

/// # Safety
/// The task is that of a deferred call in no group, and is run once.
unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    let node = task.cast::<Single<DeferredCall>>();
    // SAFETY: the task is run once, so it holds the cown; this thread owns the node after it has
    // left the queue.
    unsafe {
        let call = Single::take_body(node);
        run_call(call, context);
        let cown = Single::slot(node).slot().member().live_cown();
        let successor = release_to_next::<false>(Single::slot(node), cown, &context.home);
        dispose(task);
        successor
    }
}

/// # Safety
/// See [`RunRingEntry`](crate::queue::group_ring::RunRingEntry); the entry was pushed with a
/// deferred call.
unsafe fn run_in_ring(entry: NonNull<RingEntry>, context: &RunContext) {
    // SAFETY: the entry holds a deferred call, and is taken before anything can be pushed.
    let (_, call) = unsafe { RingEntry::take::<DeferredCall>(entry) };
    run_call(call, context);
}

/// # Safety
/// See [`GroupTaskFns::body`].
unsafe fn run_body(task: TaskPtr, context: &RunContext) {
    // SAFETY: the task is running, and its body is taken once.
    run_call(unsafe { Single::take_body(task.cast()) }, context);
}

/// # Safety
/// The task is that of a deferred call that has run and left its queue.
unsafe fn dispose(task: TaskPtr) {
    // SAFETY: the task has left its queue, so this thread owns the node, and its body was taken.
    unsafe { Single::<DeferredCall>::free(task.cast()) };
}

//! The block of a group: the header with its queue, and the state of the group's holder.

use std::alloc::Layout;
use std::collections::VecDeque;
use std::ptr::{NonNull, null_mut};

use coact_sync::pool;
use coact_sync::shim::atomic::AtomicPtr;
use coact_sync::shim::cell::UnsafeCell;

use super::group_ring::RunQueue;
use super::header::{CownHeader, Flags};
use super::interrupt_header::InterruptGuard;
use super::single_block::request;
use super::slot::Slot;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::runtime_ids::RuntimeId;
use crate::simulated;
use crate::task::{RunContext, Task, TaskPtr, TaskVTable};

/// A group's queue, and its ring.
///
/// Access to the fields:
///
/// * `header`: like any cown's, for the behaviours on all members. Its strong count counts members
///   and handles of the group; its weak count and `readers` are unused.
/// * `task`: the group itself as a task, scheduled by the token holder; the token goes with it.
/// * `interrupts`: the members that have an interrupt. Any thread pushes; the token holder takes
///   all.
/// * `held`: for the token holder only.
#[repr(C)]
pub(crate) struct Leader {
    pub(crate) header: CownHeader,
    task: Task,
    pub(crate) interrupts: AtomicPtr<InterruptGuard>,
    pub(crate) held: UnsafeCell<HeldGroup>,
}

/// The state of the group's holder.
pub(crate) struct HeldGroup {
    /// Behaviours that come before everything in the queue behind the holding request.
    pub(crate) ring: RunQueue,
    /// The request that holds the group in the queue, from the start of its behaviour on.
    pub(crate) holding: Option<HoldingRequest>,
    /// The request for which the token was left at the gate while members are interrupted.
    pub(crate) head: *mut Slot,
    /// The number of members with a shut gate.
    pub(crate) shut: usize,
    /// Members that take a turn of their own before the next behaviour.
    pub(crate) line: Option<Box<OwnTurns>>,
    /// The number of behaviours that the ring may still run before the group yields its worker.
    pub(crate) budget: u32,
    /// The worker's count of tasks when the budget was set.
    pub(crate) budget_of: u32,
}

impl Leader {
    /// Four cache lines, two pairs, shared with no other group: each group may have a worker of its
    /// own.
    const LAYOUT: Layout = match Layout::from_size_align(256, align_of::<Self>()) {
        Ok(layout) if size_of::<Self>() <= layout.size() => layout,
        _ => panic!("a leader fits into four cache lines"),
    };

    /// Allocates a leader, with a count for the caller. `vtable` is for the group as a task, and
    /// its kind is a [`LeaderKind`].
    pub(crate) fn allocate(home: RuntimeId, vtable: &'static TaskVTable) -> NonNull<Self> {
        let header = CownHeader::new(home);
        header.set(Flags::GROUPED, true);
        let held = HeldGroup {
            ring: RunQueue::new(),
            holding: None,
            head: null_mut(),
            shut: 0,
            line: None,
            budget: 0,
            budget_of: 0,
        };
        let leader = Self {
            header,
            task: Task { vtable },
            interrupts: AtomicPtr::new(null_mut()),
            held: UnsafeCell::new(held),
        };
        let block = pool::alloc(Self::LAYOUT).cast::<Self>();
        // SAFETY: the block was just allocated with this layout.
        unsafe { block.write(leader) };
        simulated::made_cown(block.addr().get());
        block
    }

    /// Adds a member or handle to the count; returns the leader as stored in a member.
    ///
    /// # Safety
    /// The leader is alive.
    pub(crate) unsafe fn retain(leader: NonNull<Self>) -> LiveCown {
        // SAFETY: the leader is alive, as this function requires, and stays so by the new count.
        let leader = unsafe { LiveCown::new(leader.cast()) };
        leader.header().counts.add();
        leader
    }

    /// Gives up one count, and frees the leader with the last. At that time nothing is queued,
    /// since requests stand for members, and the ring is empty.
    ///
    /// # Safety
    /// The header is a leader's, and the caller owns the count.
    pub(crate) unsafe fn release(leader: LiveCown) {
        let leader = leader.cast::<Self>();
        // SAFETY: the caller's count keeps the leader alive.
        if unsafe { leader.as_ref() }.header.counts.remove() {
            // SAFETY: the last count is gone, so the leader is unreachable.
            unsafe { Self::free(leader) };
        }
    }

    /// # Safety
    /// The leader is unreachable, and comes from [`allocate`](Self::allocate).
    unsafe fn free(leader: NonNull<Self>) {
        // SAFETY: the leader is unreachable, and was allocated with this layout.
        unsafe {
            (*leader.as_ptr()).header.end();
            leader.drop_in_place();
            pool::dealloc(leader.cast(), Self::LAYOUT);
        }
    }

    /// Returns the group as a task.
    pub(crate) fn task(leader: NonNull<Self>) -> TaskPtr {
        // SAFETY: the field is inside the leader's block.
        unsafe { NonNull::new_unchecked(&raw mut (*leader.as_ptr()).task) }
    }

    /// The reverse of [`task`](Self::task).
    ///
    /// # Safety
    /// The task is a leader's.
    pub(crate) unsafe fn of_task(task: TaskPtr) -> NonNull<Self> {
        // SAFETY: a leader's task is at this offset in its block.
        unsafe { task.byte_sub(std::mem::offset_of!(Self, task)) }.cast()
    }

    /// Returns whether nothing is behind the holding request in the queue.
    ///
    /// # Safety
    /// The calling thread holds the group.
    #[inline]
    pub(crate) unsafe fn is_unfollowed(&self) -> bool {
        // SAFETY: only the group's holder accesses `held`, and that is this thread.
        let holding =
            self.held.with(|held| unsafe { (*held).holding.as_ref().map(HoldingRequest::slot) });
        // Coherence alone shows what was spawned on the group by threads that this one has heard
        // from. That the look acquires is for what follows in the program, which comes after
        // whatever it shows.
        let tail = self.header.tail.look();
        holding.is_some_and(|holding| tail.is(holding))
    }
}

/// Gives `work` access to the holder's state. `work` runs no foreign code.
///
/// # Safety
/// The caller holds the group.
#[inline]
pub(crate) unsafe fn with<R>(leader: NonNull<Leader>, work: impl FnOnce(&mut HeldGroup) -> R) -> R {
    // SAFETY: only the holder accesses the state, and `work` does not re-enter this function.
    unsafe { leader.as_ref().held.with_mut(|held| work(&mut *held)) }
}

/// The members with a reserved turn, in order. A member is here at most once, and stays even if it
/// no longer needs the turn. It is alive: the request that ends it is not granted before.
#[derive(Default)]
pub(crate) struct OwnTurns(pub(crate) VecDeque<LiveCown>);

/// The request that holds a group, with its task.
///
/// The task has run, but its block stays until the ring is empty, since the request stays in the
/// queue for everything in the ring.
pub(crate) struct HoldingRequest {
    pub(crate) slot: LiveSlot,
    pub(crate) task: TaskPtr,
    pub(crate) dispose: DisposeFn,
}

/// Frees the block of a task that has run.
///
/// # Safety
/// The task has run, and its requests have left their queues.
pub(crate) type DisposeFn = unsafe fn(TaskPtr);

impl HoldingRequest {
    #[inline]
    pub(crate) fn new(slot: LiveSlot, task: TaskPtr, dispose: DisposeFn) -> Self {
        Self { slot, task, dispose }
    }

    #[inline]
    pub(crate) fn slot(&self) -> LiveSlot {
        self.slot
    }
}

/// What the group's task knows besides the functions of every task.
pub(crate) struct LeaderKind {
    /// Runs a task that holds the group and nothing else, by its
    /// [halves](crate::task::GroupTaskFns); its result has no waiter.
    ///
    /// # Safety
    /// See [`TaskVTable::run`], for such a task.
    pub(crate) run: unsafe fn(TaskPtr, &RunContext) -> Option<TaskPtr>,
}

/// See [`LeaderKind::run`]; for layers that do not know how a group is held.
///
/// # Safety
/// See [`LeaderKind::run`]; the task's request is that of a single.
pub(crate) unsafe fn run_in_group(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    // SAFETY: the task is that of a single in a group. Its request keeps the leader alive, whose
    // task is of this kind.
    unsafe {
        let leader = request(task).slot().member().queue().cast::<Leader>();
        let kind = (*leader.as_ptr()).task.vtable.kind;
        let kind = kind.unwrap_unchecked().get::<LeaderKind>();
        (kind.run)(task, context)
    }
}

//! The block of a group: the header with its queue, and what belongs to whoever holds it.

use std::alloc::Layout;
use std::collections::VecDeque;
use std::ptr::{NonNull, null_mut};

use coact_sync::pool;
use coact_sync::shim::atomic::{AtomicPtr, Ordering};
use coact_sync::shim::cell::UnsafeCell;

use super::header::{CownHeader, Flags};
use super::interruptible::Guard;
use super::ring::Ring;
use super::single::request;
use super::slot::Slot;
use crate::ids::RuntimeId;
use crate::simulated;
use crate::task::{RunContext, Task, TaskPtr, TaskVTable};

/// A group's queue, and its ring.
///
/// Who may touch what:
///
/// * `header`: as any cown's, by the behaviours on all members. Its `strong` counts members and
///   handles of the group; `weak` and `readers` are not used.
/// * `task`: the group itself as a task, scheduled by whoever has the token, which goes with it.
/// * `interrupts`: the members that want to be interrupted. Anyone pushes; the token holder takes all.
/// * `held`: the token holder's alone.
#[repr(C)]
pub(crate) struct Leader {
    pub(crate) header: CownHeader,
    task: Task,
    pub(crate) interrupts: AtomicPtr<Guard>,
    pub(crate) held: UnsafeCell<HeldGroup>,
}

/// What belongs to the holder of the group.
pub(crate) struct HeldGroup {
    /// Behaviours that come before all that stands in the queue behind the holding request.
    pub(crate) ring: Ring,
    /// The request that holds the group in the queue, while there is one that has begun.
    pub(crate) holding: Option<HoldingRequest>,
    /// The request for which the token was left while members are interrupted.
    pub(crate) head: *mut Slot,
    /// How many members have shut their gate.
    pub(crate) shut: usize,
    /// Members that have a turn of their own before the next behaviour.
    pub(crate) line: Option<Box<OwnTurns>>,
    /// How many more behaviours the ring may run before the group gives its worker to others.
    pub(crate) budget: u32,
    /// What the worker's count of tasks was when the budget was set.
    pub(crate) budget_of: u32,
}

impl Leader {
    /// Four cache lines, two pairs, which it shares with no other group: each group may have a worker of its own.
    const LAYOUT: Layout = match Layout::from_size_align(256, align_of::<Self>()) {
        Ok(layout) if size_of::<Self>() <= layout.size() => layout,
        _ => panic!("a leader fits into four cache lines"),
    };

    /// A new leader, with a count for the caller. The functions are those of the group as a task; their kind is a
    /// [`LeaderKind`].
    pub(crate) fn allocate(home: RuntimeId, vtable: &'static TaskVTable) -> NonNull<Self> {
        let header = CownHeader::new(home);
        header.set(Flags::GROUPED, true);
        let held = HeldGroup {
            ring: Ring::new(),
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
        // SAFETY: the block is fresh and has the layout.
        unsafe { block.write(leader) };
        simulated::made_cown(block.addr().get());
        block
    }

    /// Counts one more member or handle; returns the leader as a member knows it.
    ///
    /// # Safety
    /// The leader is alive.
    pub(crate) unsafe fn retain(leader: NonNull<Self>) -> NonNull<CownHeader> {
        // SAFETY: alive, by the caller's word.
        unsafe { leader.as_ref() }.header.counts.add();
        leader.cast()
    }

    /// Gives up one count, and the leader with the last. Nothing is queued then, as requests stand
    /// for members, and the ring is empty.
    ///
    /// # Safety
    /// The header is a leader's, and the count is the caller's to give up.
    pub(crate) unsafe fn release(leader: NonNull<CownHeader>) {
        let leader = leader.cast::<Self>();
        // SAFETY: the count keeps the leader alive.
        if unsafe { leader.as_ref() }.header.counts.remove() {
            // SAFETY: nobody else knows the leader.
            unsafe { Self::free(leader) };
        }
    }

    /// # Safety
    /// Nobody else knows the leader.
    unsafe fn free(leader: NonNull<Self>) {
        // SAFETY: by the caller's word; made by `allocate`.
        unsafe {
            (*leader.as_ptr()).header.end();
            leader.drop_in_place();
            pool::dealloc(leader.cast(), Self::LAYOUT);
        }
    }

    /// The group as a task.
    pub(crate) fn task(leader: NonNull<Self>) -> TaskPtr {
        // SAFETY: the field lies in the leader's block.
        unsafe { NonNull::new_unchecked(&raw mut (*leader.as_ptr()).task) }
    }

    /// The reverse of [`task`](Self::task).
    ///
    /// # Safety
    /// The task is a leader's.
    pub(crate) unsafe fn of_task(task: TaskPtr) -> NonNull<Self> {
        // SAFETY: a leader's task lies this far into its block.
        unsafe { task.byte_sub(std::mem::offset_of!(Self, task)) }.cast()
    }

    /// Whether nothing stands in the queue behind the request that holds the group.
    ///
    /// # Safety
    /// The calling thread holds the group.
    #[inline]
    pub(crate) unsafe fn is_unfollowed(&self) -> bool {
        // SAFETY: the holder's.
        let holding =
            self.held.with(|held| unsafe { (*held).holding.as_ref().map(HoldingRequest::slot) });
        // ORDERING: Acquire. What was spawned on the group by whoever this thread has heard from is
        // seen in any case; the acquire is for what follows in the program: it comes after whatever
        // the tail shows.
        let tail = self.header.tail.load(Ordering::Acquire);
        holding.is_some_and(|holding| std::ptr::eq(tail, holding.as_ptr()))
    }
}

/// Works on what belongs to the holder. `work` runs no foreign code.
///
/// # Safety
/// The caller holds the group.
#[inline]
pub(crate) unsafe fn with<R>(leader: NonNull<Leader>, work: impl FnOnce(&mut HeldGroup) -> R) -> R {
    // SAFETY: the holder is alone with it, and `work` does not come here again.
    unsafe { leader.as_ref().held.with_mut(|held| work(&mut *held)) }
}

/// Members for which the next turn is reserved, in their order: a member stands here once, also if it needs the turn
/// no more. Such a member is alive: the request that ends it is not granted before.
#[derive(Default)]
pub(crate) struct OwnTurns(pub(crate) VecDeque<NonNull<CownHeader>>);

/// The request that holds a group, with the task that it belongs to.
///
/// The task has run; its block stays until the ring is empty, since the request stands in the queue
/// for all that is in the ring.
pub(crate) struct HoldingRequest {
    pub(crate) slot: NonNull<Slot>,
    pub(crate) task: TaskPtr,
    pub(crate) dispose: Dispose,
}

/// Gives back the block of a task that has run.
///
/// # Safety
/// The task has run, and its requests have left their queues.
pub(crate) type Dispose = unsafe fn(TaskPtr);

impl HoldingRequest {
    #[inline]
    pub(crate) fn new(slot: NonNull<Slot>, task: TaskPtr, dispose: Dispose) -> Self {
        Self { slot, task, dispose }
    }

    #[inline]
    pub(crate) fn slot(&self) -> NonNull<Slot> {
        self.slot
    }
}

/// What is known of the group as a task, beside the functions that all tasks have.
pub(crate) struct LeaderKind {
    /// Runs a task that holds the group, and nothing else, by its [halves](crate::task::InGroup); nobody waits for its result.
    ///
    /// # Safety
    /// As of each [`TaskVTable::run`], for such a task.
    pub(crate) run: unsafe fn(TaskPtr, &RunContext) -> Option<TaskPtr>,
}

/// As [`LeaderKind::run`], for layers that do not know how a group is held.
///
/// # Safety
/// As there; the task's request is that of a one-cown behaviour.
pub(crate) unsafe fn run_in_group(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    // SAFETY: by the caller's word. The request keeps the leader alive, whose task is of this kind.
    unsafe {
        let leader = request(task).as_ref().member().queue_ptr().cast::<Leader>();
        let kind = (*leader.as_ptr()).task.vtable.kind;
        let kind = kind.unwrap_unchecked().get::<LeaderKind>();
        (kind.run)(task, context)
    }
}

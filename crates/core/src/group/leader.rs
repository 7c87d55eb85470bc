//! The block of a group: the header with its queue, and what belongs to whoever holds it.

use std::alloc::Layout;
use std::ptr::{NonNull, null_mut};

use coact_sync::pool;
use coact_sync::shim::atomic::{AtomicPtr, Ordering};
use coact_sync::shim::cell::UnsafeCell;

use super::alert::Line;
use super::ring::Ring;
use super::turn::{self, Anchor};
use crate::attend::guard::Guard;
use crate::ids::RuntimeId;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::slot::Slot;
use crate::simulated;
use crate::task::{Task, TaskPtr};

/// A group's queue, and its ring.
///
/// Who may touch what:
///
/// * `header`: as any cown's, by the behaviours on all members. Its `strong` counts members and
///   handles of the group; `weak` and `readers` are not used.
/// * `task`: the group itself as a task, scheduled by whoever has the token, which goes with it.
/// * `alerts`: the members that want to be attended to. Anyone pushes; the token holder takes all.
/// * `held`: the token holder's alone.
#[repr(C)]
pub(crate) struct Leader {
    pub(crate) header: CownHeader,
    task: Task,
    pub(super) alerts: AtomicPtr<Guard>,
    pub(super) held: UnsafeCell<HeldGroup>,
}

/// What belongs to the holder of the group.
pub(super) struct HeldGroup {
    /// Behaviours that come before all that stands in the queue behind the anchor.
    pub(super) ring: Ring,
    /// The request that holds the group in the queue, while there is one that has begun.
    pub(super) anchor: Option<Anchor>,
    /// The request for which the token was left while members are attended to.
    pub(super) head: *mut Slot,
    /// How many members have shut their door.
    pub(super) shut: usize,
    /// Members that have a turn of their own before the next behaviour.
    pub(super) line: Option<Box<Line>>,
    /// How many more behaviours the ring may run before the group gives its worker to others.
    pub(super) budget: u32,
    /// What the worker's count of tasks was when the budget was set.
    pub(super) budget_of: u32,
}

impl Leader {
    /// Four cache lines, two pairs, which it shares with no other group: each group may have a worker of its own.
    const LAYOUT: Layout = match Layout::from_size_align(256, align_of::<Self>()) {
        Ok(layout) if size_of::<Self>() <= layout.size() => layout,
        _ => panic!("a leader fits into four cache lines"),
    };

    /// A new leader, with a count for the caller.
    pub(super) fn allocate(home: RuntimeId) -> NonNull<Self> {
        let header = CownHeader::new(home);
        header.set(Flags::GROUPED, true);
        let held = HeldGroup {
            ring: Ring::new(),
            anchor: None,
            head: null_mut(),
            shut: 0,
            line: None,
            budget: 0,
            budget_of: 0,
        };
        let leader = Self {
            header,
            task: Task { vtable: &turn::VTABLE },
            alerts: AtomicPtr::new(null_mut()),
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
    pub(super) fn task(leader: NonNull<Self>) -> TaskPtr {
        // SAFETY: the field lies in the leader's block.
        unsafe { NonNull::new_unchecked(&raw mut (*leader.as_ptr()).task) }
    }

    /// The reverse of [`task`](Self::task).
    ///
    /// # Safety
    /// The task is a leader's.
    pub(super) unsafe fn of_task(task: TaskPtr) -> NonNull<Self> {
        // SAFETY: a leader's task lies this far into its block.
        unsafe { task.byte_sub(std::mem::offset_of!(Self, task)) }.cast()
    }

    /// Whether nothing stands in the queue behind the request that holds the group.
    ///
    /// # Safety
    /// The calling thread holds the group.
    #[inline]
    pub(super) unsafe fn is_unfollowed(&self) -> bool {
        // SAFETY: the holder's.
        let anchor = self.held.with(|held| unsafe { (*held).anchor.as_ref().map(Anchor::slot) });
        // ORDERING: Acquire. What was spawned on the group by whoever this thread has heard from is
        // seen in any case; the acquire is for what follows in the program: it comes after whatever
        // the tail shows.
        let tail = self.header.tail.load(Ordering::Acquire);
        anchor.is_some_and(|anchor| std::ptr::eq(tail, anchor.as_ptr()))
    }
}

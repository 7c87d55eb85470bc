//! The interrupt header, or guard: the words in front of the header of an interruptible cown.

use std::ptr::{NonNull, null};

use coact_sync::shim::atomic::AtomicPtr;

use super::header::{CownHeader, Flags};
use super::slot::Slot;
use crate::fault::Broken;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::sched::ending::Ending;
use crate::simulated;
use crate::task::{RunMode, Task, TaskPtr};

/// The number of calls of the state in a row before other tasks get their turn.
pub(crate) const CALLS_IN_A_ROW: u32 = 16;

/// The untyped guard, directly in front of the header: 24 bytes.
///
/// It begins with a task, so that the cown itself can be scheduled.
#[repr(C)]
pub(crate) struct InterruptGuard {
    pub(crate) task: Task,
    /// Its position in the table of interruptible cowns; only for a thread that holds the cown
    /// exclusively.
    pub(crate) listed: TablePosition,
    /// The request for which the token was left here; only for the token holder. In a member of a
    /// group, whose token is left with the leader, the next member in the leader's list of
    /// interrupts.
    pub(crate) head: *mut Slot,
}

/// A position in a table of a layer above; null if the cown is in none.
#[derive(Clone, Copy)]
pub(crate) struct TablePosition(pub(crate) *const ());

impl TablePosition {
    /// That of a cown in no table.
    pub(crate) const NOWHERE: Self = Self(null());
}

/// The functions of a guard, for the type of its state.
pub(crate) struct GuardVTable {
    /// # Safety
    /// The caller holds the cown exclusively.
    pub(crate) failed: unsafe fn(LiveCown, &Broken),
    /// # Safety
    /// The caller has exclusive access to the state.
    pub(crate) on_interrupt: unsafe fn(LiveCown, RunMode) -> Gate,
    /// See `Interruptible::take_turn`.
    ///
    /// # Safety
    /// See `on_interrupt`.
    pub(crate) take_turn: unsafe fn(LiveCown) -> Gate,
    /// Tells the state that its runtime ends, and interrupts it.
    ///
    /// # Safety
    /// The caller has a handle.
    pub(crate) end: unsafe fn(LiveCown, &Ending),
    /// See `Interruptible::number`.
    ///
    /// # Safety
    /// The caller has a handle.
    pub(crate) number: unsafe fn(LiveCown) -> u64,
    /// Gives up a handle.
    ///
    /// # Safety
    /// The caller owns the handle.
    pub(crate) release: unsafe fn(LiveCown),
    /// Removes a cown from the table of interruptible cowns, if it is there.
    ///
    /// # Safety
    /// See [`unlist`].
    pub(crate) unlist: unsafe fn(LiveCown),
    /// Drops the shared state and frees the block.
    ///
    /// # Safety
    /// Nothing else of the cown is left.
    pub(crate) free: unsafe fn(LiveCown),
}

/// Returns the guard of a cown.
///
/// # Safety
/// The cown is interruptible.
pub(crate) unsafe fn of(cown: LiveCown) -> NonNull<InterruptGuard> {
    // SAFETY: the guard of an interruptible cown directly precedes its header.
    unsafe { cown.cast::<InterruptGuard>().sub(1) }
}

/// Returns the task that schedules an interruptible cown.
///
/// # Safety
/// The cown is interruptible.
pub(crate) unsafe fn task_of(cown: LiveCown) -> TaskPtr {
    // SAFETY: the cown is interruptible, and a guard begins with its task.
    unsafe { of(cown) }.cast()
}

/// Returns the cown of a guard.
///
/// # Safety
/// The guard is that of a cown which something keeps alive as long as the result is used.
pub(crate) unsafe fn header_of(guard: NonNull<InterruptGuard>) -> LiveCown {
    // SAFETY: a header directly follows every guard, and is alive as long as it is.
    unsafe { LiveCown::new(guard.add(1).cast()) }
}

/// # Safety
/// The cown is interruptible.
pub(crate) unsafe fn vtable(cown: LiveCown) -> &'static GuardVTable {
    // SAFETY: an interruptible cown has a guard, whose vtable is constant.
    let kind = unsafe { (*of(cown).as_ptr()).task.vtable.kind };
    // SAFETY: the task of a guard has a kind, of this type.
    unsafe { kind.unwrap_unchecked().get() }
}

/// Leaves the token of a cown in its guard, with the head of its queue.
///
/// # Safety
/// The cown is interruptible and in no group, and the caller has its token.
pub(crate) unsafe fn leave_token(cown: LiveCown, head: LiveSlot) {
    // SAFETY: the cown has a guard, and `head` is for the token holder, which is the caller.
    unsafe { (*of(cown).as_ptr()).head = head.as_ptr() };
}

/// Returns the next member in the leader's list of interrupts.
///
/// # Safety
/// The guard is that of a member of a list that the caller has taken.
pub(crate) unsafe fn next(guard: NonNull<InterruptGuard>) -> *mut InterruptGuard {
    // SAFETY: the caller has taken the list, so no other thread writes the word.
    unsafe { (*guard.as_ptr()).head.cast() }
}

/// Sets the next member in that list.
///
/// # Safety
/// The guard is that of a member, and the caller has just placed its notice.
pub(crate) unsafe fn set_next(guard: NonNull<InterruptGuard>, next: *mut InterruptGuard) {
    // SAFETY: placing the notice gives the caller the guard's word.
    unsafe { (*guard.as_ptr()).head = next.cast() };
}

/// Removes a cown from the table of interruptible cowns, if it is there: from here on it cannot be
/// found, and a search that has found it has a handle.
///
/// # Safety
/// The cown is interruptible, and the caller holds it exclusively, or nothing else of it is left.
pub(crate) unsafe fn unlist(cown: LiveCown) {
    // SAFETY: the cown is interruptible, and only the caller accesses its guard's position.
    unsafe { (vtable(cown).unlist)(cown) };
}

/// Drops the shared state of an interruptible cown and frees its block.
///
/// # Safety
/// The cown is interruptible, nothing else of it is left, and it is not [listed](unlist).
pub(crate) unsafe fn free(cown: LiveCown) {
    // SAFETY: the cown is interruptible, nothing else of it is left, and the table no longer lists
    // it.
    unsafe { (vtable(cown).free)(cown) };
}

/// The scheduler's link: the word of the cown that only its holder uses. The token comes with the
/// task.
pub(crate) unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: the task is that of a guard, and the token that comes with it keeps the cown alive.
    NonNull::from(&unsafe { header_of(task.cast()) }.header().waiter)
}

/// Whether an interruptible cown admits behaviours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// The next behaviour may run.
    Open,
    /// Behaviours wait, along with everything else they hold or have been granted, until a later
    /// [`Interruptible::on_interrupt`](crate::internals::Interruptible::on_interrupt) returns
    /// another gate.
    ///
    /// The gate opens if nothing is left that could open it: when the last handle of the cown is
    /// dropped, the waiting behaviours run. The gate of a closed cown is open as well.
    Shut,
    /// The next turn is the state's own:
    /// [`Interruptible::take_turn`](crate::internals::Interruptible::take_turn).
    Reserved,
}

/// Returns whether the state cannot make behaviours wait: it has ended, or nothing is left that
/// could open the gate.
pub(crate) fn is_ungated(header: &CownHeader) -> bool {
    // ORDERING: Relaxed, both. Closing the cown changes the word that shutting the gate changes.
    // Dropping the last handle interrupts the cown afterwards (`retire`): if that came before the
    // bits were cleared, its effect is visible here; otherwise the gate does not stay shut.
    header.has(Flags::CLOSED) || !header.counts.have_handles()
}

/// Leaves the token at the gate. Returns `false` if there was an interrupt, or the cown was closed:
/// then the caller keeps the token. After `true` the cown may be gone.
#[must_use = "if this fails the caller still has the token"]
pub(crate) fn try_park(header: &CownHeader) -> bool {
    simulated::point();
    header.flags.try_park()
}

/// Tells an interruptible cown that a behaviour holding it has panicked.
///
/// # Safety
/// The caller holds the cown exclusively, and it is interruptible.
#[cold]
pub(crate) unsafe fn tell_failure(cown: LiveCown, why: &Broken) {
    // SAFETY: the cown is interruptible, and the caller holds it exclusively.
    unsafe { (vtable(cown).failed)(cown, why) };
}

/// Cancels a state, also one that has ended. Returns whether it has by now; if not, it is not
/// interruptible, or not accessible from this thread.
///
/// # Safety
/// The caller has exclusive access to the state.
#[cold]
pub(crate) unsafe fn end_state(cown: LiveCown) -> bool {
    let header = cown.header();
    if !header.has(Flags::INTERRUPTIBLE) || !header.is_within_reach() {
        return false;
    }
    // SAFETY: the cown is interruptible, and the caller has exclusive access to its state.
    unsafe { (vtable(cown).on_interrupt)(cown, RunMode::Cancel) };
    header.has(Flags::CLOSED)
}

//! What lies in front of the header of an interruptible cown.

use std::ptr::NonNull;

use coact_sync::shim::atomic::AtomicPtr;

use super::header::{CownHeader, Flags};
use super::slot::Slot;
use crate::fault::Broken;
use crate::sched::ending::Ending;
use crate::simulated;
use crate::task::{Mode, Task, TaskPtr};

/// How many times in a row the state is called before other tasks have their turn.
pub(crate) const CALLS_IN_A_ROW: u32 = 16;

/// The untyped part, straight in front of the header: 24 bytes.
///
/// It begins with a task, so that the cown itself can be scheduled.
#[repr(C)]
pub(crate) struct Guard {
    pub(crate) task: Task,
    /// Where it stands among all interruptible cowns.
    pub(crate) listed: Listed,
    /// The request for which the token was left here; the token holder's alone. In a member of a group,
    /// for which the token is left with the leader, the next one in the leader's list of interrupts.
    pub(crate) head: *mut Slot,
}

/// A place in a table that a layer above has.
#[derive(Clone, Copy)]
pub(crate) struct Listed(pub(crate) *const ());

/// The functions of a guard's type.
pub(crate) struct Kind {
    /// # Safety
    /// The caller holds the cown exclusively.
    pub(crate) failed: unsafe fn(NonNull<CownHeader>, &Broken),
    /// # Safety
    /// The caller is alone with the state.
    pub(crate) on_interrupt: unsafe fn(NonNull<CownHeader>, Mode) -> Gate,
    /// See `Interruptible::take_turn`.
    ///
    /// # Safety
    /// As of `on_interrupt`.
    pub(crate) take_turn: unsafe fn(NonNull<CownHeader>) -> Gate,
    /// Tells the state that its runtime ends, and has it interrupted.
    ///
    /// # Safety
    /// The caller has a handle.
    pub(crate) end: unsafe fn(NonNull<CownHeader>, &Ending),
    /// See `Interruptible::number`.
    ///
    /// # Safety
    /// The caller has a handle.
    pub(crate) number: unsafe fn(NonNull<CownHeader>) -> u64,
    /// Gives a handle up.
    ///
    /// # Safety
    /// The handle is the caller's.
    pub(crate) release: unsafe fn(NonNull<CownHeader>),
    /// Takes a cown out of the table of the interruptible cowns: from here on nobody finds it any more.
    ///
    /// # Safety
    /// Nothing else of the cown is left, and this is called once.
    pub(crate) unlist: unsafe fn(NonNull<CownHeader>),
    /// Drops the shared state and frees the block.
    ///
    /// # Safety
    /// Nothing else of the cown is left.
    pub(crate) free: unsafe fn(NonNull<CownHeader>),
}

/// The guard of a cown.
///
/// # Safety
/// The cown is interruptible.
pub(crate) unsafe fn of(cown: NonNull<CownHeader>) -> NonNull<Guard> {
    // SAFETY: it lies there, by the caller's word.
    unsafe { cown.cast::<Guard>().sub(1) }
}

/// The task by which an interruptible cown is scheduled.
///
/// # Safety
/// The cown is interruptible.
pub(crate) unsafe fn task_of(cown: NonNull<CownHeader>) -> TaskPtr {
    // SAFETY: a guard begins with its task.
    unsafe { of(cown) }.cast()
}

/// The cown of a guard.
pub(crate) fn header_of(guard: NonNull<Guard>) -> NonNull<CownHeader> {
    // SAFETY: every guard lies straight in front of a header.
    unsafe { guard.add(1) }.cast()
}

/// # Safety
/// The cown is interruptible.
pub(crate) unsafe fn kind(cown: NonNull<CownHeader>) -> &'static Kind {
    // SAFETY: by the caller's word; constant.
    let kind = unsafe { (*of(cown).as_ptr()).task.vtable.kind };
    // SAFETY: the task of a guard has one, of this type.
    unsafe { kind.unwrap_unchecked().get() }
}

/// Leaves the token of a cown in its guard, with the head of its queue.
///
/// # Safety
/// The cown is interruptible, in no group, and its token the caller's.
pub(crate) unsafe fn leave_token(cown: NonNull<CownHeader>, head: NonNull<Slot>) {
    // SAFETY: by the caller's word.
    unsafe { (*of(cown).as_ptr()).head = head.as_ptr() };
}

/// What comes behind a member in its leader's list of interrupts.
///
/// # Safety
/// The guard is that of a member which is in the list, and the caller has taken that.
pub(crate) unsafe fn next(guard: NonNull<Guard>) -> *mut Guard {
    // SAFETY: by the caller's word.
    unsafe { (*guard.as_ptr()).head.cast() }
}

/// Says what will come behind a member in that list.
///
/// # Safety
/// The guard is that of a member, and the caller has just set its INTERRUPT.
pub(crate) unsafe fn set_next(guard: NonNull<Guard>, next: *mut Guard) {
    // SAFETY: by the caller's word.
    unsafe { (*guard.as_ptr()).head = next.cast() };
}

/// Takes a cown out of the table of the interruptible cowns: from here on nobody finds it any more.
///
/// # Safety
/// The cown is interruptible, nothing else of it is left, and this is called once.
pub(crate) unsafe fn unlist(cown: NonNull<CownHeader>) {
    // SAFETY: by the caller's word.
    unsafe { (kind(cown).unlist)(cown) };
}

/// Drops the shared state of an interruptible cown and frees its block.
///
/// # Safety
/// The cown is interruptible, nothing else of it is left, and it is not [listed](unlist).
pub(crate) unsafe fn free(cown: NonNull<CownHeader>) {
    // SAFETY: by the caller's word.
    unsafe { (kind(cown).free)(cown) };
}

/// The scheduler's link: the word of the cown that only its holder uses. The token has come with
/// the task.
pub(crate) unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: a guard's task, which has come with the token, so the cown is alive.
    NonNull::from(unsafe { &header_of(task.cast()).as_ref().waiter })
}

/// Whether behaviours may come to an interruptible cown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// The next behaviour may come.
    Open,
    /// Behaviours wait, and with them whatever else they hold or have been granted, until a later
    /// [`Interruptible::on_interrupt`](crate::internals::Interruptible::on_interrupt) opens.
    ///
    /// The gate does not stay shut when nobody is left who could have it opened: when the last handle of the cown goes,
    /// what waits runs. Nor does that of a cown that is closed.
    Shut,
    /// The next turn is the state's own: [`Interruptible::take_turn`](crate::internals::Interruptible::take_turn).
    Reserved,
}

/// Whether the state cannot have behaviours wait: it has ended, or nobody is left who could open the gate.
pub(crate) fn is_ungated(header: &CownHeader) -> bool {
    // ORDERING: Relaxed, both. Who closes the cown does so in the word that is changed to shut the gate. Who drops
    // the last handle interrupts afterwards (`retire`): if that was before the bits were taken, then it is seen here, and
    // if not, the gate is not left shut.
    header.has(Flags::CLOSED) || !header.counts.have_handles()
}

/// Leaves the token at the gate. Returns false if there was an interrupt, or the cown was closed, and the token is kept.
/// After `true` the cown may be gone.
pub(crate) fn park(header: &CownHeader) -> bool {
    simulated::point();
    header.flags.park()
}

/// Tells an interruptible cown that a behaviour that holds it has panicked.
///
/// # Safety
/// The caller holds the cown exclusively, and it is interruptible.
#[cold]
pub(crate) unsafe fn tell_failure(cown: NonNull<CownHeader>, why: &Broken) {
    // SAFETY: by the caller's word.
    unsafe { (kind(cown).failed)(cown, why) };
}

/// Cancels a state, unless that has happened. Returns whether it has ended; if not, then it is not interruptible, or out of
/// this thread's reach.
///
/// # Safety
/// The caller is alone with the state.
#[cold]
pub(crate) unsafe fn end_state(cown: NonNull<CownHeader>) -> bool {
    // SAFETY: the cown is held, so alive.
    let header = unsafe { cown.as_ref() };
    if !header.has(Flags::INTERRUPTIBLE) || !header.is_within_reach() {
        return false;
    }
    if !header.has(Flags::CLOSED) {
        // SAFETY: by the caller's word.
        unsafe { (kind(cown).on_interrupt)(cown, Mode::Cancel) };
    }
    header.has(Flags::CLOSED)
}

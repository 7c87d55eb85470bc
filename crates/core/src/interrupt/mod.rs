//! Interruptible cowns, whose state is called between two behaviours: the mechanism on which actors
//! are built.
//!
//! A plain cown is passive: only the behaviours in its queue change it. An actor needs more.
//! Signals (stop, restart, suspend) overtake the messages in its mailbox; a panic in any behaviour
//! that held it must reach it; and while a handler waits for a future, messages wait but signals do
//! not. One mechanism provides all of this: a thread [interrupts](Cown::interrupt) the cown, and
//! then, before the next behaviour is granted the cown, its state is called:
//! [`Interruptible::on_interrupt`]. The call runs as a task of the scheduler with exclusive access
//! to the state, and returns whether the [`Gate`] is open, that is, whether the next behaviour may
//! run.
//!
//! # The protocol
//!
//! It uses two bits of the header's flags, [`INTERRUPT`](Flags::INTERRUPT) and
//! [`PARKED`](Flags::PARKED), and the *token* of the queue (see `queue/README.md`):
//!
//! ```text
//!   interrupt                                  grant (has the token)
//!   INTERRUPT: set; before it was              INTERRUPT set?  no:  grant the head
//!     set:     done, another thread is           yes: leave the token in the guard,
//!              on its way                             schedule the guard's task
//!     PARKED:  takes the token:
//!              schedule the guard's task   the guard's task (has the token)
//!     neither: append an empty request     INTERRUPT, PARKED: clear; on_interrupt
//!                                            open: pass over an empty request; grant again
//!                                            shut: INTERRUPT clear? set PARKED, leave the token
//!                                                  INTERRUPT set?   from the start
//!                                            reserved: INTERRUPT clear? the state takes its turn
//!                                                      INTERRUPT set?   from the start
//! ```
//!
//! *No interrupt is lost.* An interrupt that finds neither bit appends a request after its exchange
//! on the flags. The token under which that request is granted has acquired the append, so the
//! granting thread sees the bit, unless the guard's task has cleared it and called the state
//! meanwhile. An interrupt that finds INTERRUPT comes before the exchange that clears it, which is
//! an acquire: the following call sees what it left for the state. An interrupt that finds only
//! PARKED gets the token.
//!
//! *A state that must be called before anything else* is created in the middle of this: with
//! INTERRUPT set and an empty request in the queue, while its creator has the token
//! (`first_interrupt.rs`). *A state that has become unreachable* ends behind everything spawned on
//! it (`last_handle.rs`). If that comes next when the state is called, it follows in the same task,
//! and the state may leave to it what the call is for ([`Interruptible::on_last_interrupt`]).
//!
//! *There is one token.* The guard's task sets PARKED, and gives up the token with it; of the
//! interrupts after that, exactly one finds PARKED without INTERRUPT, and takes the token.

mod blocked_set;
mod deferred_call;
mod empty_request;
mod first_interrupt;
mod last_handle;
pub(crate) mod layout;
pub(crate) mod owner_handle;
#[cfg_attr(all(test, loom), path = "registry_in_model.rs")]
pub(crate) mod registry;
mod registry_table;
mod shutdown;

use crate::queue::group_interrupt::interrupt_last;
use crate::queue::group_interrupt::interrupt_member;
use crate::queue::interruptible::{self, CALLS_IN_A_ROW, Gate, Guard, is_ungated, park};
use crate::sched::ending::Ending;
use crate::sched::runtime_handle::mode_now;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::cown::handle::{Cown, WeakCown};
use crate::cown::layout::CownBox;
use crate::cown::set::{Unchecked, UncheckedHandle, UncheckedIn};
use crate::fault::Broken;
use crate::ids::RuntimeId;
use crate::panic::{catch, drop_quietly};
use crate::queue::grant::grant;
use crate::queue::header::{CownHeader, Flags};
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::{Successor, at_work_in, schedule, schedule_last};
use crate::simulated;
use crate::task::{Mode, RunContext, TaskPtr};
pub use blocked_set::BlockedSet;
pub use last_handle::UnreachableCown;
pub(crate) use shutdown::{cut_off, end_in_order, moved};

/// A state that is called between two behaviours after its cown was [interrupted](Cown::interrupt).
#[doc(alias = "signal")]
pub trait Interruptible: Send + Sized + 'static {
    /// The part that handles can access at any time, without holding the cown:
    /// [`Cown::shared_state`].
    type SharedState: Send + Sync + 'static;

    /// Called with exclusive access before the next behaviour. Every interrupt is followed by a
    /// call that begins after it; several interrupts may share one call.
    ///
    /// Runs on a worker of the cown's home, like a behaviour, and must not block. A panic is
    /// reported, and leaves the gate open.
    fn on_interrupt(&mut self, shared: &Self::SharedState) -> Gate;

    /// Called in place of [`on_interrupt`](Self::on_interrupt) if
    /// [`last_handle_gone`](Self::last_handle_gone) comes next, unless there is a handle again by
    /// then: `on_interrupt` is called in that case. So what is to be done may be left to either.
    fn on_last_interrupt(&mut self, shared: &Self::SharedState) -> Gate {
        self.on_interrupt(shared)
    }

    /// The state's own turn, for which the gate was [reserved](Gate::Reserved). Called in place of
    /// a behaviour, so it comes after earlier interrupts, and in a group only while all gates are
    /// open. Returns the new gate. It may be called when there is nothing left to do.
    ///
    /// Runs like [`on_interrupt`](Self::on_interrupt), and must not block.
    fn take_turn(&mut self, shared: &Self::SharedState) -> Gate {
        let _ = shared;
        Gate::Open
    }

    /// Called in place of [`on_interrupt`](Self::on_interrupt) once the runtime is past its
    /// shutdown's deadline: drops what the state waits for. Afterwards the gate is open, for
    /// behaviours that are then dropped; but if the state has [closed](WeakCown::close) its cown,
    /// [unchecked](Cown::unchecked) behaviours run.
    fn cancel(&mut self, shared: &Self::SharedState);

    /// Called when a behaviour that held the cown exclusively has panicked, and still holds it. An
    /// interrupt follows. Not called once the cown is closed. Must not panic.
    fn failed(&mut self, shared: &Self::SharedState, why: &Broken);

    /// Called when the runtime is about to end, and waits for the state to end itself by
    /// [closing](WeakCown::close) the cown. Called without the state, on the thread that ends the
    /// runtime; an interrupt follows.
    fn end(shared: &Self::SharedState, ending: &Ending) {
        let _ = (shared, ending);
    }

    /// Returns a number that increases from one cown to the next: if a runtime's end is announced
    /// to several, the youngest is told first.
    fn number(shared: &Self::SharedState) -> u64 {
        let _ = shared;
        0
    }

    /// Called once, like [`on_interrupt`](Self::on_interrupt), when the last handle is gone and
    /// everything spawned with any handle has run, if the handle was passed to the [last-handle
    /// check](Cown::spawn_last_handle_check). If this [closes](WeakCown::close) the cown, or
    /// [ends](UnreachableCown::try_end) it, the state is dropped right away.
    fn last_handle_gone(&mut self, shared: &Self::SharedState, cown: &UnreachableCown<'_, Self>) {
        let _ = (shared, cown);
    }

    /// Called with a temporary handle of the runtime that has become the last one, for owners that
    /// use the [last-handle check](Cown::spawn_last_handle_check).
    fn unreachable(last: Cown<Self>) {
        drop(last);
    }
}

/// How a sender reaches a cown; see [`Cown::send_path`].
pub enum SendPath<'c, T: Send + 'static> {
    /// The cown is plain, and in no group.
    Alone(UncheckedIn<'c, T, false>),
    /// The cown is plain, and in a group.
    Grouped(UncheckedIn<'c, T, true>),
    /// The cown is closed, or marked.
    Slow,
}

impl<T: Interruptible> Cown<T> {
    /// Creates a cown with an interruptible state, and a shared state that handles can access.
    /// `state` receives a weak handle of its own cown, which cannot be upgraded before this
    /// returns. The state is not called before the first interrupt; see
    /// [`interrupted_at_once`](Self::interrupted_at_once).
    ///
    /// Costs 24 bytes and the shared state in addition to a plain cown, and 16 bytes in a table.
    pub fn interruptible(
        home: RuntimeHandle,
        shared: T::SharedState,
        make_state: impl FnOnce(WeakCown<T>) -> T,
    ) -> Self {
        let header = layout::allocate(home.0, None, shared, make_state, |_| ());
        // SAFETY: a new cown of type `T`, with one handle that is owned here.
        unsafe { Self::from_header(header) }
    }

    /// Causes a call of [`Interruptible::on_interrupt`] before the next behaviour, or at once if
    /// there is none. The call sees everything the caller did before.
    ///
    /// **Cost.** One atomic operation; plus a behaviour if there is no pending interrupt and the
    /// gate is open.
    pub fn interrupt(&self) {
        self.assert_interruptible();
        // SAFETY: the cown is interruptible, and this handle keeps it alive.
        unsafe { interrupt(self.header_ptr()) };
    }

    /// Returns the shared state.
    #[inline]
    pub fn shared_state(&self) -> &T::SharedState {
        self.assert_interruptible();
        // SAFETY: the cown is interruptible and of type `T`, and this handle keeps it alive.
        unsafe { layout::shared_state::<T>(self.header_ptr()).as_ref() }
    }

    /// Names this cown so that the behaviour always runs, even if the cown is closed.
    #[inline]
    pub fn unchecked(&self) -> Unchecked<'_, T> {
        Unchecked(self)
    }

    /// The same by value: the behaviour owns the handle.
    pub fn into_unchecked(self) -> UncheckedHandle<T> {
        UncheckedHandle(self)
    }

    /// Returns whether the cown is closed. A hint, except in a behaviour on this cown.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.header().has(Flags::CLOSED)
    }

    /// Sets or clears a mark that [`is_plain`](Self::is_plain) checks.
    pub fn mark(&self, on: bool) {
        self.assert_interruptible();
        self.header().set(Flags::SLOW_PATH, on);
    }

    /// Returns whether the cown is neither closed nor marked: the one check that a sender makes. A
    /// hint, except in a behaviour on this cown.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !self.header().has(Flags::CLOSED | Flags::SLOW_PATH)
    }

    /// Returns a plain cown as a set whose behaviour always runs, like [`unchecked`](Self::unchecked),
    /// with its group or without: like [`is_plain`](Self::is_plain), this takes one load.
    #[inline(always)]
    pub fn send_path(&self) -> SendPath<'_, T> {
        if !self.header().has(Flags::CLOSED | Flags::SLOW_PATH | Flags::GROUPED) {
            return SendPath::Alone(UncheckedIn(self));
        }
        if self.is_plain() { SendPath::Grouped(UncheckedIn(self)) } else { SendPath::Slow }
    }

    #[inline]
    fn assert_interruptible(&self) {
        assert!(
            self.header().has(Flags::INTERRUPTIBLE),
            "the cown was not created by `Cown::interruptible`"
        );
    }
}

impl<T: Interruptible> WeakCown<T> {
    /// Returns the shared state, which lives as long as there is a weak handle.
    pub fn shared_state(&self) -> &T::SharedState {
        let header = self.header_ptr();
        // SAFETY: a weak handle keeps the block alive, and the shared state is part of it.
        unsafe {
            assert!(
                header.as_ref().has(Flags::INTERRUPTIBLE),
                "not created by `Cown::interruptible`"
            );
            layout::shared_state::<T>(header).as_ref()
        }
    }

    /// Closes the cown permanently: behaviours that name it are refused ([`Broken::Closed`]) unless
    /// they are [unchecked](Cown::unchecked). For the state itself, which ends with this.
    pub fn close(&self) {
        // SAFETY: a weak handle keeps the block alive.
        let flags = unsafe { &self.header_ptr().as_ref().flags };
        if flags.close() == Flags::PARKED {
            // Without a handle the gate does not stay shut, so no interrupt is needed.
            if let Some(handle) = self.upgrade() {
                handle.interrupt();
                give_back(handle);
            }
        }
    }
}

/// Interrupts the state.
///
/// # Safety
/// The cown is interruptible, and the caller has a handle that keeps it alive.
pub(super) unsafe fn interrupt(cown: NonNull<CownHeader>) {
    // SAFETY: the caller's handle keeps the cown alive.
    let home = unsafe { cown.as_ref() }.home();
    // SAFETY: the conditions are those of this function.
    at_work_in(home, || unsafe { interrupt_inside(cown, home) });
}

/// # Safety
/// See [`interrupt`].
unsafe fn interrupt_inside(cown: NonNull<CownHeader>, home: RuntimeId) {
    // SAFETY: the cown is interruptible and alive, and keeps the leader of its group alive.
    unsafe {
        let header = cown.as_ref();
        if let Some(leader) = header.leader() {
            // A member of a group.
            if interrupt_member(cown, leader) {
                append_empty_request(cown);
            }
            return;
        }
        let before = header.flags.interrupt();
        simulated::point();
        if before & Flags::INTERRUPT != 0 {
            return;
        }
        if before & Flags::PARKED != 0 {
            // This thread took the token with the bit.
            schedule(interruptible::task_of(cown), home);
        } else {
            append_empty_request(cown);
        }
    }
}

/// Appends a request before which the state is interrupted.
///
/// # Safety
/// The cown is alive.
unsafe fn append_empty_request(cown: NonNull<CownHeader>) {
    // SAFETY: the cown is alive, and keeps the leader of its group alive.
    unsafe {
        if cown.as_ref().is_grouped() {
            deferred_call::append(cown, Box::new(|_| ()));
        } else {
            empty_request::append(cown);
        }
    }
}

/// The number of turns of its own that it takes before that.
const TURNS_IN_A_ROW: u32 = 64;

/// Runs a guard's task: interrupts the state, then grants the cown or leaves the token.
///
/// # Safety
/// The task is that of the guard of a `T`, and has come with the token.
unsafe fn run<T: Interruptible>(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    let guard: NonNull<Guard> = task.cast();
    let cown = interruptible::header_of(guard);
    for _ in 0..CALLS_IN_A_ROW {
        // SAFETY: the request at the head keeps the cown alive while this thread has the token.
        let header = unsafe { cown.as_ref() };
        header.flags.begin_interrupt();
        simulated::point();
        // SAFETY: this thread has the token, and a request waits for it.
        let head = unsafe { NonNull::new_unchecked((*guard.as_ptr()).head) };
        // SAFETY: this thread has the token, and `head` is the head of the queue.
        let check = unsafe { last_handle::check_behind(head) };
        // SAFETY: with the token and no readers, this thread has exclusive access to the state.
        let gate = unsafe { call_and_take_turns::<T>(cown, context, check.is_some()) };
        if gate == Gate::Reserved {
            if header.is_interrupted() {
                continue;
            }
            break;
        }
        if gate == Gate::Open || is_ungated(header) {
            // SAFETY: this thread has the token, and passes it on. The check is the request behind an
            // empty one, which is granted the cown as in `release_to_next`, without another
            // interrupt; then this thread owns the empty one.
            unsafe {
                if let Some(check) = check
                    && header.flags.is_plain(context.home, Flags::INTERRUPT)
                {
                    empty_request::dismantle(head);
                    simulated::point();
                    return last_handle::run::<T>(check, context);
                }
                let mut successor = Successor::new(context.home);
                return match empty_request::pass_over(cown, head, context.home) {
                    Ok(next) => next,
                    Err(head) => {
                        grant(cown, head, &mut successor);
                        successor.take()
                    }
                };
            }
        }
        if park(header) {
            return None;
        }
    }
    // There are further interrupts, but other tasks need the worker, too. The token stays with the
    // task.
    // SAFETY: the request at the head keeps the cown alive while this thread has the token.
    schedule_last(task, unsafe { cown.as_ref() }.home());
    None
}

/// Calls the state, and lets it take turns of its own until there is an interrupt, or for a while.
/// `is_last`: the last-handle check comes next.
///
/// # Safety
/// See [`on_interrupt`].
unsafe fn call_and_take_turns<T: Interruptible>(
    cown: NonNull<CownHeader>,
    context: &RunContext,
    is_last: bool,
) -> Gate {
    // SAFETY: the caller has exclusive access to the state, so the cown is alive.
    unsafe {
        let mut gate = match mode_now(context) {
            Mode::Run if is_last => {
                call_state::<T>(cown, |state, shared| state.on_last_interrupt(shared))
            }
            mode => on_interrupt::<T>(cown, mode),
        };
        for _ in 0..TURNS_IN_A_ROW {
            if gate != Gate::Reserved || cown.as_ref().is_interrupted() {
                break;
            }
            gate = match mode_now(context) {
                Mode::Run => take_turn::<T>(cown),
                Mode::Cancel => on_interrupt::<T>(cown, Mode::Cancel),
            };
        }
        gate
    }
}

/// Calls the state.
///
/// # Safety
/// The caller has exclusive access to the state, which is an interruptible `T`.
unsafe fn on_interrupt<T: Interruptible>(cown: NonNull<CownHeader>, mode: Mode) -> Gate {
    let call = |state: &mut T, shared: &T::SharedState| match mode {
        Mode::Run => state.on_interrupt(shared),
        Mode::Cancel => {
            state.cancel(shared);
            Gate::Open
        }
    };
    // SAFETY: the conditions are those of this function.
    unsafe { call_state(cown, call) }
}

/// Lets the state take a turn of its own.
///
/// # Safety
/// See [`on_interrupt`].
unsafe fn take_turn<T: Interruptible>(cown: NonNull<CownHeader>) -> Gate {
    // SAFETY: the conditions are those of this function.
    unsafe { call_state::<T>(cown, |state, shared| state.take_turn(shared)) }
}

/// # Safety
/// See [`on_interrupt`].
unsafe fn call_state<T: Interruptible>(
    cown: NonNull<CownHeader>,
    call: impl FnOnce(&mut T, &T::SharedState) -> Gate,
) -> Gate {
    let mut gate = Gate::Open;
    // SAFETY: the caller has exclusive access to the state, so the cown is alive.
    if !unsafe { cown.as_ref() }.is_within_reach() {
        // The leftovers of a pump are cancelled by other threads, which must not access the state.
        return gate;
    }
    // SAFETY: the caller has exclusive access to the state, which is a `T`.
    drop_quietly(|| unsafe {
        let state = &mut *CownBox::<T>::state(cown);
        let shared = layout::shared_state::<T>(cown).as_ref();
        gate = call(state, shared);
    });
    // A closed state has no turns of its own.
    // SAFETY: the caller has exclusive access to the state, so the cown is alive.
    let is_over = gate == Gate::Reserved && unsafe { cown.as_ref() }.has(Flags::CLOSED);
    if is_over { Gate::Open } else { gate }
}

/// The `failed` of a guard's kind.
///
/// # Safety
/// The caller holds the cown exclusively; it is an interruptible `T`.
unsafe fn fail<T: Interruptible>(cown: NonNull<CownHeader>, why: &Broken) {
    // SAFETY: the cown is held, so it is alive.
    if unsafe { cown.as_ref() }.has(Flags::CLOSED) {
        // The state has ended, and need not be told.
        return;
    }
    // SAFETY: the caller has exclusive access to the state, a `T`. The cown is alive, so a weak
    // handle of it can be created, and forgotten.
    unsafe {
        let state = &mut *CownBox::<T>::state(cown);
        let shared = layout::shared_state::<T>(cown).as_ref();
        drop_quietly(|| state.failed(shared, why));
        match ManuallyDrop::new(WeakCown::<T>::from_header(cown)).upgrade() {
            Some(handle) => {
                handle.interrupt();
                give_back(handle);
            }
            // No handle is left, so the request that ends the cown is in the queue or on its way
            // there: an empty one behind it would be for a cown that is gone by then.
            None => interrupt_last(cown),
        }
    }
}

/// Gives up a temporary handle. If it has become the last one, tells the owner of the state.
fn give_back<T: Interruptible>(handle: Cown<T>) {
    if let Some(last) = handle.drop_unless_last() {
        drop_quietly(move || T::unreachable(last));
    }
}

/// Returns the caller's handle.
///
/// # Safety
/// The cown is of type `T`, and the caller has a handle of it.
unsafe fn handle<T: Interruptible>(cown: NonNull<CownHeader>) -> ManuallyDrop<Cown<T>> {
    // SAFETY: the caller has a handle, which is not given up here.
    ManuallyDrop::new(unsafe { Cown::from_header(cown) })
}

/// # Safety
/// See [`handle`].
unsafe fn end<T: Interruptible>(cown: NonNull<CownHeader>, ending: &Ending) {
    // SAFETY: the conditions are those of `handle`.
    let handle = unsafe { handle::<T>(cown) };
    drop_quietly(|| T::end(handle.shared_state(), ending));
    handle.interrupt();
}

/// # Safety
/// See [`handle`].
unsafe fn number<T: Interruptible>(cown: NonNull<CownHeader>) -> u64 {
    // SAFETY: the conditions are those of `handle`.
    let handle = unsafe { handle::<T>(cown) };
    // A panic here must not stop a runtime that is ending: the order is only a preference.
    catch(|| T::number(handle.shared_state())).unwrap_or(0)
}

/// # Safety
/// See [`handle`]; the handle is given up.
unsafe fn release<T: Interruptible>(cown: NonNull<CownHeader>) {
    // SAFETY: the caller has a handle, and gives it up.
    give_back(ManuallyDrop::into_inner(unsafe { handle::<T>(cown) }));
}

#[cfg(all(test, loom))]
mod loom;

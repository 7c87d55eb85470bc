//! Cowns whose state is *interrupted* between two behaviours: what actors are built on.
//!
//! A plain cown is passive: it is changed by the behaviours in its queue and by nothing else. An
//! actor needs more. Directives (stop, restart, suspend) overtake the messages in its mailbox; a
//! panic in any behaviour that held it must reach it; and while a handler waits for a future, its
//! messages wait, but directives do not. All of that is one mechanism here: somebody
//! [interrupts](Cown::interrupt) the cown, and then, before the next behaviour is granted the cown, its
//! state is called: [`Interruptible::on_interrupt`]. It runs as a task of the scheduler's, alone with the
//! state, and says whether the [`Gate`] is open: whether the next behaviour may come.
//!
//! # The protocol
//!
//! Two bits of the header's flags, [`INTERRUPT`](Flags::INTERRUPT) and [`PARKED`](Flags::PARKED), and the
//! *token* of the queue (see `queue/README.md`):
//!
//! ```text
//!   interrupt                                  grant (has the token)
//!   INTERRUPT: set; before it was              INTERRUPT set?  no:  grant the head
//!     set:     done, somebody is on              yes: leave the token in the guard,
//!              the way                                schedule the guard's task
//!     PARKED:  the token is ours:
//!              schedule the guard's task   the guard's task (has the token)
//!     neither: append an empty request     INTERRUPT, PARKED: clear; on_interrupt
//!                                            open: pass over an empty request; grant again
//!                                            shut: INTERRUPT clear? set PARKED, leave the token
//!                                                  INTERRUPT set?   from the start
//!                                            reserved: INTERRUPT clear? the state takes its turn
//!                                                      INTERRUPT set?   from the start
//! ```
//!
//! *No interrupt is lost.* One that finds neither bit appends a request behind its own exchange on the
//! flags. That request is granted by somebody whose token comes from the append, so it sees the bit,
//! unless the guard's task has cleared it and called the state meanwhile. One that finds INTERRUPT comes before
//! the exchange that clears it, which is an acquire: what it left for the state is seen by the call
//! that follows. One that finds PARKED has the token.
//!
//! *A state that is to be called before all else* is made in the middle of this: with INTERRUPT set and an empty request in
//! the queue, and its maker has the token (`first_interrupt.rs`). *One that nobody reaches any more* ends behind all that was
//! spawned on it (`last_handle.rs`).
//!
//! *There is one token.* PARKED is set by the guard's task, which gives the token up with it; of the
//! interrupts after that, one finds PARKED without INTERRUPT, and takes it.

mod blocked_set;
mod deferred;
mod empty_request;
mod first_interrupt;
mod last_handle;
pub(crate) mod layout;
#[cfg_attr(all(test, loom), path = "registry_in_model.rs")]
pub(crate) mod registry;
mod shutdown;
mod table;

use crate::queue::interrupt::interrupt_last;
use crate::queue::interrupt::interrupt_member;
use crate::queue::interruptible::{self, CALLS_IN_A_ROW, Gate, Guard, is_ungated, park};
use crate::sched::ending::Ending;
use crate::sched::runtime_handle::mode_now;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::cown::handle::{Cown, WeakCown};
use crate::cown::layout::CownBox;
use crate::cown::set::{Unchecked, UncheckedHandle};
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
pub(crate) use shutdown::{cut_off, end_in_order, moved};

/// State that is called between two behaviours once its cown was [interrupted](Cown::interrupt).
#[doc(alias = "signal")]
pub trait Interruptible: Send + Sized + 'static {
    /// What handles reach at any time, without holding the cown: [`Cown::shared_state`].
    type SharedState: Send + Sync + 'static;

    /// Called, with nobody else at the state, before the next behaviour. Every interrupt is followed by
    /// a call that begins after it; several interrupts may share one.
    ///
    /// It runs on a worker of the cown's home, as a behaviour does, and must not block. If it
    /// panics, the panic is reported and the gate is open.
    fn on_interrupt(&mut self, shared: &Self::SharedState) -> Gate;

    /// The turn of the state's own for which the gate was [reserved](Gate::Reserved): called in the place of a
    /// behaviour, so it comes after whatever the cown is interrupted for before, and in a group only while all gates are
    /// open. Returns what the gate is now. It may be called when there is nothing to do any more.
    ///
    /// It runs as [`on_interrupt`](Self::on_interrupt) does, and must not block.
    fn take_turn(&mut self, shared: &Self::SharedState) -> Gate {
        let _ = shared;
        Gate::Open
    }

    /// Called in the place of [`on_interrupt`](Self::on_interrupt) once the runtime is past its shutdown's
    /// deadline: to drop what the state waits for. Afterwards the gate is open, for behaviours that
    /// are dropped in their turn; or, if the state has [closed](WeakCown::close) its cown and they come
    /// [unchecked](Cown::unchecked), that run.
    fn cancel(&mut self, shared: &Self::SharedState);

    /// A behaviour that held the cown exclusively has panicked, and still holds it. An interrupt
    /// follows. Not called once the cown is closed. Must not panic.
    fn failed(&mut self, shared: &Self::SharedState, why: &Broken);

    /// The runtime is about to end, and waits for the state to come to its own end, in which it
    /// [closes](WeakCown::close) the cown. Called without the state, on the thread that ends the runtime;
    /// an interrupt follows.
    fn end(shared: &Self::SharedState, ending: &Ending) {
        let _ = (shared, ending);
    }

    /// A number that rises from one cown to the next: where several are told at the same time that
    /// their runtime ends, the youngest is told first.
    fn number(shared: &Self::SharedState) -> u64 {
        let _ = shared;
        0
    }

    /// The last handle is gone, and all that was spawned with any has run: called once, as [`on_interrupt`](Self::on_interrupt) is, if
    /// that handle was to [be checked](Cown::spawn_last_handle_check). Who [closes](WeakCown::close) the cown in here is dropped
    /// right away.
    fn last_handle_gone(&mut self, shared: &Self::SharedState) {
        let _ = shared;
    }

    /// The runtime had a handle for a moment, and all others have gone meanwhile: for owners that
    /// [be checked](Cown::spawn_last_handle_check) to the state.
    fn unreachable(last: Cown<Self>) {
        drop(last);
    }
}

impl<T: Interruptible> Cown<T> {
    /// Makes a cown whose state is interruptible, with a shared state that handles can see. The state is made
    /// with a weak handle of its own cown, which cannot be upgraded before this returns. It is interrupted
    /// when it is first interrupted; see [`interrupted_at_once`](Self::interrupted_at_once).
    ///
    /// Costs 24 bytes and the shared state on top of a plain cown, and 16 bytes in a table.
    pub fn interruptible(
        home: RuntimeHandle,
        shared: T::SharedState,
        make_state: impl FnOnce(WeakCown<T>) -> T,
    ) -> Self {
        let header = layout::allocate(home.0, None, shared, make_state, |_| ());
        // SAFETY: a fresh cown of `T`, with one handle.
        unsafe { Self::from_header(header) }
    }

    /// Sees to it that [`Interruptible::on_interrupt`] is called before the next behaviour, or at once if there
    /// is none. Whatever the caller did before is visible to the call.
    ///
    /// **Cost.** One atomic operation, and a behaviour if nobody has interrupted the cown and its gate is
    /// open.
    pub fn interrupt(&self) {
        self.assert_interruptible();
        // SAFETY: interruptible, and alive by this handle.
        unsafe { interrupt(self.header_ptr()) };
    }

    /// What handles see of the cown.
    #[inline]
    pub fn shared_state(&self) -> &T::SharedState {
        self.assert_interruptible();
        // SAFETY: interruptible, of `T`, and alive by this handle.
        unsafe { layout::shared_state::<T>(self.header_ptr()).as_ref() }
    }

    /// This cown as the member of a set whose behaviour runs in any case: even if the cown is
    /// closed.
    #[inline]
    pub fn unchecked(&self) -> Unchecked<'_, T> {
        Unchecked(self)
    }

    /// The same by value: the behaviour takes the handle along.
    pub fn into_unchecked(self) -> UncheckedHandle<T> {
        UncheckedHandle(self)
    }

    /// Whether the cown is closed. A hint, unless a behaviour on this cown asks.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.header().has(Flags::CLOSED)
    }

    /// Sets or clears a mark, which [`is_plain`](Self::is_plain) looks at.
    pub fn mark(&self, on: bool) {
        self.assert_interruptible();
        self.header().set(Flags::SLOW_PATH, on);
    }

    /// Whether the cown is neither closed nor marked: the one look that a sender must take. A hint,
    /// unless a behaviour on this cown asks.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !self.header().has(Flags::CLOSED | Flags::SLOW_PATH)
    }

    #[inline]
    fn assert_interruptible(&self) {
        assert!(
            self.header().has(Flags::INTERRUPTIBLE),
            "the cown was not made by `Cown::interruptible`"
        );
    }
}

impl<T: Interruptible> WeakCown<T> {
    /// What handles see of the cown; it stays as long as there is a weak handle.
    pub fn shared_state(&self) -> &T::SharedState {
        let header = self.header_ptr();
        // SAFETY: a weak handle keeps the block alive, and the shared state goes with the block.
        unsafe {
            assert!(header.as_ref().has(Flags::INTERRUPTIBLE), "not made by `Cown::interruptible`");
            layout::shared_state::<T>(header).as_ref()
        }
    }

    /// Closes the cown for good: behaviours that name it are refused ([`Broken::Closed`]), unless
    /// they come [unchecked](Cown::unchecked). For the state itself, whose end this is.
    pub fn close(&self) {
        // SAFETY: a weak handle keeps the block alive.
        let flags = unsafe { &self.header_ptr().as_ref().flags };
        if flags.close() == Flags::PARKED {
            // Where no handle is left, the gate is not left shut.
            if let Some(handle) = self.upgrade() {
                handle.interrupt();
                give_back(handle);
            }
        }
    }
}

/// Has the state interrupted.
///
/// # Safety
/// The cown is interruptible, and alive: the caller has a handle.
pub(super) unsafe fn interrupt(cown: NonNull<CownHeader>) {
    // SAFETY: alive.
    let home = unsafe { cown.as_ref() }.home();
    // SAFETY: by the caller's word.
    at_work_in(home, || unsafe { interrupt_inside(cown, home) });
}

/// # Safety
/// As [`interrupt`].
unsafe fn interrupt_inside(cown: NonNull<CownHeader>, home: RuntimeId) {
    // SAFETY: by the caller's word.
    unsafe {
        let header = cown.as_ref();
        if let Some(leader) = header.leader() {
            // A member of the leader's group.
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
            // The token is ours with the bit that we have seen.
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
    // SAFETY: by the caller's word.
    unsafe {
        if cown.as_ref().is_grouped() {
            deferred::append(cown, Box::new(|_| ()));
        } else {
            empty_request::append(cown);
        }
    }
}

/// How many turns of its own it takes before that.
const TURNS_IN_A_ROW: u32 = 64;

/// Runs a guard's task: interrupts the state, then grants the cown on, or leaves the token.
///
/// # Safety
/// The task is that of a guard of a `T`, and has come with the token.
unsafe fn run<T: Interruptible>(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    let guard: NonNull<Guard> = task.cast();
    let cown = interruptible::header_of(guard);
    for _ in 0..CALLS_IN_A_ROW {
        // SAFETY: the request at the head keeps the cown alive while we have the token.
        let header = unsafe { cown.as_ref() };
        header.flags.begin_interrupt();
        simulated::point();
        // SAFETY: the token, and no reader: nobody else is at the state.
        let gate = unsafe { call_and_take_turns::<T>(cown, context) };
        if gate == Gate::Reserved {
            if header.is_interrupted() {
                continue;
            }
            break;
        }
        if gate == Gate::Open || is_ungated(header) {
            let mut successor = Successor::new(context.home);
            // SAFETY: the token is passed on.
            unsafe {
                let head = NonNull::new_unchecked((*guard.as_ptr()).head);
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
    // It goes on being interrupted; others want the worker, too. The token stays with the task.
    // SAFETY: as above.
    schedule_last(task, unsafe { cown.as_ref() }.home());
    None
}

/// Calls the state, and lets it take turns of its own, as long as it is not interrupted, or for a while.
///
/// # Safety
/// As [`on_interrupt`].
unsafe fn call_and_take_turns<T: Interruptible>(
    cown: NonNull<CownHeader>,
    context: &RunContext,
) -> Gate {
    // SAFETY: by the caller's word; so the cown is alive.
    unsafe {
        let mut gate = on_interrupt::<T>(cown, mode_now(context));
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
/// The caller is alone with the state, which is an interruptible `T`.
unsafe fn on_interrupt<T: Interruptible>(cown: NonNull<CownHeader>, mode: Mode) -> Gate {
    let call = |state: &mut T, shared: &T::SharedState| match mode {
        Mode::Run => state.on_interrupt(shared),
        Mode::Cancel => {
            state.cancel(shared);
            Gate::Open
        }
    };
    // SAFETY: by the caller's word.
    unsafe { call_state(cown, call) }
}

/// Lets the state take a turn of its own.
///
/// # Safety
/// As [`on_interrupt`].
unsafe fn take_turn<T: Interruptible>(cown: NonNull<CownHeader>) -> Gate {
    // SAFETY: by the caller's word.
    unsafe { call_state::<T>(cown, |state, shared| state.take_turn(shared)) }
}

/// # Safety
/// As [`on_interrupt`].
unsafe fn call_state<T: Interruptible>(
    cown: NonNull<CownHeader>,
    call: impl FnOnce(&mut T, &T::SharedState) -> Gate,
) -> Gate {
    let mut gate = Gate::Open;
    // SAFETY: the cown is alive.
    if !unsafe { cown.as_ref() }.is_within_reach() {
        // What a pump has left behind is cancelled by others, who must not touch the state.
        return gate;
    }
    // SAFETY: by the caller's word.
    drop_quietly(|| unsafe {
        let state = &mut *CownBox::<T>::state(cown);
        let shared = layout::shared_state::<T>(cown).as_ref();
        gate = call(state, shared);
    });
    // What is closed has no turns of its own.
    // SAFETY: the cown is alive.
    let is_over = gate == Gate::Reserved && unsafe { cown.as_ref() }.has(Flags::CLOSED);
    if is_over { Gate::Open } else { gate }
}

/// The `failed` of a guard's kind.
///
/// # Safety
/// The caller holds the cown exclusively; it is an interruptible `T`.
unsafe fn fail<T: Interruptible>(cown: NonNull<CownHeader>, why: &Broken) {
    // SAFETY: the cown is held, so alive.
    if unsafe { cown.as_ref() }.has(Flags::CLOSED) {
        // The state has ended, and need not know.
        return;
    }
    // SAFETY: by the caller's word. The cown is alive, so a weak handle may be made of it, and forgotten.
    unsafe {
        let state = &mut *CownBox::<T>::state(cown);
        let shared = layout::shared_state::<T>(cown).as_ref();
        drop_quietly(|| state.failed(shared, why));
        match ManuallyDrop::new(WeakCown::<T>::from_header(cown)).upgrade() {
            Some(handle) => {
                handle.interrupt();
                give_back(handle);
            }
            // No handle is left, so the request that ends the cown stands in the queue, or is on its way there: an
            // empty one behind it would be for a cown that is gone by then.
            None => interrupt_last(cown),
        }
    }
}

/// Gives up a handle that was made for a moment. If it has become the last one, the owner of the
/// state is to know.
fn give_back<T: Interruptible>(handle: Cown<T>) {
    if let Some(last) = handle.drop_unless_last() {
        drop_quietly(move || T::unreachable(last));
    }
}

/// The handle that the caller has.
///
/// # Safety
/// The cown is of `T`, and the caller has a handle of it.
unsafe fn handle<T: Interruptible>(cown: NonNull<CownHeader>) -> ManuallyDrop<Cown<T>> {
    // SAFETY: by the caller's word; it is not given up here.
    ManuallyDrop::new(unsafe { Cown::from_header(cown) })
}

/// # Safety
/// As [`handle`].
unsafe fn end<T: Interruptible>(cown: NonNull<CownHeader>, ending: &Ending) {
    // SAFETY: by the caller's word.
    let handle = unsafe { handle::<T>(cown) };
    drop_quietly(|| T::end(handle.shared_state(), ending));
    handle.interrupt();
}

/// # Safety
/// As [`handle`].
unsafe fn number<T: Interruptible>(cown: NonNull<CownHeader>) -> u64 {
    // SAFETY: by the caller's word.
    let handle = unsafe { handle::<T>(cown) };
    // A runtime that ends does not stop for a panic here: the order is a matter of courtesy.
    catch(|| T::number(handle.shared_state())).unwrap_or(0)
}

/// # Safety
/// As [`handle`]; the handle is given up.
unsafe fn release<T: Interruptible>(cown: NonNull<CownHeader>) {
    // SAFETY: by the caller's word.
    give_back(ManuallyDrop::into_inner(unsafe { handle::<T>(cown) }));
}

#[cfg(all(test, loom))]
mod loom;

//! Cowns whose state is *attended to* between two behaviours: what actors are built on.
//!
//! A plain cown is passive: it is changed by the behaviours in its queue and by nothing else. An
//! actor needs more. Directives (stop, restart, suspend) overtake the messages in its mailbox; a
//! panic in any behaviour that held it must reach it; and while a handler waits for a future, its
//! messages wait, but directives do not. All of that is one mechanism here: somebody
//! [alerts](Cown::alert) the cown, and then, before the next behaviour is granted the cown, its
//! state is called: [`Attended::attend`]. It runs as a task of the scheduler's, alone with the
//! state, and says whether the [`Door`] is open: whether the next behaviour may come.
//!
//! # The protocol
//!
//! Two bits of the header's flags, [`ALERT`](Flags::ALERT) and [`PARKED`](Flags::PARKED), and the
//! *token* of the queue (see `queue/README.md`):
//!
//! ```text
//!   alert                                  grant (has the token)
//!   ALERT: set; before it was              ALERT set?  no:  grant the head
//!     set:     done, somebody is on              yes: leave the token in the guard,
//!              the way                                schedule the guard's task
//!     PARKED:  the token is ours:
//!              schedule the guard's task   the guard's task (has the token)
//!     neither: append an empty request     ALERT, PARKED: clear; attend
//!                                            open: pass over an empty request; grant again
//!                                            shut: ALERT clear? set PARKED, leave the token
//!                                                  ALERT set?   from the start
//!                                            reserved: ALERT clear? the state takes its turn
//!                                                      ALERT set?   from the start
//! ```
//!
//! *No alert is lost.* One that finds neither bit appends a request behind its own exchange on the
//! flags. That request is granted by somebody whose token comes from the append, so it sees the bit,
//! unless the guard's task has cleared it and attended meanwhile. One that finds ALERT comes before
//! the exchange that clears it, which is an acquire: what it left for the state is seen by the call
//! that follows. One that finds PARKED has the token.
//!
//! *A state that is to be called before all else* is made in the middle of this: with ALERT set and an empty request in
//! the queue, and its maker has the token (`birth.rs`). *One that nobody reaches any more* ends behind all that was
//! spawned on it (`farewell.rs`).
//!
//! *There is one token.* PARKED is set by the guard's task, which gives the token up with it; of the
//! alerts after that, one finds PARKED without ALERT, and takes it.

mod birth;
pub(crate) mod block;
mod ending;
mod errand;
mod farewell;
mod knock;
#[cfg_attr(all(test, loom), path = "live_in_model.rs")]
pub(crate) mod live;
mod survey;
mod table;

use crate::queue::alert::alert as alert_member;
use crate::queue::guard::alert_last;
use crate::queue::guard::{self, CALLS_IN_A_ROW, Door, Guard, is_without_door, park};
use crate::sched::ending::Ending;
use crate::sched::home::mode_now;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::cown::handle::{Cown, WeakCown};
use crate::cown::layout::CownBox;
use crate::cown::set::{Regardless, RegardlessHeld};
use crate::fault::Broken;
use crate::ids::RuntimeId;
use crate::panic::{catch, drop_quietly};
use crate::queue::grant::grant;
use crate::queue::header::{CownHeader, Flags};
use crate::sched::home::Home;
use crate::sched::{Successor, at_work_in, schedule, schedule_last};
use crate::simulated;
use crate::task::{Mode, RunContext, TaskPtr};
pub(crate) use ending::{cut_off, end_in_order, moved};
pub use survey::Survey;

/// State that is called between two behaviours once its cown was [alerted](Cown::alert).
pub trait Attended: Send + Sized + 'static {
    /// What handles reach at any time, without holding the cown: [`Cown::front`].
    type Front: Send + Sync + 'static;

    /// Called, with nobody else at the state, before the next behaviour. Every alert is followed by
    /// a call that begins after it; several alerts may share one.
    ///
    /// It runs on a worker of the cown's home, as a behaviour does, and must not block. If it
    /// panics, the panic is reported and the door is open.
    fn attend(&mut self, front: &Self::Front) -> Door;

    /// The turn of the state's own for which the door was [reserved](Door::Reserved): called in the place of a
    /// behaviour, so it comes after whatever the cown is alerted for before, and in a group only while all doors are
    /// open. Returns what the door is now. It may be called when there is nothing to do any more.
    ///
    /// It runs as [`attend`](Self::attend) does, and must not block.
    fn take_turn(&mut self, front: &Self::Front) -> Door {
        let _ = front;
        Door::Open
    }

    /// Called in the place of [`attend`](Self::attend) once the runtime is past its shutdown's
    /// deadline: to drop what the state waits for. Afterwards the door is open, for behaviours that
    /// are dropped in their turn; or, if the state has [closed](WeakCown::close) its cown and they come
    /// [regardless](Cown::regardless), that run.
    fn cancel(&mut self, front: &Self::Front);

    /// A behaviour that held the cown exclusively has panicked, and still holds it. An alert
    /// follows. Not called once the cown is closed. Must not panic.
    fn failed(&mut self, front: &Self::Front, why: &Broken);

    /// The runtime is about to end, and waits for the state to come to its own end, in which it
    /// [closes](WeakCown::close) the cown. Called without the state, on the thread that ends the runtime;
    /// an alert follows.
    fn end(front: &Self::Front, ending: &Ending) {
        let _ = (front, ending);
    }

    /// A number that rises from one cown to the next: where several are told at the same time that
    /// their runtime ends, the youngest is told first.
    fn number(front: &Self::Front) -> u64 {
        let _ = front;
        0
    }

    /// The last handle is gone, and all that was spawned with any has run: called once, as [`attend`](Self::attend) is, if
    /// that handle was to [say farewell](Cown::say_farewell). Who [closes](WeakCown::close) the cown in here is dropped
    /// right away.
    fn farewell(&mut self, front: &Self::Front) {
        let _ = front;
    }

    /// The runtime had a handle for a moment, and all others have gone meanwhile: for owners that
    /// [say farewell](Cown::say_farewell) to the state.
    fn unreachable(last: Cown<Self>) {
        drop(last);
    }
}

impl<T: Attended> Cown<T> {
    /// Makes a cown whose state is attended to, with a front that handles can see. The state is made
    /// with a weak handle of its own cown, which cannot be upgraded before this returns. It is attended to
    /// when it is first alerted; see [`attended_at_once`](Self::attended_at_once).
    ///
    /// Costs 24 bytes and the front on top of a plain cown, and 16 bytes in a table.
    pub fn attended(
        home: Home,
        front: T::Front,
        make_state: impl FnOnce(WeakCown<T>) -> T,
    ) -> Self {
        let header = block::allocate(home.0, None, front, make_state, |_| ());
        // SAFETY: a fresh cown of `T`, with one handle.
        unsafe { Self::from_header(header) }
    }

    /// Sees to it that [`Attended::attend`] is called before the next behaviour, or at once if there
    /// is none. Whatever the caller did before is visible to the call.
    ///
    /// **Cost.** One atomic operation, and a behaviour if nobody has alerted the cown and its door is
    /// open.
    pub fn alert(&self) {
        self.assert_attended();
        // SAFETY: attended to, and alive by this handle.
        unsafe { alert(self.header_ptr()) };
    }

    /// What handles see of the cown.
    #[inline]
    pub fn front(&self) -> &T::Front {
        self.assert_attended();
        // SAFETY: attended, of `T`, and alive by this handle.
        unsafe { block::front::<T>(self.header_ptr()).as_ref() }
    }

    /// This cown as the member of a set whose behaviour runs in any case: even if the cown is
    /// closed.
    #[inline]
    pub fn regardless(&self) -> Regardless<'_, T> {
        Regardless(self)
    }

    /// The same by value: the behaviour takes the handle along.
    pub fn into_regardless(self) -> RegardlessHeld<T> {
        RegardlessHeld(self)
    }

    /// Whether the cown is closed. A hint, unless a behaviour on this cown asks.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.header().has(Flags::CLOSED)
    }

    /// Sets or clears a mark, which [`is_plain`](Self::is_plain) looks at.
    pub fn mark(&self, on: bool) {
        self.assert_attended();
        self.header().set(Flags::MARKED, on);
    }

    /// Whether the cown is neither closed nor marked: the one look that a sender must take. A hint,
    /// unless a behaviour on this cown asks.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !self.header().has(Flags::CLOSED | Flags::MARKED)
    }

    #[inline]
    fn assert_attended(&self) {
        assert!(self.header().has(Flags::ATTENDED), "the cown was not made by `Cown::attended`");
    }
}

impl<T: Attended> WeakCown<T> {
    /// What handles see of the cown; it stays as long as there is a weak handle.
    pub fn front(&self) -> &T::Front {
        let header = self.header_ptr();
        // SAFETY: a weak handle keeps the block alive, and the front goes with the block.
        unsafe {
            assert!(header.as_ref().has(Flags::ATTENDED), "not made by `Cown::attended`");
            block::front::<T>(header).as_ref()
        }
    }

    /// Closes the cown for good: behaviours that name it are refused ([`Broken::Closed`]), unless
    /// they come [regardless](Cown::regardless). For the state itself, whose end this is.
    pub fn close(&self) {
        // SAFETY: a weak handle keeps the block alive.
        let flags = unsafe { &self.header_ptr().as_ref().flags };
        if flags.close() == Flags::PARKED {
            // Where no handle is left, the door is not left shut.
            if let Some(handle) = self.upgrade() {
                handle.alert();
                give_back(handle);
            }
        }
    }
}

/// Has the state attended to.
///
/// # Safety
/// The cown is attended to, and alive: the caller has a handle.
pub(super) unsafe fn alert(cown: NonNull<CownHeader>) {
    // SAFETY: alive.
    let home = unsafe { cown.as_ref() }.home();
    // SAFETY: by the caller's word.
    at_work_in(home, || unsafe { alert_inside(cown, home) });
}

/// # Safety
/// As [`alert`].
unsafe fn alert_inside(cown: NonNull<CownHeader>, home: RuntimeId) {
    // SAFETY: by the caller's word.
    unsafe {
        let header = cown.as_ref();
        if let Some(leader) = header.leader() {
            // A member of the leader's group.
            if alert_member(cown, leader) {
                knock(cown);
            }
            return;
        }
        let before = header.flags.alert();
        simulated::point();
        if before & Flags::ALERT != 0 {
            return;
        }
        if before & Flags::PARKED != 0 {
            // The token is ours with the bit that we have seen.
            schedule(guard::task_of(cown), home);
        } else {
            knock(cown);
        }
    }
}

/// Appends a request before which the state is attended to.
///
/// # Safety
/// The cown is alive.
unsafe fn knock(cown: NonNull<CownHeader>) {
    // SAFETY: by the caller's word.
    unsafe {
        if cown.as_ref().is_grouped() {
            errand::append(cown, Box::new(|_| ()));
        } else {
            knock::append(cown);
        }
    }
}

/// How many turns of its own it takes before that.
const TURNS_IN_A_ROW: u32 = 64;

/// Runs a guard's task: attends to the state, then grants the cown on, or leaves the token.
///
/// # Safety
/// The task is that of a guard of a `T`, and has come with the token.
unsafe fn run<T: Attended>(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    let guard: NonNull<Guard> = task.cast();
    let cown = guard::header_of(guard);
    for _ in 0..CALLS_IN_A_ROW {
        // SAFETY: the request at the head keeps the cown alive while we have the token.
        let header = unsafe { cown.as_ref() };
        header.flags.begin_attending();
        simulated::point();
        // SAFETY: the token, and no reader: nobody else is at the state.
        let door = unsafe { attend_and_take_turns::<T>(cown, context) };
        if door == Door::Reserved {
            if header.wants_attention() {
                continue;
            }
            break;
        }
        if door == Door::Open || is_without_door(header) {
            let mut successor = Successor::new(context.home);
            // SAFETY: the token is passed on.
            unsafe {
                let head = NonNull::new_unchecked((*guard.as_ptr()).head);
                return match knock::pass_over(cown, head, context.home) {
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
    // It goes on being alerted; others want the worker, too. The token stays with the task.
    // SAFETY: as above.
    schedule_last(task, unsafe { cown.as_ref() }.home());
    None
}

/// Calls the state, and lets it take turns of its own, as long as it is not alerted, or for a while.
///
/// # Safety
/// As [`attend`].
unsafe fn attend_and_take_turns<T: Attended>(
    cown: NonNull<CownHeader>,
    context: &RunContext,
) -> Door {
    // SAFETY: by the caller's word; so the cown is alive.
    unsafe {
        let mut door = attend::<T>(cown, mode_now(context));
        for _ in 0..TURNS_IN_A_ROW {
            if door != Door::Reserved || cown.as_ref().wants_attention() {
                break;
            }
            door = match mode_now(context) {
                Mode::Run => take_turn::<T>(cown),
                Mode::Cancel => attend::<T>(cown, Mode::Cancel),
            };
        }
        door
    }
}

/// Calls the state.
///
/// # Safety
/// The caller is alone with the state, which is a `T` that is attended to.
unsafe fn attend<T: Attended>(cown: NonNull<CownHeader>, mode: Mode) -> Door {
    let call = |state: &mut T, front: &T::Front| match mode {
        Mode::Run => state.attend(front),
        Mode::Cancel => {
            state.cancel(front);
            Door::Open
        }
    };
    // SAFETY: by the caller's word.
    unsafe { call_state(cown, call) }
}

/// Lets the state take a turn of its own.
///
/// # Safety
/// As [`attend`].
unsafe fn take_turn<T: Attended>(cown: NonNull<CownHeader>) -> Door {
    // SAFETY: by the caller's word.
    unsafe { call_state::<T>(cown, |state, front| state.take_turn(front)) }
}

/// # Safety
/// As [`attend`].
unsafe fn call_state<T: Attended>(
    cown: NonNull<CownHeader>,
    call: impl FnOnce(&mut T, &T::Front) -> Door,
) -> Door {
    let mut door = Door::Open;
    // SAFETY: the cown is alive.
    if !unsafe { cown.as_ref() }.is_within_reach() {
        // What a pump has left behind is cancelled by others, who must not touch the state.
        return door;
    }
    // SAFETY: by the caller's word.
    drop_quietly(|| unsafe {
        let state = &mut *CownBox::<T>::state(cown);
        let front = block::front::<T>(cown).as_ref();
        door = call(state, front);
    });
    // What is closed has no turns of its own.
    // SAFETY: the cown is alive.
    let is_over = door == Door::Reserved && unsafe { cown.as_ref() }.has(Flags::CLOSED);
    if is_over { Door::Open } else { door }
}

/// The `failed` of a guard's kind.
///
/// # Safety
/// The caller holds the cown exclusively; it is a `T` that is attended to.
unsafe fn fail<T: Attended>(cown: NonNull<CownHeader>, why: &Broken) {
    // SAFETY: the cown is held, so alive.
    if unsafe { cown.as_ref() }.has(Flags::CLOSED) {
        // The state has ended, and need not know.
        return;
    }
    // SAFETY: by the caller's word. The cown is alive, so a weak handle may be made of it, and forgotten.
    unsafe {
        let state = &mut *CownBox::<T>::state(cown);
        let front = block::front::<T>(cown).as_ref();
        drop_quietly(|| state.failed(front, why));
        match ManuallyDrop::new(WeakCown::<T>::from_header(cown)).upgrade() {
            Some(handle) => {
                handle.alert();
                give_back(handle);
            }
            // No handle is left, so the request that ends the cown stands in the queue, or is on its way there: an
            // empty one behind it would be for a cown that is gone by then.
            None => alert_last(cown),
        }
    }
}

/// Gives up a handle that was made for a moment. If it has become the last one, the owner of the
/// state is to know.
fn give_back<T: Attended>(handle: Cown<T>) {
    if let Some(last) = handle.drop_unless_last() {
        drop_quietly(move || T::unreachable(last));
    }
}

/// The handle that the caller has.
///
/// # Safety
/// The cown is of `T`, and the caller has a handle of it.
unsafe fn handle<T: Attended>(cown: NonNull<CownHeader>) -> ManuallyDrop<Cown<T>> {
    // SAFETY: by the caller's word; it is not given up here.
    ManuallyDrop::new(unsafe { Cown::from_header(cown) })
}

/// # Safety
/// As [`handle`].
unsafe fn end<T: Attended>(cown: NonNull<CownHeader>, ending: &Ending) {
    // SAFETY: by the caller's word.
    let handle = unsafe { handle::<T>(cown) };
    drop_quietly(|| T::end(handle.front(), ending));
    handle.alert();
}

/// # Safety
/// As [`handle`].
unsafe fn number<T: Attended>(cown: NonNull<CownHeader>) -> u64 {
    // SAFETY: by the caller's word.
    let handle = unsafe { handle::<T>(cown) };
    // A runtime that ends does not stop for a panic here: the order is a matter of courtesy.
    catch(|| T::number(handle.front())).unwrap_or(0)
}

/// # Safety
/// As [`handle`]; the handle is given up.
unsafe fn release<T: Attended>(cown: NonNull<CownHeader>) {
    // SAFETY: by the caller's word.
    give_back(ManuallyDrop::into_inner(unsafe { handle::<T>(cown) }));
}

#[cfg(all(test, loom))]
mod loom;

//! What a state must do to be interruptible.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::cown::handle::Cown;
use crate::fault::Broken;
use crate::queue::interrupt_header::Gate;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::sched::ending::Ending;
use crate::sched::worker::bound::WorkerPlace;

/// A state that is called between two behaviours after its cown was [interrupted](Cown::interrupt).
#[doc(alias = "signal")]
pub trait Interruptible: Send + Sized + 'static {
    /// The part that handles can access at any time, without holding the cown:
    /// [`Cown::shared_state`].
    type SharedState: Send + Sync + 'static;

    /// Whether [`place`](Self::place) may return anything.
    const MAY_HAVE_PLACE: bool = false;

    /// Returns the worker that is to handle a message ([`SendPath`](crate::internals::SendPath)),
    /// if that is tied to one. Others pass it on there. Behaviours, interrupts, and messages that
    /// are late or that reach a worker at its end may still come on other threads.
    #[inline]
    fn place(&self) -> Option<WorkerPlace> {
        None
    }

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
    /// behaviours that are then dropped; but if the state has [closed](crate::WeakCown::close) its
    /// cown, [unchecked](Cown::unchecked) behaviours run. Before each of these, which counts as
    /// abandoned already, it is called once more.
    fn cancel(&mut self, shared: &Self::SharedState);

    /// Called when a behaviour that held the cown exclusively has panicked, and still holds it. An
    /// interrupt follows. Not called once the cown is closed. Must not panic.
    fn failed(&mut self, shared: &Self::SharedState, why: &Broken);

    /// Called when the runtime is about to end, and waits for the state to end itself by
    /// [closing](crate::WeakCown::close) the cown. Called without the state, on the thread that
    /// ends the runtime; an interrupt follows.
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
    /// check](Cown::spawn_last_handle_check). If this [closes](crate::WeakCown::close) the cown, or
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

/// A cown whose last handle is gone, for its state: [`Interruptible::last_handle_gone`].
pub struct UnreachableCown<'a, T: Interruptible> {
    pub(super) cown: LiveCown,
    /// The request that owns the last handle. `None` in a group, where other requests may follow.
    pub(super) request: Option<LiveSlot>,
    pub(super) has_ended: Cell<bool>,
    pub(super) skips_drop: Cell<bool>,
    pub(super) is_wanted: Cell<bool>,
    /// Belongs to the call, on its thread.
    of: PhantomData<&'a mut T>,
}

impl<T: Interruptible> UnreachableCown<'_, T> {
    /// # Safety
    /// The cown is an interruptible `T`, and held exclusively as long as this exists; by the
    /// request, if one is given, which owns a handle.
    pub(super) unsafe fn new(cown: LiveCown, request: Option<LiveSlot>) -> Self {
        let [has_ended, skips_drop, is_wanted] = [(); 3].map(|()| Cell::new(false));
        Self { cown, request, has_ended, skips_drop, is_wanted, of: PhantomData }
    }
}

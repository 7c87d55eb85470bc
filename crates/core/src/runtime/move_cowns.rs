//! Moves cowns from one runtime to another.

use std::fmt;

use crate::behaviour::refuse::panic_refused;
use crate::behaviour::spawn_plain::spawn_plain;
use crate::body::RuntimeUpkeep;
use crate::cown::handle::Cown;
use crate::cown::set::{AsCown, CownSet, checked_all};
use crate::interrupt::{self, registry};
use crate::queue::header::Flags;
use crate::queue::member_interrupt::look_up;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::simulated;

impl<T: Send + 'static> Cown<T> {
    /// Returns the runtime whose workers run the behaviours on this cown. Out of date at once if
    /// other threads [move](Self::move_to) it.
    #[inline]
    pub fn runtime(&self) -> RuntimeHandle {
        RuntimeHandle(self.header().home())
    }

    /// Moves the cown to another runtime, together with its group if it is in one: later behaviours
    /// run there, earlier ones where they would have, and the order stays. (A behaviour on several
    /// cowns runs where the first of them is when it is ready.)
    ///
    /// # Errors
    /// Returns an error for cowns of a [`Pump`](crate::runtime::Pump), which stay with it, and for
    /// moves to a pump; for actors with a fiber, and groups that have one; or if either runtime has
    /// been shut down.
    pub fn move_to(&self, home: RuntimeHandle) -> Result<(), MoveError> {
        move_handle_to(self, home)
    }

    /// Makes another live runtime the home. For a behaviour that holds the cown.
    pub(crate) fn come_to(&self, home: RuntimeHandle) {
        // (What has got a fiber meanwhile stays.)
        if self.header().has(Flags::CLOSED) || self.header().queue().has(Flags::PLACED) {
            return;
        }
        if self.header().has(Flags::INTERRUPTIBLE | Flags::GROUPED) {
            registry::note_move();
        }
        self.header().set_home(home.0);
        // SAFETY: the handle keeps the cown alive, and with it its leader.
        if let Some(leader) = unsafe { self.live_cown() }.leader() {
            look_up(leader);
            // The empty request that belongs to every interrupt. (Poison is none of its business.)
            spawn_upkeep(self.checked(), |_| {});
        }
        interrupt::moved(home);
    }

    /// Returns whether the cown can be moved there.
    pub(crate) fn check_move(&self, home: RuntimeHandle) -> Result<(), MoveError> {
        if self.header().is_pinned() {
            return Err(MoveError::Pinned);
        }
        if self.header().queue().has(Flags::PLACED) {
            return Err(MoveError::HasFiber);
        }
        if home.is_pumped() {
            return Err(MoveError::ToPump);
        }
        if home.has_stopped() {
            return Err(MoveError::ToEnded);
        }
        if self.runtime().has_stopped() {
            return Err(MoveError::Ended);
        }
        Ok(())
    }
}

/// The reason why a cown cannot be [moved](Cown::move_to).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MoveError {
    /// The cown belongs to a pump, and only the pump's thread accesses its state.
    Pinned,
    /// The cown is an actor with a fiber, which stays on the worker where it has begun, or its
    /// group has such a member.
    HasFiber,
    /// The new runtime is a pump, whose cowns must be created there.
    ToPump,
    /// The new runtime has been shut down, and would run nothing.
    ToEnded,
    /// The cown's own runtime has been shut down: nothing can run on the cown, so it cannot be
    /// moved.
    Ended,
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MoveError::Pinned => "the cown belongs to a pump, and stays on its thread",
            MoveError::HasFiber => {
                "the actor, or a member of its group, has a fiber, which stays on its worker: spawn it there"
            }
            MoveError::ToPump => "cowns cannot be moved to a pump: create them there",
            MoveError::ToEnded => "the new runtime has been shut down",
            MoveError::Ended => "the cown's runtime has been shut down",
        })
    }
}

impl std::error::Error for MoveError {}

/// Moves the cown of any handle to a runtime, keeping the handle until that has happened; see
/// [`Cown::move_to`].
///
/// # Errors
/// See [`Cown::move_to`].
pub fn move_handle_to(handle: &impl AsCown, home: RuntimeHandle) -> Result<(), MoveError> {
    handle.as_cown().check_move(home)?;
    let this = handle.clone();
    // Poisoned, closed or neither: a move does not access the state.
    let set = checked_all(std::slice::from_ref(handle));
    spawn_upkeep(set, move |_| this.as_cown().come_to(home));
    Ok(())
}

/// Spawns a behaviour that is no work of the program. It changes no state: so it takes part in no
/// commit, and a decision may spawn it.
fn spawn_upkeep<S, F>(set: S, closure: F)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    simulated::spawns();
    if let Err(refused) = spawn_plain(set, closure, RuntimeUpkeep) {
        panic_refused(refused);
    }
}

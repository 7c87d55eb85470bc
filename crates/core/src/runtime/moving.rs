//! Cowns that are moved from one runtime to another.

use std::fmt;

use crate::cown::handle::Cown;
use crate::cown::set::{AsCown, checked_all};
use crate::interrupt::{self, registry};
use crate::queue::header::Flags;
use crate::queue::interrupt::look_up;
use crate::sched::runtime_handle::RuntimeHandle;

impl<T: Send + 'static> Cown<T> {
    /// The runtime whose workers run the behaviours on this cown. Out of date at once where others
    /// [move](Self::move_to) it.
    #[inline]
    pub fn runtime(&self) -> RuntimeHandle {
        RuntimeHandle(self.header().home())
    }

    /// Moves the cown to another runtime, and with it its group, if it is in one: behaviours that are
    /// spawned after this run there, those before where they would have, and their order stays. (A
    /// behaviour on several cowns runs where the first of them is when its turn comes.)
    ///
    /// # Errors
    /// The cowns of a [`Pump`](crate::runtime::Pump) stay with it, and no other comes to it. Neither of the two runtimes may have
    /// been shut down.
    pub fn move_to(&self, home: RuntimeHandle) -> Result<(), MoveError> {
        home.take_in(self)
    }

    /// Makes another runtime the home: of one that lives still. For a behaviour that holds the cown.
    pub(crate) fn come_to(&self, home: RuntimeHandle) {
        if self.header().has(Flags::CLOSED) {
            return;
        }
        if self.header().has(Flags::INTERRUPTIBLE | Flags::GROUPED) {
            registry::note_move();
        }
        self.header().set_home(home.0);
        if let Some(leader) = self.header().leader() {
            // SAFETY: the caller holds the group.
            unsafe { look_up(leader) };
            // The empty request that every interrupt has.
            crate::when(self, |_| {});
        }
        interrupt::moved(home);
    }

    /// Whether the cown can be moved there.
    pub(crate) fn check_move(&self, home: RuntimeHandle) -> Result<(), MoveError> {
        if self.header().is_pinned() {
            return Err(MoveError::Pinned);
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

/// Why a cown cannot be [moved](Cown::move_to).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MoveError {
    /// The cown belongs to a pump, whose thread alone touches its state.
    Pinned,
    /// The new home is a pump's: its cowns are made there.
    ToPump,
    /// The new home has been shut down: it would run nothing.
    ToEnded,
    /// The cown's own runtime has been shut down: nothing can be run on the cown any more, and so it cannot be moved.
    Ended,
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MoveError::Pinned => "the cown belongs to a pump, and stays on its thread",
            MoveError::ToPump => "a pump's cowns are made in it: none can be moved to it",
            MoveError::ToEnded => "the new home has been shut down: it would run nothing",
            MoveError::Ended => "the cown's runtime has been shut down: nothing runs on the cown",
        })
    }
}

impl std::error::Error for MoveError {}

impl RuntimeHandle {
    /// Moves the cown of any handle to this runtime; the handle is kept until that has happened: see [`Cown::move_to`].
    ///
    /// # Errors
    /// See there.
    #[doc(hidden)]
    pub fn take_in(self, handle: &impl AsCown) -> Result<(), MoveError> {
        handle.as_cown().check_move(self)?;
        let this = handle.clone();
        // Poisoned or closed or neither: a move touches no state.
        crate::when(checked_all(std::slice::from_ref(handle)), move |_| {
            this.as_cown().come_to(self)
        });
        Ok(())
    }
}

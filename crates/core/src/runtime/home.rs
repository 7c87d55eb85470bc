//! Which runtime something belongs to, as a value.

use std::fmt;
use std::time::Duration;

use super::{Runtime, current_id};
use crate::attend;
use crate::cown::handle::Cown;
use crate::cown::header::Flags;
use crate::cown::set::AsCown;
use crate::group::alert;
use crate::ids::RuntimeId;
use crate::sched::shared::{self, Phase};

/// The runtime that cowns, timers and futures belong to: a name for it that can be copied, kept
/// and compared, and that outlives its [`Runtime`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Home(pub(crate) RuntimeId);

impl Home {
    /// Whether the runtime has been shut down, or its deadline for that has passed: it runs nothing any more.
    fn has_stopped(self) -> bool {
        // The runtime of a model does not exist.
        !cfg!(loom) && shared::get(self.0).phase() != Phase::Running
    }

    /// That of the caller: see [`Cown::new`].
    #[inline]
    pub fn current() -> Self {
        Self(current_id())
    }

    /// The name that the runtime was [given](crate::Builder::name).
    pub fn name(self) -> &'static str {
        &shared::get(self.0).config.name
    }

    /// The time since the runtime was made, by the clock that its timers follow: in the deterministic
    /// mode it is virtual.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::Home;
    ///
    /// let home = Home::current();
    /// assert!(home.elapsed() <= home.elapsed());
    /// ```
    pub fn elapsed(self) -> Duration {
        shared::get(self.0).timers.elapsed()
    }

    /// The one `T` that belongs to this runtime and its [siblings](crate::Builder::sibling_of): made
    /// by `T::default()` when it is first asked for, and never dropped. For the layers above, which
    /// keep here what they have to keep for each runtime.
    ///
    /// A simulation begins with none.
    ///
    /// Costs a lock and a search: keep the reference, but not from one simulation to the next (see
    /// [`is_stable`](Self::is_stable)).
    pub fn companion<T: Default + Send + Sync + 'static>(self) -> &'static T {
        shared::get(self.0).config.extensions.get()
    }
}

impl Home {
    /// Whether homes keep their meaning: a simulation gives those of an earlier one to runtimes of its own,
    /// so nothing is kept by them beyond its end. Always, without the feature `sim`.
    #[doc(hidden)]
    #[inline]
    pub fn is_stable(self) -> bool {
        !crate::sim::is_active()
    }

    /// The first of this runtime and its [siblings](crate::Builder::sibling_of): that which was not
    /// made as a sibling of another one. It is the same for all of them.
    pub fn eldest(self) -> Self {
        Self(shared::get(self.0).config.extensions.root().unwrap_or(self.0))
    }
}

impl Runtime {
    /// The runtime as the home of cowns.
    pub fn home(&self) -> Home {
        Home(self.id())
    }
}

impl<T: Send + 'static> Cown<T> {
    /// The runtime whose workers run the behaviours on this cown. Out of date at once where others
    /// [move](Self::move_to) it.
    #[inline]
    pub fn home(&self) -> Home {
        Home(self.header().home())
    }

    /// Moves the cown to another runtime, and with it its group, if it is in one: behaviours that are
    /// spawned after this run there, those before where they would have, and their order stays. (A
    /// behaviour on several cowns runs where the first of them is when its turn comes.)
    ///
    /// # Errors
    /// The cowns of a [`Pump`](crate::Pump) stay with it, and no other comes to it. Neither of the two runtimes may have
    /// been shut down.
    pub fn move_to(&self, home: Home) -> Result<(), MoveError> {
        AsCown::move_to(self, home)
    }

    /// Makes another runtime the home: of one that lives still. For a behaviour that holds the cown.
    pub(crate) fn come_to(&self, home: Home) {
        if self.header().has(Flags::CLOSED) {
            return;
        }
        self.header().set_home(home.0);
        if let Some(leader) = self.header().leader() {
            // SAFETY: the caller holds the group.
            unsafe { alert::look_up(leader) };
            // The empty request that every alert has.
            crate::when(self, |_| {});
        }
        attend::moved(home);
    }

    /// Whether the cown can be moved there.
    pub(crate) fn check_move(&self, home: Home) -> Result<(), MoveError> {
        if self.header().is_pinned() {
            return Err(MoveError::Pinned);
        }
        if home.is_pumped() {
            return Err(MoveError::ToPump);
        }
        if home.has_stopped() {
            return Err(MoveError::ToEnded);
        }
        if self.home().has_stopped() {
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

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Home({:?})", self.name())
    }
}

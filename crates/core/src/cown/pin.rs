//! Cowns that belong to a pump: their states are touched by its thread only.

use crate::queue::header::{CownHeader, Flags};
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::shared;

impl CownHeader {
    /// Binds a cown that nobody has yet to its home, if that is a pump's.
    #[inline]
    pub(crate) fn pin_if(&self, pumped: bool) {
        if pumped {
            self.set(Flags::PINNED, true);
        }
    }

    #[inline]
    pub(crate) fn is_pinned(&self) -> bool {
        self.has(Flags::PINNED)
    }

    /// Whether the current thread may touch the state, once it has it for itself.
    #[inline]
    pub(crate) fn is_within_reach(&self) -> bool {
        !self.is_pinned() || shared::get(self.home()).is_pump_thread()
    }
}

impl RuntimeHandle {
    /// Whether its cowns are pinned: whether it is the home of a [`Pump`](crate::runtime::Pump).
    pub fn is_pumped(self) -> bool {
        // The runtime of a model does not exist.
        !cfg!(loom) && shared::get(self.0).is_pumped()
    }

    /// Whether the current thread may touch the states of its cowns: any thread, unless it is the home
    /// of a [`Pump`](crate::runtime::Pump); then that one's alone.
    pub fn is_within_reach(self) -> bool {
        let shared = shared::get(self.0);
        !shared.is_pumped() || shared.is_pump_thread()
    }
}

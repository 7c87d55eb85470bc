//! Pinned cowns: those of a pump, whose states only the pump's thread accesses.

use crate::queue::header::{CownHeader, Flags};
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::runtime_shared;

impl CownHeader {
    /// Pins a cown that no other thread knows to its home, if that is a pump.
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

    /// Returns whether the current thread may access the state, once it holds the cown.
    #[inline]
    pub(crate) fn is_within_reach(&self) -> bool {
        !self.is_pinned() || runtime_shared::get(self.home()).is_pump_thread()
    }
}

impl RuntimeHandle {
    /// Returns whether its cowns are pinned: whether it is the runtime of a
    /// [`Pump`](crate::runtime::Pump).
    pub fn is_pumped(self) -> bool {
        // A model has no runtime.
        !cfg!(loom) && runtime_shared::get(self.0).is_pumped()
    }

    /// Returns whether the current thread may access the states of its cowns: always, unless it is
    /// the runtime of a [`Pump`](crate::runtime::Pump); then only on that pump's thread.
    pub fn is_within_reach(self) -> bool {
        let shared = runtime_shared::get(self.0);
        !shared.is_pumped() || shared.is_pump_thread()
    }
}

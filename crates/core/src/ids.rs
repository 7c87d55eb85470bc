//! What runtimes are known by.

use std::fmt;
use std::num::NonZeroU16;

/// Which runtime a cown, a task or a thread belongs to. 0 is none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct RuntimeId(u16);

impl RuntimeId {
    pub(crate) const NONE: Self = Self(0);
    /// Above the largest id.
    pub(crate) const LIMIT: usize = 1 << 16;

    pub(crate) fn new(id: NonZeroU16) -> Self {
        Self(id.get())
    }

    /// The id that [`get`](Self::get) gave.
    #[inline]
    pub(crate) fn from_raw(id: u16) -> Self {
        Self(id)
    }

    #[inline]
    pub(crate) fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Debug for RuntimeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "runtime {}", self.0)
    }
}

//! Stacks, as the users of this crate have them.

use std::fmt::{self, Formatter};

use super::pool::{PooledStack, page_size};
use super::size_class::SizeClass;
use crate::stack_error::StackError;

/// The memory of one fiber, from a pool of the process, to which it returns when it is dropped.
///
/// Its sizes are powers of two. Only what was touched uses memory. In the pool, on Linux, a stack
/// keeps 32 KiB of that, the part which is used first; but the last few that a thread has returned
/// (32 of each size up to 256 KiB) keep all. Addresses are never given back: as many stacks as were
/// ever in use at a time stay in the pool.
pub struct Stack {
    pooled: PooledStack,
}

impl Stack {
    /// Takes a stack with at least this many usable bytes from the pool: a power of two, and at
    /// least [`MIN_STACK_SIZE`](crate::MIN_STACK_SIZE), whatever less is asked for. The fiber needs
    /// some 200 bytes of it for itself.
    ///
    /// Costs a few nanoseconds if the thread has a free stack of that size (each thread keeps up to
    /// 32), and a system call or two for a new one.
    ///
    /// # Errors
    /// Returns a [`StackError`] if it is too large, or the system refuses the memory.
    pub fn take(size: usize) -> Result<Self, StackError> {
        let class = SizeClass::of(size, page_size())?;
        Ok(Self { pooled: PooledStack::take(class)? })
    }

    /// Returns how many bytes it has.
    pub fn size(&self) -> usize {
        self.pooled.high() - self.pooled.low()
    }

    pub(super) fn pooled(&self) -> &PooledStack {
        &self.pooled
    }

    pub(super) fn into_pooled(self) -> PooledStack {
        self.pooled
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack").field("size", &self.size()).finish_non_exhaustive()
    }
}

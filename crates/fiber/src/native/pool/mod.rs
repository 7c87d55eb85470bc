//! The pool of stacks on Linux.
//!
//! Stacks are cut from [chunks](chunk), mappings with room for many, and have a [guard](guard)
//! each. A free stack is in a list of its size: one of its [thread's](cache) or the [depot](depot).
//! Chunks are never unmapped, so the memory of a free stack may hold the link to the next one.

mod cache;
mod chunk;
mod depot;
mod free_list;
mod guard;
mod map_limit;
mod page;
mod trim;

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::sanitizer::{self, StackRange};
use super::size_class::SizeClass;
use crate::stack_error::StackError;
use free_list::FreeStack;
use guard::guard_size;
pub(super) use page::page_size;

#[cfg(test)]
pub(super) use guard::refuse_markers;
#[cfg(test)]
pub(super) use map_limit::{limit as map_limit, maps};

/// A stack in use, which returns to the pool when it is dropped.
pub(super) struct PooledStack {
    memory: ManuallyDrop<FreeStack>,
    class: SizeClass,
}

impl PooledStack {
    pub(super) fn take(class: SizeClass) -> Result<Self, StackError> {
        Ok(Self { memory: ManuallyDrop::new(cache::take(class)?), class })
    }

    /// The end of the stack, where its use begins.
    pub(super) fn top(&self) -> NonNull<u8> {
        self.memory.top()
    }

    pub(super) fn high(&self) -> usize {
        self.top().as_ptr().expose_provenance()
    }

    /// The lowest usable address.
    pub(super) fn low(&self) -> usize {
        self.high() - self.class.bytes()
    }

    /// The lowest address of the guard.
    pub(super) fn limit(&self) -> usize {
        self.low() - guard_size()
    }
}

impl Drop for PooledStack {
    fn drop(&mut self) {
        sanitizer::cleared(StackRange::new(self.low(), self.high()));
        // SAFETY: this is the only place that takes it out, and it is not used any more.
        let memory = unsafe { ManuallyDrop::take(&mut self.memory) };
        cache::put(self.class, memory);
    }
}

//! The twin of `current.rs` for models, which have no workers: each thread may use the ring.

use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

use crate::queue::group_header::Leader;
use crate::sched::worker::Worker;
use crate::task::RunContext;

loom::thread_local! {
    static HELD: Cell<*mut Leader> = Cell::new(null_mut());
}

pub(super) fn is(leader: NonNull<Leader>) -> bool {
    HELD.with(|held| std::ptr::eq(held.get(), leader.as_ptr()))
}

pub(super) fn worker<'a>(_: &RunContext) -> Option<&'a Worker> {
    None
}

pub(super) fn context<'a>(_: Option<&Worker>, begun: &'a RunContext) -> &'a RunContext {
    begun
}

pub(super) fn throughput(_: &RunContext) -> u32 {
    u32::MAX
}

pub(super) struct RingAccess(*mut Leader);

impl RingAccess {
    pub(super) fn enter(leader: NonNull<Leader>, _: Option<&Worker>) -> Self {
        Self(HELD.with(|held| held.replace(leader.as_ptr())))
    }

    pub(super) fn end(self) {}
}

impl Drop for RingAccess {
    fn drop(&mut self) {
        HELD.with(|held| held.set(self.0));
    }
}

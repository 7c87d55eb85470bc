//! The pool of stacks on systems other than Linux: each a mapping of its own, in a list while it is
//! free.

use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use coact_sync::shim::process::{Mutex, MutexGuard};
use corosensei::stack::{DefaultStack, Stack};

use super::sanitizer::{self, StackRange};
use super::size_class::{CLASSES, SizeClass};
use crate::stack_error::StackError;

/// The pages below the usable ones: a guard, or on Windows two of them, the part that its handlers
/// run in, and the end.
const PAGES_BELOW: usize = if cfg!(windows) { 4 } else { 1 };

static FREE: [Mutex<Vec<DefaultStack>>; CLASSES] = [const { Mutex::new(Vec::new()) }; CLASSES];

/// A stack in use, which returns to the pool when it is dropped.
pub(super) struct PooledStack {
    pub(super) system: ManuallyDrop<DefaultStack>,
    class: SizeClass,
}

impl PooledStack {
    pub(super) fn take(class: SizeClass) -> Result<Self, StackError> {
        let free = list(class).pop();
        let system = free.map_or_else(|| DefaultStack::new(class.bytes()), Ok);
        let refusal = |source| StackError::Refused { size: class.bytes(), source };
        Ok(Self { system: ManuallyDrop::new(system.map_err(refusal)?), class })
    }

    /// The end of the stack, where its use begins.
    pub(super) fn top(&self) -> NonNull<u8> {
        let top = ptr::with_exposed_provenance_mut(self.high());
        NonNull::new(top).expect("no stack is at address 0")
    }

    pub(super) fn high(&self) -> usize {
        self.system.base().get()
    }

    /// The lowest usable address.
    pub(super) fn low(&self) -> usize {
        self.limit() + PAGES_BELOW * page_size()
    }

    /// The lowest address of the guard.
    pub(super) fn limit(&self) -> usize {
        self.system.limit().get()
    }
}

impl Drop for PooledStack {
    fn drop(&mut self) {
        sanitizer::cleared(StackRange::new(self.low(), self.high()));
        // SAFETY: this is the only place that takes it out, and it is not used any more.
        let system = unsafe { ManuallyDrop::take(&mut self.system) };
        list(self.class).push(system);
    }
}

fn list(class: SizeClass) -> MutexGuard<'static, Vec<DefaultStack>> {
    FREE[class.index()].lock()
}

/// Returns the system's size of a page.
#[cfg(unix)]
pub(super) fn page_size() -> usize {
    // SAFETY: the call reads a constant of the system.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).expect("the system knows the size of its pages")
}

/// Returns the system's size of a page.
#[cfg(not(unix))]
pub(super) fn page_size() -> usize {
    4096
}

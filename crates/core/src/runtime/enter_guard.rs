//! The guard of a thread that has entered a runtime.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use crate::current::{self, thread_extension};
use crate::runtime_ids::RuntimeId;
use crate::sched::runtime_shared::RuntimeShared;

/// The guards of one thread.
#[derive(Default)]
struct EnterGuards {
    count: Cell<usize>,
    /// Guards dropped before later ones: their numbers, and the runtimes that they restore.
    gone: RefCell<Vec<(usize, RuntimeId)>>,
}

/// Makes a runtime the current one of its thread; see [`Runtime::enter`](crate::Runtime::enter).
#[must_use = "the runtime is left when the guard is dropped (bind it to a name: `let _ =` drops \
              it at once)"]
#[derive(Debug)]
pub struct EnterGuard<'a> {
    before: RuntimeId,
    /// Its number on its thread, counted from 1.
    number: usize,
    runtime: PhantomData<&'a RuntimeShared>,
    /// Entering affects one thread.
    not_send: PhantomData<*const ()>,
}

impl EnterGuard<'_> {
    pub(super) fn new(runtime: RuntimeId) -> Self {
        let before = current::enter(runtime);
        let guards = thread_extension::<EnterGuards>();
        let number = guards.count.get() + 1;
        guards.count.set(number);
        Self { before, number, runtime: PhantomData, not_send: PhantomData }
    }
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        let guards = thread_extension::<EnterGuards>();
        // (On a thread that is ending and has dropped its extensions, each guard counts as the only
        // one.)
        if guards.count.get() <= self.number {
            guards.leave(self.number, self.before);
        } else {
            guards.gone.borrow_mut().push((self.number, self.before));
        }
    }
}

impl EnterGuards {
    /// Ends the latest guard, and the earlier ones that were already dropped.
    fn leave(&self, mut number: usize, before: RuntimeId) {
        let mut before = Some(before);
        while let Some(runtime) = before {
            current::enter(runtime);
            number -= 1;
            before = self.take(number);
        }
        self.count.set(number);
    }

    /// Returns the runtime that a dropped guard restores.
    fn take(&self, number: usize) -> Option<RuntimeId> {
        let mut gone = self.gone.borrow_mut();
        let at = gone.iter().position(|(gone, _)| *gone == number)?;
        Some(gone.swap_remove(at).1)
    }
}

//! What keeps a thread in the runtime that it has entered.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use crate::current::{self, thread_extension};
use crate::ids::RuntimeId;
use crate::sched::shared::Shared;

/// The guards of one thread.
#[derive(Default)]
struct Guards {
    count: Cell<usize>,
    /// Those that are gone while younger ones are not: which they were, and what they were to bring back.
    gone: RefCell<Vec<(usize, RuntimeId)>>,
}

/// Makes a runtime the current one of its thread; see [`Runtime::enter`](crate::Runtime::enter).
#[must_use = "the runtime is left when the guard is dropped"]
#[derive(Debug)]
pub struct EnterGuard<'a> {
    before: RuntimeId,
    /// Which one it is on its thread, from 1.
    number: usize,
    runtime: PhantomData<&'a Shared>,
    /// Entering concerns one thread.
    not_send: PhantomData<*const ()>,
}

impl EnterGuard<'_> {
    pub(super) fn new(runtime: RuntimeId) -> Self {
        let before = current::enter(runtime);
        let guards = thread_extension::<Guards>();
        let number = guards.count.get() + 1;
        guards.count.set(number);
        Self { before, number, runtime: PhantomData, not_send: PhantomData }
    }
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        let guards = thread_extension::<Guards>();
        // (On a thread that is ending, whose extensions are gone, each guard is taken for the only one.)
        if guards.count.get() <= self.number {
            guards.leave(self.number, self.before);
        } else {
            guards.gone.borrow_mut().push((self.number, self.before));
        }
    }
}

impl Guards {
    /// Ends the youngest guard, and those before it that are gone already.
    fn leave(&self, mut number: usize, before: RuntimeId) {
        let mut before = Some(before);
        while let Some(runtime) = before {
            current::enter(runtime);
            number -= 1;
            before = self.take(number);
        }
        self.count.set(number);
    }

    /// What a guard was to bring back, if it is among those that are gone.
    fn take(&self, number: usize) -> Option<RuntimeId> {
        let mut gone = self.gone.borrow_mut();
        let at = gone.iter().position(|(gone, _)| *gone == number)?;
        Some(gone.swap_remove(at).1)
    }
}

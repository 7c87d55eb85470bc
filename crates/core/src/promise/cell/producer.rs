//! The resolver's end of a cell.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::Waker;

use super::callback::PromiseCallback;
use super::shared::{CellValue, CellWaiter, PromiseCell, drop_value};
use super::state::ProducerStep;
use crate::drop_depth;
use crate::fault::Broken;
use crate::panic::drop_quietly;
use crate::simulated;

/// The resolver's end: of a [`PromiseCell`], or of a [`PromiseCallback`], which begins like one.
pub(in crate::promise) struct Producer<R>(NonNull<PromiseCell<R>>);

// SAFETY: the value moves from one thread to another, once; there is never a shared reference to
// it.
unsafe impl<R: Send> Send for Producer<R> {}
// SAFETY: `&Producer` only reads the state word.
unsafe impl<R: Send> Sync for Producer<R> {}

impl<R> Producer<R> {
    /// Creates the producer of a cell.
    ///
    /// # Safety
    /// There is no other one, and it has not left.
    #[inline]
    pub(super) unsafe fn of_shared(shared: NonNull<PromiseCell<R>>) -> Self {
        Self(shared)
    }

    /// Creates the producer that calls this.
    ///
    /// # Safety
    /// There is no other one. The block stays alive until it is called, which may happen on any
    /// thread.
    #[inline]
    pub(in crate::promise) unsafe fn of_callback(callback: NonNull<PromiseCallback<R>>) -> Self {
        Self(callback.cast())
    }

    /// Provides the value and notifies the waiter. Returns `false` if the consumer had given up.
    #[inline]
    pub(in crate::promise) fn complete(self, value: CellValue<R>) -> bool {
        self.complete_with(|| value)
    }

    /// The same with a value that is created in place. `value` must not panic: the block would
    /// leak.
    #[inline(always)]
    pub(in crate::promise) fn complete_with(self, value: impl FnOnce() -> CellValue<R>) -> bool {
        let this = ManuallyDrop::new(self).0;
        // SAFETY: both kinds of block begin with the state, and this end keeps the block alive.
        let state = unsafe { &(*this.as_ptr()).state };
        if state.calls() {
            // SAFETY: the state says that this is a `PromiseCallback`; such a block has no other
            // end, so this end owns it.
            unsafe { PromiseCallback::call_with(this.cast(), value()) };
            return true;
        }
        // SAFETY: the state says that this is a `PromiseCell`; this end keeps it alive and is given
        // up.
        unsafe { Self::complete_shared(this, value()) }
    }

    /// The same for a cell with a consumer.
    ///
    /// # Safety
    /// This end keeps the cell alive, and the caller gives it up.
    #[inline(never)]
    unsafe fn complete_shared(this: NonNull<PromiseCell<R>>, value: CellValue<R>) -> bool {
        // SAFETY: this end keeps the cell alive until it has left.
        let shared = unsafe { this.as_ref() };
        // SAFETY: this is the producer, which has not arrived.
        unsafe { shared.put_value(value) };
        let mut waker = None;
        let mut next = shared.state.arrive();
        if next == ProducerStep::TakeWaiter {
            simulated::point();
            // SAFETY: with this step the producer owns the waiter.
            match unsafe { shared.take_waiter() } {
                CellWaiter::Task(task) => waker = Some(task),
                CellWaiter::Then(then) => {
                    // SAFETY: a consumer that leaves a `Then` gives its end to the producer, and
                    // the value was written above.
                    then(unsafe { PromiseCell::take_over(this) });
                    return true;
                }
            }
            next = shared.state.leave_with_waiter();
        }
        if next == ProducerStep::Leave {
            // The consumer may free the cell from here on: do not touch it again.
            waker.into_iter().for_each(wake);
            return true;
        }
        let in_time = next != ProducerStep::FreeAndReport;
        // SAFETY: the consumer has left, and the value was written above.
        let value = unsafe { PromiseCell::take_over(this) };
        // The producer has done its work: a panic in the destructor of the value, or of a waker
        // that it need not wake any more, must not reach it.
        drop_quietly(|| drop_value(value));
        waker.into_iter().for_each(drop_unused);
        in_time
    }

    /// The cell's address, its identity in a simulation.
    #[inline]
    pub(in crate::promise) fn addr(&self) -> usize {
        self.0.addr().get()
    }

    pub(in crate::promise) fn is_abandoned(&self) -> bool {
        // SAFETY: both kinds of block begin with the state, and this end keeps the block alive.
        let state = unsafe { &(*self.0.as_ptr()).state };
        state.is_abandoned()
    }
}

/// Wakes the consumer's task. A waker is foreign code, so its panics must not reach the producer.
#[inline(never)]
fn wake(waker: Waker) {
    drop_quietly(|| waker.wake());
}

/// Drops a waker that the consumer has left behind.
#[cold]
#[inline(never)]
fn drop_unused(waker: Waker) {
    drop_quietly(|| drop(waker));
}

impl<R> Drop for Producer<R> {
    fn drop(&mut self) {
        let this = Producer(self.0);
        // The destructor of what is called may own the next producer, and so on. And the owner may
        // be unwinding, so this must not panic.
        // SAFETY: the closure captures only this end; the value of a resolver is `'static`.
        unsafe {
            drop_depth::run_destructor(move || {
                drop_quietly(|| _ = this.complete(Err(Broken::Dropped)));
            });
        }
    }
}

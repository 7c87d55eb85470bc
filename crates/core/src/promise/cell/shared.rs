//! The block that a promise and its resolver share.

use std::alloc::Layout;
use std::mem::{MaybeUninit, needs_drop};
use std::ptr::NonNull;
use std::task::Waker;

use coact_sync::pool;
use coact_sync::shim::cell::UnsafeCell;

use super::state::CellState;
use crate::drop_depth;
use crate::fault::Broken;

pub(super) type CellValue<R> = Result<R, Broken>;

/// What the consumer leaves for the producer to notify.
pub(super) enum CellWaiter<R> {
    Task(Waker),
    /// A closure that the producer calls with the value.
    Then(Box<dyn FnOnce(CellValue<R>) + Send>),
}

#[repr(C)]
pub(super) struct PromiseCell<R> {
    pub(super) state: CellState,
    value: UnsafeCell<MaybeUninit<CellValue<R>>>,
    waiter: UnsafeCell<MaybeUninit<CellWaiter<R>>>,
}

impl<R> PromiseCell<R> {
    /// Creates an empty cell, with one producer and one consumer.
    pub(super) fn allocate() -> NonNull<Self> {
        let shared = pool::alloc(Layout::new::<Self>()).cast::<Self>();
        let empty = Self {
            state: CellState::empty(),
            value: UnsafeCell::new(MaybeUninit::uninit()),
            waiter: UnsafeCell::new(MaybeUninit::uninit()),
        };
        // SAFETY: the block was just allocated with the layout of `PromiseCell<R>`.
        unsafe { shared.write(empty) };
        shared
    }

    /// Stores the value.
    ///
    /// # Safety
    /// The caller is the producer, and has not arrived.
    #[inline(always)]
    pub(super) unsafe fn put_value(&self, value: CellValue<R>) {
        // SAFETY: the producer owns the value's place until it has arrived.
        self.value.with_mut(|place| unsafe {
            (*place).write(value);
        });
    }

    /// Takes the value and frees the cell.
    ///
    /// # Safety
    /// The value is initialised, and the other end has left or has been handed to the caller.
    pub(super) unsafe fn take_over(mut this: NonNull<Self>) -> CellValue<R> {
        // SAFETY: the value is initialised and the caller owns both ends, so no access can follow;
        // `allocate` took the block with this layout.
        unsafe {
            this.as_mut().state.end();
            let value = this.as_ref().value.with(|value| (*value).assume_init_read());
            pool::dealloc(this.cast(), Layout::new::<Self>());
            value
        }
    }

    /// Stores a waiter.
    ///
    /// # Safety
    /// The caller is the consumer, and has withdrawn its waiter or has never offered one.
    pub(super) unsafe fn put_waiter(&self, waiter: CellWaiter<R>) {
        // SAFETY: the state is `Empty`, or has gone from there to `Ready`: the producer reads the
        // waiter only in `Waiting`, which only the consumer sets.
        self.waiter.with_mut(|place| unsafe {
            (*place).write(waiter);
        });
    }

    /// # Safety
    /// The waiter is initialised, the caller owns it, and it is taken once.
    pub(super) unsafe fn take_waiter(&self) -> CellWaiter<R> {
        // SAFETY: the caller owns the initialised waiter and takes it once.
        self.waiter.with(|waiter| unsafe { (*waiter).assume_init_read() })
    }
}

/// Drops a value that is not going to be read. It may own the next promise, with such a value, and
/// so on.
pub(super) fn drop_value<R>(value: CellValue<R>) {
    if needs_drop::<R>() {
        // SAFETY: the value of a promise is `'static`.
        unsafe { drop_depth::run_destructor(move || drop(value)) };
    }
}

//! A block that handles the value itself, instead of a cell with a consumer.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use coact_sync::pool;

use super::shared::CellValue;
use super::state::CellState;

/// What a producer without a consumer points to: the head of a block that handles the value. Like a
/// cell, it begins with the state.
#[repr(C)]
pub(crate) struct PromiseCallback<R> {
    /// That of a [calling](CellState::calling) block, always.
    state: CellState,
    /// Handles the value and frees the block, now or later.
    ///
    /// # Safety
    /// The value is initialised. The caller owns the block exclusively and must not use it
    /// afterwards.
    call: unsafe fn(NonNull<PromiseCallback<R>>),
    value: MaybeUninit<CellValue<R>>,
}

/// The block of a `calling` producer, with its closure.
#[repr(C)]
pub(super) struct ClosureCallback<R, F> {
    head: PromiseCallback<R>,
    closure: F,
}

impl<R> PromiseCallback<R> {
    /// Creates a head without a value.
    #[inline]
    pub(crate) fn new(call: unsafe fn(NonNull<PromiseCallback<R>>)) -> Self {
        Self { state: CellState::calling(), call, value: MaybeUninit::uninit() }
    }

    /// The state is not accessed from here on; a model checks that.
    ///
    /// # Safety
    /// The caller owns the block exclusively.
    #[inline]
    pub(crate) unsafe fn end(mut this: NonNull<Self>) {
        // SAFETY: the caller owns the block.
        unsafe { this.as_mut() }.state.end();
    }

    /// Has the value handled.
    ///
    /// # Safety
    /// The caller owns the block exclusively and must not use it afterwards.
    #[inline(always)]
    pub(super) unsafe fn call_with(this: NonNull<Self>, value: CellValue<R>) {
        // SAFETY: the caller owns the block, and the value is initialised before the call.
        unsafe {
            (*this.as_ptr()).value.write(value);
            ((*this.as_ptr()).call)(this);
        }
    }

    /// Moves the value out.
    ///
    /// # Safety
    /// The value is initialised, and taken once. The caller owns the block exclusively.
    #[inline(always)]
    pub(crate) unsafe fn take_value(this: NonNull<Self>) -> CellValue<R> {
        // SAFETY: the caller owns the block; the value is initialised, and taken once.
        unsafe { (*this.as_ptr()).value.assume_init_read() }
    }
}

impl<R, F: FnOnce(CellValue<R>)> ClosureCallback<R, F> {
    /// Creates a block that calls a closure with the value.
    pub(super) fn allocate(closure: F) -> NonNull<PromiseCallback<R>> {
        let block = pool::alloc(Layout::new::<Self>()).cast::<Self>();
        let head = PromiseCallback::new(Self::call);
        // SAFETY: the block was just allocated with the layout of `ClosureCallback`.
        unsafe { block.write(Self { head, closure }) };
        block.cast()
    }

    /// # Safety
    /// The block comes from [`allocate`](Self::allocate) with these types, and its value is
    /// initialised. The caller owns it exclusively and must not use it afterwards.
    unsafe fn call(head: NonNull<PromiseCallback<R>>) {
        // SAFETY: the caller owns the block, which `allocate` made with these types; the closure
        // and the value are moved out once, and the block freed with its own layout.
        let (closure, value) = unsafe {
            PromiseCallback::end(head);
            let block = head.cast::<Self>();
            let closure = (&raw const (*block.as_ptr()).closure).read();
            let value = PromiseCallback::take_value(head);
            pool::dealloc(block.cast(), Layout::new::<Self>());
            (closure, value)
        };
        closure(value);
    }
}

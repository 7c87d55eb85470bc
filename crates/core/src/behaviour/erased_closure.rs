//! Closures without their type, so that all behaviours on sets of one type share their code.
//!
//! Where [code is shared](crate::code_sharing), each closure is moved into a block of the pool, and
//! called through a pointer to a function. Reports name it as ever.

use std::alloc::Layout;
use std::any::type_name;
use std::marker::PhantomData;
use std::mem::forget;
use std::ptr::NonNull;

use coact_sync::pool;

use crate::body::{Completion, NamedCompletion};
use crate::cown::set::CownSet;

/// Calls the closure in a block with an access, or drops it, for none. It frees the block first.
///
/// # Safety
/// The block holds a closure of the function's type, and is not used again.
type TakeAndUse<S, V> =
    for<'a> unsafe fn(NonNull<u8>, Option<<S as CownSet>::Access<'a>>) -> Option<V>;

/// A closure whose type only `take_and_use` knows.
struct ErasedClosure<S: CownSet, V> {
    block: NonNull<u8>,
    take_and_use: TakeAndUse<S, V>,
}

// SAFETY: it is made of a closure that is `Send`.
unsafe impl<S: CownSet, V> Send for ErasedClosure<S, V> {}

impl<S: CownSet, V> ErasedClosure<S, V> {
    fn call(self, access: S::Access<'_>) -> V {
        let Self { block, take_and_use } = self;
        forget(self);
        // SAFETY: the block has a closure of that type, and `self` is forgotten.
        unsafe { take_and_use(block, Some(access)) }.expect("an access was passed")
    }
}

impl<S: CownSet, V> Drop for ErasedClosure<S, V> {
    fn drop(&mut self) {
        // SAFETY: the block has a closure of that type, and `self` is not used again.
        unsafe { (self.take_and_use)(self.block, None) };
    }
}

/// The way back to a closure's type.
pub(super) struct ErasedType<F> {
    block: NonNull<u8>,
    of: PhantomData<fn() -> F>,
}

impl<F> ErasedType<F> {
    /// Returns the closure with its type.
    ///
    /// # Safety
    /// The closure was [erased](erase) together with this.
    pub(super) unsafe fn restore<G>(self, erased: G) -> F {
        forget(erased);
        // SAFETY: the erased closure has not been called or dropped, so the block holds the
        // original.
        unsafe { take_from(self.block) }
    }
}

/// Returns a closure that calls `closure`, and has the same type for all on such a set. What the
/// closure borrows from must outlive it, which no type says any more: as for what is in a node.
pub(super) fn erase<S, F, V>(
    closure: F,
) -> (impl for<'a> FnOnce(S::Access<'a>) -> V + Send, ErasedType<F>)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> V + Send,
{
    let block = pool::alloc(Layout::new::<F>());
    // SAFETY: the block was just allocated for a closure of this type.
    unsafe { block.cast::<F>().write(closure) };
    let erased = ErasedClosure::<S, V> { block, take_and_use: take_and_use::<S, F, V> };
    (calling(erased), ErasedType { block, of: PhantomData })
}

/// Gives a completion the name of a closure of type `F`, unless it has a name.
pub(super) fn renamed<F, C: Completion>(completion: C) -> NamedCompletion<C> {
    let name = completion.name().unwrap_or(type_name::<F>);
    NamedCompletion { completion, name }
}

/// Apart from [`erase`], so that the result does not depend on the closure's type.
fn calling<S: CownSet, V>(
    erased: ErasedClosure<S, V>,
) -> impl for<'a> FnOnce(S::Access<'a>) -> V + Send {
    move |access| erased.call(access)
}

/// # Safety
/// See [`TakeAndUse`].
unsafe fn take_and_use<S, F, V>(block: NonNull<u8>, access: Option<S::Access<'_>>) -> Option<V>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> V,
{
    // SAFETY: the block holds a closure of this type, and is not used again.
    let closure = unsafe { take_from::<F>(block) };
    access.map(closure)
}

/// Moves a value out of its block, and frees that.
///
/// # Safety
/// The block was allocated for a value of this type, holds one, and is not used again.
unsafe fn take_from<T>(block: NonNull<u8>) -> T {
    // SAFETY: the block holds a value of this type, which leaves it, and was allocated with its
    // layout.
    unsafe {
        let value = block.cast::<T>().read();
        pool::dealloc(block, Layout::new::<T>());
        value
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

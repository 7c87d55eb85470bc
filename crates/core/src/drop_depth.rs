//! Limits the nesting of destructors on one stack. A cown's state may own the last handle of
//! another cown, and so on, a hundred thousand times over; the same goes for the shared state of an
//! interruptible cown, the value of a promise, and the closure that a resolver calls.
//!
//! Up to [`MAX_NESTED`] of these are dropped inside each other, as with `Box`. Deeper ones are
//! deferred: the outermost drops them in a loop, or the thread does before it blocks, possibly for
//! one of them.

use std::alloc::Layout;
use std::any::type_name;
use std::cell::Cell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};

use coact_sync::current_stack;
use coact_sync::pool;
use coact_sync::shim::atomic::{AtomicEnd, AtomicPtr, Ordering};

use crate::current::nested_bodies;
use crate::panic::drop_quietly;
use crate::runtime_ids::RuntimeId;
use crate::task::{RunContext, RunMode, Task, TaskPtr, TaskVTable, run_task};

/// The most destructors nested on one stack.
const MAX_NESTED: u32 = 32;

thread_local! {
    // These have no destructors, so that the destructors of other thread-locals can use them.
    static NESTED: Cell<u32> = const { Cell::new(0) };
    /// The newest deferred task; each one links to the one before it.
    static ASIDE: Cell<*mut ()> = const { Cell::new(null_mut()) };
}

/// A destructor of foreign code that is running on this stack.
pub(crate) struct DestructorGuard(());

impl DestructorGuard {
    /// Returns `None` at the limit: then the caller must defer its work with [`put_aside`].
    #[inline]
    pub(crate) fn enter() -> Option<Self> {
        let nested = NESTED.get();
        (nested < MAX_NESTED).then(|| {
            NESTED.set(nested + 1);
            Self(())
        })
    }
}

/// Counts the calls still running on this thread's stacks that have changed its thread-local state:
/// it is larger inside of a body, of a destructor that the runtime runs, and where the stack is
/// [pinned](coact_sync::current_stack::StackPin).
#[inline(always)]
pub fn stack_depth() -> u32 {
    nested_bodies().wrapping_add(current_stack::pins()).wrapping_add(NESTED.get())
}

/// Runs the destructors deferred on this thread.
pub(crate) fn catch_up() {
    if !ASIDE.get().is_null() {
        // On top of the current stack, as if that were the outermost destructor.
        let nested = NESTED.replace(1);
        finish();
        NESTED.set(nested);
    }
}

impl Drop for DestructorGuard {
    #[inline]
    fn drop(&mut self) {
        if NESTED.get() == 1 {
            catch_up();
        }
        NESTED.set(NESTED.get() - 1);
    }
}

/// The nesting and the deferred tasks of a simulated thread.
#[cfg(feature = "sim")]
pub(crate) struct DestructorStack {
    nested: u32,
    aside: *mut (),
}

#[cfg(feature = "sim")]
impl Default for DestructorStack {
    fn default() -> Self {
        Self { nested: 0, aside: null_mut() }
    }
}

#[cfg(feature = "sim")]
impl DestructorStack {
    /// Installs these on the current thread, and returns the previous ones.
    pub(crate) fn swap_in(self) -> Self {
        Self { nested: NESTED.replace(self.nested), aside: ASIDE.replace(self.aside) }
    }
}

/// Defers a task that drops a state to the outermost destructor on this stack.
///
/// # Safety
/// The task is ready and the caller owns it, and [`DestructorGuard::enter`] has just returned
/// `None`.
#[cold]
pub(crate) unsafe fn put_aside(task: TaskPtr) {
    // SAFETY: a ready task is live, and its owner may use the link until it runs.
    let link = unsafe { (task.as_ref().vtable.link)(task).as_ref() };
    // ORDERING: Relaxed, here and in `finish`: the list never leaves the thread.
    link.store(ASIDE.replace(task.as_ptr().cast()), Ordering::Relaxed);
}

/// Runs a destructor: now, or at the limit of nesting later, by the outermost destructor on this
/// stack. In the second case a panic in it does not propagate.
///
/// # Safety
/// The captures stay valid until the destructor runs: they are `'static`. (As a bound, this would
/// have to hold for the types whose destructor this is, which would cost some futures their
/// `Send`.)
#[inline]
pub(crate) unsafe fn run_destructor(destructor: impl FnOnce()) {
    match DestructorGuard::enter() {
        Some(_depth) => destructor(),
        // SAFETY: the task was just allocated and is owned here, and `enter` has just returned
        // `None`; its captures stay valid, as the caller promises.
        None => unsafe { put_aside(DeferredDrop::allocate(destructor)) },
    }
}

/// A value that may own another such value, nested to any depth, without its drop overflowing the
/// stack. For the layers above; cowns, promises and spawned closures do not need it.
///
/// Up to a few dozen are dropped inside each other, as usual. The outermost drops deeper ones
/// afterwards, and a panic in their destructors does not propagate.
///
/// ```
/// # use coact_core as coact;
/// use coact::cown::Deep;
///
/// struct Link(Option<Deep<Box<Link>>>);
///
/// let mut chain = Link(None);
/// for _ in 0..300_000 {
///     chain = Link(Some(Deep::new(Box::new(chain))));
/// }
/// drop(chain);
/// ```
pub struct Deep<T: 'static>(ManuallyDrop<T>);

impl<T: 'static> Deep<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }
}

impl<T: 'static> Drop for Deep<T> {
    fn drop(&mut self) {
        // SAFETY: the value is taken once, here, and not used afterwards.
        let value = unsafe { ManuallyDrop::take(&mut self.0) };
        // SAFETY: the closure captures a `T`, which is `'static`.
        unsafe { run_destructor(move || drop(value)) };
    }
}

impl<T: 'static> Deref for Deep<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: 'static> DerefMut for Deep<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Default + 'static> Default for Deep<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug + 'static> fmt::Debug for Deep<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A deferred destructor.
#[repr(C)]
struct DeferredDrop<F> {
    task: Task,
    link: AtomicPtr<()>,
    destructor: ManuallyDrop<F>,
}

impl<F: FnOnce()> DeferredDrop<F> {
    const VTABLE: TaskVTable = TaskVTable::new(Self::run, Self::link, type_name::<F>);

    #[cold]
    fn allocate(destructor: F) -> TaskPtr {
        let block = pool::alloc(Layout::new::<Self>()).cast::<Self>();
        let task = Task { vtable: &Self::VTABLE };
        let link = AtomicPtr::new(null_mut());
        // SAFETY: the block was just allocated with the layout of `Self`.
        unsafe { block.write(Self { task, link, destructor: ManuallyDrop::new(destructor) }) };
        block.cast()
    }

    /// # Safety
    /// See [`TaskVTable::run`]; the task comes from `allocate` with this type.
    unsafe fn run(task: TaskPtr, _: &RunContext) -> Option<TaskPtr> {
        let mut block = task.cast::<Self>();
        // SAFETY: the block is owned by this call, since the task runs once; the destructor is
        // moved out once, and the block freed with its own layout.
        let destructor = unsafe {
            block.as_mut().link.end();
            let destructor = ManuallyDrop::take(&mut block.as_mut().destructor);
            pool::dealloc(block.cast(), Layout::new::<Self>());
            destructor
        };
        drop_quietly(destructor);
        None
    }

    /// # Safety
    /// See [`TaskVTable::link`]; the task comes from `allocate` with this type.
    unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
        // SAFETY: the task is ready, so its block is live, and it begins as `Self`.
        NonNull::from(unsafe { &task.cast::<Self>().as_ref().link })
    }
}

/// Runs the deferred destructors, including those deferred meanwhile. The caller counts as nested,
/// so none of them does the same.
#[cold]
fn finish() {
    let context = RunContext::new(RuntimeId::NONE, RunMode::Run);
    while let Some(task) = NonNull::new(ASIDE.get()) {
        let task: TaskPtr = task.cast();
        // SAFETY: a task on the list is ready, owned by this thread and has a valid link; it leaves
        // the list before it runs, so it runs once.
        unsafe {
            let link = (task.as_ref().vtable.link)(task).as_ref();
            ASIDE.set(link.load(Ordering::Relaxed));
            run_task(task, &context);
        }
    }
}

//! How deep destructors lie on one stack: a cown's state may own the last handle of another cown, and
//! that of the next, a hundred thousand times over; so may the shared state of an interruptible cown, the
//! value of a promise, and the closure that a resolver calls.
//!
//! Up to [`MAX_NESTED`] of these are dropped inside of each other, as with `Box`. What lies deeper is
//! put aside, and dropped by the outermost of them in a loop; or before the thread blocks, which may be for just that.

use std::alloc::Layout;
use std::any::type_name;
use std::cell::Cell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};

use coact_sync::pool;
use coact_sync::shim::atomic::{AtomicPtr, End, Ordering};

use crate::ids::RuntimeId;
use crate::panic::drop_quietly;
use crate::task::{Mode, RunContext, Task, TaskPtr, TaskVTable, run_task};

/// How many destructors may lie on top of each other on one stack.
const MAX_NESTED: u32 = 32;

thread_local! {
    // Without destructors of their own, so that the states of other thread-locals can use them.
    static NESTED: Cell<u32> = const { Cell::new(0) };
    /// The newest task that was put aside; each links to the one before it.
    static ASIDE: Cell<*mut ()> = const { Cell::new(null_mut()) };
}

/// One destructor of foreign code that runs on this stack.
pub(crate) struct Depth(());

impl Depth {
    /// `None` if the stack is deep enough: the caller has to [`put_aside`] what it wanted to do.
    #[inline]
    pub(crate) fn enter() -> Option<Self> {
        let nested = NESTED.get();
        (nested < MAX_NESTED).then(|| {
            NESTED.set(nested + 1);
            Self(())
        })
    }
}

/// Runs the destructors that were put aside on this thread.
pub(crate) fn catch_up() {
    if !ASIDE.get().is_null() {
        // On top of what is on the stack, as if that were the outermost one.
        let nested = NESTED.replace(1);
        finish();
        NESTED.set(nested);
    }
}

impl Drop for Depth {
    #[inline]
    fn drop(&mut self) {
        if NESTED.get() == 1 {
            catch_up();
        }
        NESTED.set(NESTED.get() - 1);
    }
}

/// The destructors that run on the stack of a simulated thread, and what was put aside for them.
#[cfg(feature = "sim")]
pub(crate) struct Destructors {
    nested: u32,
    aside: *mut (),
}

#[cfg(feature = "sim")]
impl Default for Destructors {
    fn default() -> Self {
        Self { nested: 0, aside: null_mut() }
    }
}

#[cfg(feature = "sim")]
impl Destructors {
    /// Makes these the current thread's, and returns those it had.
    pub(crate) fn swap_in(self) -> Self {
        Self { nested: NESTED.replace(self.nested), aside: ASIDE.replace(self.aside) }
    }
}

/// Leaves a task that drops a state to the outermost destructor on this stack.
///
/// # Safety
/// The task is ready and the caller's to give away, and [`Depth::enter`] has just refused.
#[cold]
pub(crate) unsafe fn put_aside(task: TaskPtr) {
    // SAFETY: a ready task is live, and its link is ours until it runs.
    let link = unsafe { (task.as_ref().vtable.link)(task).as_ref() };
    // ORDERING: Relaxed, here and in `finish`: the list never leaves the thread.
    link.store(ASIDE.replace(task.as_ptr().cast()), Ordering::Relaxed);
}

/// Runs a destructor: now, or, if the stack is deep enough, by the outermost of those on it. Then a panic
/// in it goes no further.
///
/// # Safety
/// What it captures lives until then: it is `'static`. (As a bound that would have to be one of the types
/// whose destructor this is, which takes their `Send` from some futures.)
#[inline]
pub(crate) unsafe fn run_destructor(destructor: impl FnOnce()) {
    match Depth::enter() {
        Some(_depth) => destructor(),
        // SAFETY: the task is ours, and was refused just now; what it captures lives, by the caller's word.
        None => unsafe { put_aside(Aside::allocate(destructor)) },
    }
}

/// A value that may own another such value, and that one another, as often as there is memory: dropping the outermost
/// does not fill the stack. For layers above this one; cowns, promises and what is spawned need none.
///
/// Up to a few dozen are dropped inside of each other, as ever. What lies deeper is dropped after that, by the outermost;
/// then a panic in a destructor goes no further.
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
        // SAFETY: taken out once, here.
        let value = unsafe { ManuallyDrop::take(&mut self.0) };
        // SAFETY: it is `'static`.
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

/// A destructor that was put aside.
#[repr(C)]
struct Aside<F> {
    task: Task,
    link: AtomicPtr<()>,
    destructor: ManuallyDrop<F>,
}

impl<F: FnOnce()> Aside<F> {
    const VTABLE: TaskVTable = TaskVTable::new(Self::run, Self::link, type_name::<F>);

    #[cold]
    fn allocate(destructor: F) -> TaskPtr {
        let block = pool::alloc(Layout::new::<Self>()).cast::<Self>();
        let task = Task { vtable: &Self::VTABLE };
        let link = AtomicPtr::new(null_mut());
        // SAFETY: the block is fresh and has the layout.
        unsafe { block.write(Self { task, link, destructor: ManuallyDrop::new(destructor) }) };
        block.cast()
    }

    /// # Safety
    /// As for every [`TaskVTable::run`]; the task is one of `allocate`'s with this type.
    unsafe fn run(task: TaskPtr, _: &RunContext) -> Option<TaskPtr> {
        let mut block = task.cast::<Self>();
        // SAFETY: the block is ours alone; the destructor is taken out once, and the block freed.
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
    /// As for every [`TaskVTable::link`]; the task is one of `allocate`'s with this type.
    unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
        // SAFETY: by the caller's word.
        NonNull::from(unsafe { &task.cast::<Self>().as_ref().link })
    }
}

/// Runs what was put aside, and what is put aside meanwhile. The caller counts as nested, so that
/// none of it does the same.
#[cold]
fn finish() {
    let context = RunContext::new(RuntimeId::NONE, Mode::Run);
    while let Some(task) = NonNull::new(ASIDE.get()) {
        let task: TaskPtr = task.cast();
        // SAFETY: on the list, so ready and ours, with its link; it is taken off before it runs.
        unsafe {
            let link = (task.as_ref().vtable.link)(task).as_ref();
            ASIDE.set(link.load(Ordering::Relaxed));
            run_task(task, &context);
        }
    }
}

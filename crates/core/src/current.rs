//! What the current thread is to the runtimes: what it has entered, what it runs, and for whom.

pub(crate) mod default_runtime;
mod thread_extensions;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ptr::{NonNull, null};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(feature = "sim")]
pub(crate) use thread_extensions::end;
pub(crate) use thread_extensions::find_extension;
pub use thread_extensions::thread_extension;

use crate::ids::RuntimeId;
use crate::simulated;

thread_local! {
    static WORKER: Cell<*const dyn AnyWorker> = const { Cell::new(null::<NoWorker>()) };
    static ENTERED: Cell<RuntimeId> = const { Cell::new(RuntimeId::NONE) };
    static BODIES: Cell<u32> = const { Cell::new(0) };
    static SERVES: Cell<RuntimeId> = const { Cell::new(RuntimeId::NONE) };
    static THREAD: Cell<u64> = const { Cell::new(0) };
    static CANCELLING: Cell<bool> = const { Cell::new(false) };
    static PRINCIPAL: RefCell<Option<Principal>> = const { RefCell::new(None) };
    static SCOPED: Cell<Option<Scoped>> = const { Cell::new(None) };
}

/// What [`with_scoped`] was given, as long as that runs.
type Scoped = NonNull<dyn Any>;

/// Does something, for the time of which [`scoped`] shows this value on this thread: for layers above, in the place of a
/// thread-local variable, which simulated threads would share. One within another hides that. No cost but that of two
/// stores, and none of it fails in the destructor of a thread-local variable.
pub fn with_scoped<R>(value: &(dyn Any + 'static), work: impl FnOnce() -> R) -> R {
    struct Leave(Option<Scoped>);
    impl Drop for Leave {
        fn drop(&mut self) {
            SCOPED.set(self.0);
        }
    }
    let _leave = Leave(SCOPED.replace(Some(NonNull::from(value))));
    work()
}

/// Looks at the value of the innermost [`with_scoped`] that runs on this thread, if there is one.
pub fn scoped<R>(look: impl FnOnce(Option<&dyn Any>) -> R) -> R {
    // SAFETY: its `with_scoped`, which borrows the value, is still running: on this very stack, below this call.
    look(SCOPED.get().map(|value| unsafe { value.as_ref() }))
}

/// On whose behalf something runs; known to a layer above.
pub type Principal = Arc<dyn Any + Send + Sync>;

/// Does something on behalf of somebody, whom [`principal`] then tells: for layers above, in the
/// place of a thread-local variable, which simulated threads would share.
///
/// In the destructor of a thread-local variable there is nobody any more: the work is done all the same, and
/// [`principal`] tells none.
pub fn on_behalf_of<R>(principal: &Principal, work: impl FnOnce() -> R) -> R {
    struct Leave(Option<Principal>);
    impl Drop for Leave {
        fn drop(&mut self) {
            drop(swap_principal(self.0.take()));
        }
    }
    let _leave = Leave(swap_principal(Some(Arc::clone(principal))));
    work()
}

/// Sets the principal, and returns the one before. On a thread that is about to end neither has a place.
fn swap_principal(principal: Option<Principal>) -> Option<Principal> {
    let mut place = Some(principal);
    PRINCIPAL.try_with(|kept| kept.replace(place.take().flatten())).ok().flatten()
}

/// On whose behalf the caller runs: see [`on_behalf_of`].
#[inline]
pub fn principal() -> Option<Principal> {
    PRINCIPAL.try_with(|kept| kept.borrow().clone()).ok().flatten()
}

/// A number for the current thread that no other one ever has. It can be had in destructors of
/// thread-locals, too.
pub(crate) fn number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    if THREAD.get() == 0 {
        // ORDERING: Relaxed. Only distinct.
        THREAD.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    }
    THREAD.get()
}

/// What the layers below the scheduler know of the worker that a thread is.
pub(crate) trait AnyWorker {
    /// Its runtime.
    fn home(&self) -> RuntimeId;

    /// A number that is another one with each task it takes.
    fn ticks(&self) -> u32;
}

enum NoWorker {}

impl AnyWorker for NoWorker {
    fn home(&self) -> RuntimeId {
        match *self {}
    }

    fn ticks(&self) -> u32 {
        match *self {}
    }
}

/// The worker that this thread is, or null. Who has made it that knows its type.
#[inline]
pub(crate) fn worker_ptr() -> *const dyn AnyWorker {
    WORKER.get()
}

/// The same for those who need not know more.
pub(crate) fn worker<'a>() -> Option<&'a dyn AnyWorker> {
    // SAFETY: set by `AsWorker` for the time that the worker lives, on its own thread; the references that are made from it
    // do not outlive the task in which they are made.
    unsafe { WORKER.get().as_ref() }
}

/// The time for which the thread is a worker, or none, for another runtime than that whose worker it is.
pub(crate) struct AsWorker(*const dyn AnyWorker);

impl AsWorker {
    /// Makes the thread the worker.
    ///
    /// # Safety
    /// The worker lives until this is dropped, and is a `sched::worker::Worker`.
    #[inline]
    pub(crate) unsafe fn new(worker: *const (impl AnyWorker + 'static)) -> Self {
        Self(WORKER.replace(worker))
    }

    /// Makes the thread no worker.
    #[inline]
    pub(crate) fn none() -> Self {
        Self(WORKER.replace(null::<NoWorker>()))
    }
}

impl Drop for AsWorker {
    #[inline]
    fn drop(&mut self) {
        WORKER.set(self.0);
    }
}

/// The runtime that this thread has entered, without being a worker.
pub(crate) fn entered() -> RuntimeId {
    ENTERED.get()
}

/// Enters a runtime; returns the one that was entered before.
pub(crate) fn enter(runtime: RuntimeId) -> RuntimeId {
    ENTERED.replace(runtime)
}

/// The runtime whose blocking work this thread does: it may wait, but not for the end of that work.
pub(crate) fn serves() -> RuntimeId {
    SERVES.get()
}

/// Whether the thread may wait until a runtime has ended.
pub(crate) fn may_wait_for(runtime: RuntimeId) -> bool {
    !is_inside() && serves() != runtime
}

/// The time for which a thread does blocking work of a runtime, which it has entered.
pub(crate) struct Serving {
    before: RuntimeId,
    _entered: Entered,
}

impl Serving {
    pub(crate) fn new(runtime: RuntimeId) -> Self {
        Self { before: SERVES.replace(runtime), _entered: Entered::new(runtime) }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        SERVES.set(self.before);
    }
}

/// The time for which a thread that serves a runtime has entered it.
pub(crate) struct Entered(RuntimeId);

impl Entered {
    pub(crate) fn new(runtime: RuntimeId) -> Self {
        Self(enter(runtime))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        enter(self.0);
    }
}

/// Whether the thread may not be blocked: it runs a behaviour, a future, or is a worker.
pub(crate) fn is_inside() -> bool {
    !WORKER.get().is_null() || BODIES.get() > 0 || simulated::is_inside()
}

/// The thread drops work of a runtime that is past its deadline, until this is dropped.
pub(crate) struct Cancelling(bool);

impl Cancelling {
    pub(crate) fn enter() -> Self {
        Self(CANCELLING.replace(true))
    }
}

impl Drop for Cancelling {
    fn drop(&mut self) {
        CANCELLING.set(self.0);
    }
}

/// Whether the thread drops work of a runtime that is past its deadline.
pub(crate) fn is_cancelling() -> bool {
    CANCELLING.get()
}

/// The runtime that what the thread makes now belongs to, unless that would have to be started first.
pub(crate) fn running() -> Option<RuntimeId> {
    match (worker(), entered()) {
        (Some(worker), _) => Some(worker.home()),
        (None, RuntimeId::NONE) => default_runtime::running(),
        (None, entered) => Some(entered),
    }
}

/// Whether the calling thread may be blocked: whether it runs no behaviour, no handler and no
/// future, and is no worker.
pub fn may_block() -> bool {
    !is_inside()
}

/// How many bodies run on this thread's stack through `when_here`.
pub(crate) fn nested_bodies() -> u32 {
    BODIES.get()
}

/// Counts one more body on this thread's stack until it is dropped.
pub(crate) struct Nested(());

impl Nested {
    #[inline]
    pub(crate) fn enter() -> Self {
        BODIES.set(BODIES.get() + 1);
        Self(())
    }
}

impl Drop for Nested {
    #[inline]
    fn drop(&mut self) {
        BODIES.set(BODIES.get() - 1);
    }
}

/// Does something as if no body ran on this thread's stack.
pub(crate) fn unnested<R>(work: impl FnOnce() -> R) -> R {
    let nested = BODIES.replace(0);
    let result = work();
    BODIES.set(nested);
    result
}

/// Does something as if nothing else ran on this thread's stack: what that is done for, and on whose behalf, is no
/// concern of it.
pub(crate) fn alone<R>(work: impl FnOnce() -> R) -> R {
    let scoped = SCOPED.replace(None);
    let (serves, cancelling) = (SERVES.replace(RuntimeId::NONE), CANCELLING.replace(false));
    let principal = swap_principal(None);
    let result = unnested(work);
    drop(swap_principal(principal));
    SERVES.set(serves);
    CANCELLING.set(cancelling);
    SCOPED.set(scoped);
    result
}

/// What this module knows of a thread that is simulated by a fiber; by default, of one that has done nothing yet.
#[cfg(feature = "sim")]
#[derive(Default)]
pub(crate) struct Snapshot {
    entered: RuntimeId,
    serves: RuntimeId,
    bodies: u32,
    thread: u64,
    cancelling: bool,
    extensions: thread_extensions::ThreadExtensions,
    principal: Option<Principal>,
    scoped: Option<Scoped>,
}

#[cfg(feature = "sim")]
impl Snapshot {
    /// Makes this what the current thread is, and returns what it was.
    pub(crate) fn swap_in(self) -> Self {
        Self {
            entered: ENTERED.replace(self.entered),
            serves: SERVES.replace(self.serves),
            bodies: BODIES.replace(self.bodies),
            thread: THREAD.replace(self.thread),
            cancelling: CANCELLING.replace(self.cancelling),
            extensions: thread_extensions::swap(self.extensions),
            principal: PRINCIPAL.replace(self.principal.clone()),
            scoped: SCOPED.replace(self.scoped),
        }
    }
}

/// Makes a simulated thread take the part of another one.
#[cfg(feature = "sim")]
pub(crate) fn act_as(thread: u64) {
    THREAD.set(thread);
}

//! The current thread's relation to the runtimes: what it has entered, what it runs, on whose
//! behalf.

pub(crate) mod default_runtime;
mod scope_list;
mod stack_place;
mod thread_extensions;

use std::any::Any;
use std::cell::Cell;
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_sync::current_stack::StackPin;

use scope_list::{ScopeList, innermost, lend};
use stack_place::BODIES;
pub use stack_place::StackPlace;
#[cfg(feature = "sim")]
pub(crate) use thread_extensions::end;
pub(crate) use thread_extensions::find_extension;
pub use thread_extensions::thread_extension;

use crate::runtime_ids::RuntimeId;
use crate::simulated;

// What is set here for the time of a call is not to be seen by others, and must not outlast the
// call. There are three kinds:
// * What is lent is in a `ScopeList` of the stack on which it is.
// * What describes the thread (all guards with a `StackPin`) keeps a fiber from being suspended.
// * `BODIES` counts those of one stack; who switches to another one begins anew (`on_other_stack`).
thread_local! {
    static WORKER: Cell<*const dyn AnyWorker> = const { Cell::new(null::<NoWorker>()) };
    static ENTERED: Cell<RuntimeId> = const { Cell::new(RuntimeId::NONE) };
    static SERVES: Cell<RuntimeId> = const { Cell::new(RuntimeId::NONE) };
    static THREAD: Cell<u64> = const { Cell::new(0) };
    static CANCELLING: Cell<Option<StackPlace>> = const { Cell::new(None) };
    /// How many calls of `on_behalf_of` are running on all stacks of the thread. Mostly none, and
    /// there is no list to be looked at.
    static PRINCIPALS: Cell<usize> = const { Cell::new(0) };
}

#[cfg(any(debug_assertions, feature = "sim"))]
thread_local! {
    /// Whether the thread runs a [decision](deciding).
    static DECIDES: Cell<bool> = const { Cell::new(false) };
}

#[cfg(feature = "sim")]
thread_local! {
    static WAITS_IDLY: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, during which [`scoped`] returns `value` on this stack. For the layers above, in
/// place of a thread-local variable, which fibers and simulated threads would share. A nested call
/// hides the outer value; bodies that `work` calls inline see none. Costs a few stores, and works
/// in the destructor of a thread-local variable.
pub fn with_scoped<R>(value: &(dyn Any + 'static), work: impl FnOnce() -> R) -> R {
    lend(ScopeList::Values, Some(value), work)
}

/// Passes `look` the value of the innermost [`with_scoped`] that is running on this stack, if any.
pub fn scoped<R>(look: impl FnOnce(Option<&dyn Any>) -> R) -> R {
    // SAFETY: the `with_scoped` that lends it borrows the value and is still running, below this
    // call on this very stack.
    look(innermost(ScopeList::Values).map(|value| unsafe { value.as_ref() }))
}

/// On whose behalf code runs; the layer above defines what it is.
pub type Principal = Arc<dyn Any + Send + Sync>;

/// Runs `work` on behalf of `principal`, which [`principal`] then returns. For the layers above, in
/// place of a thread-local variable, which fibers and simulated threads would share. What `work`
/// calls inline runs on behalf of no one.
pub fn on_behalf_of<R>(principal: &Principal, work: impl FnOnce() -> R) -> R {
    struct CountDown;
    impl Drop for CountDown {
        fn drop(&mut self) {
            PRINCIPALS.set(PRINCIPALS.get() - 1);
        }
    }
    PRINCIPALS.set(PRINCIPALS.get() + 1);
    let _count = CountDown;
    lend(ScopeList::Principals, Some(principal), work)
}

/// Returns on whose behalf the caller runs; see [`on_behalf_of`].
#[inline]
pub fn principal() -> Option<Principal> {
    if PRINCIPALS.get() == 0 {
        return None;
    }
    innermost_principal()
}

#[inline(never)]
fn innermost_principal() -> Option<Principal> {
    let principal = innermost(ScopeList::Principals)?;
    // SAFETY: the `on_behalf_of` that lends it borrows the principal and is still running, below
    // this call on this very stack.
    unsafe { principal.as_ref() }.downcast_ref().cloned()
}

/// Returns a number for the current thread that no other thread ever has. Works in destructors of
/// thread-locals as well.
pub(crate) fn number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    if THREAD.get() == 0 {
        // ORDERING: Relaxed. The numbers only have to be distinct.
        THREAD.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    }
    THREAD.get()
}

/// Returns whether this is the current thread's [number], for the number of any thread.
#[inline]
pub(crate) fn is_number(number: u64) -> bool {
    THREAD.get() == number
}

/// The part of a worker that the layers below the scheduler know.
pub(crate) trait AnyWorker {
    /// The worker's runtime.
    fn home(&self) -> RuntimeId;

    /// A number that changes with each task the worker takes.
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

/// The worker that this thread is, or null. The code that set it knows the concrete type.
#[inline]
pub(crate) fn worker_ptr() -> *const dyn AnyWorker {
    WORKER.get()
}

/// The same as a reference, for callers that need no more than the trait.
pub(crate) fn worker<'a>() -> Option<&'a dyn AnyWorker> {
    // SAFETY: `AsWorker` sets the pointer while the worker lives, on the worker's own thread;
    // references made from it do not outlive the task that makes them.
    unsafe { WORKER.get().as_ref() }
}

/// Makes the thread a worker until dropped; or none, for a runtime other than that of its worker.
pub(crate) struct AsWorker(*const dyn AnyWorker);

impl AsWorker {
    /// Makes the thread this worker.
    ///
    /// # Safety
    /// The worker outlives the returned guard, and is a `sched::worker::Worker`.
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

/// Returns the runtime that this thread has entered, without being a worker.
pub(crate) fn entered() -> RuntimeId {
    ENTERED.get()
}

/// Enters a runtime; returns the one entered before.
pub(crate) fn enter(runtime: RuntimeId) -> RuntimeId {
    ENTERED.replace(runtime)
}

/// Returns the runtime whose blocking work this thread does. Such a thread may block, but must not
/// wait for the end of that work.
pub(crate) fn serves() -> RuntimeId {
    SERVES.get()
}

/// Returns whether the thread may wait until a runtime has ended.
pub(crate) fn may_wait_for(runtime: RuntimeId) -> bool {
    !is_inside() && serves() != runtime
}

/// Marks the thread as doing blocking work of a runtime, which it enters, until dropped.
pub(crate) struct BlockingMark {
    before: RuntimeId,
    _entered: EnteredRuntime,
    _pinned: StackPin,
}

impl BlockingMark {
    pub(crate) fn new(runtime: RuntimeId) -> Self {
        let before = SERVES.replace(runtime);
        Self { before, _entered: EnteredRuntime::new(runtime), _pinned: StackPin::new() }
    }
}

impl Drop for BlockingMark {
    fn drop(&mut self) {
        SERVES.set(self.before);
    }
}

/// Enters a runtime on a thread that serves it, until dropped.
pub(crate) struct EnteredRuntime(RuntimeId);

impl EnteredRuntime {
    pub(crate) fn new(runtime: RuntimeId) -> Self {
        Self(enter(runtime))
    }
}

impl Drop for EnteredRuntime {
    fn drop(&mut self) {
        enter(self.0);
    }
}

/// Returns whether the thread must not be blocked: it runs a behaviour or a future, or is a worker.
pub(crate) fn is_inside() -> bool {
    !WORKER.get().is_null() || BODIES.get() > 0 || simulated::is_inside()
}

/// Marks the thread as dropping work of a runtime past its deadline, until this is dropped. Bodies
/// that are called inline meanwhile are none of that work.
pub(crate) struct CancelMark {
    before: Option<StackPlace>,
    _pinned: StackPin,
}

impl CancelMark {
    pub(crate) fn enter() -> Self {
        let before = CANCELLING.replace(Some(StackPlace::current()));
        Self { before, _pinned: StackPin::new() }
    }
}

impl Drop for CancelMark {
    fn drop(&mut self) {
        CANCELLING.set(self.before);
    }
}

/// Returns whether the caller drops work of a runtime past its deadline.
pub(crate) fn is_cancelling() -> bool {
    CANCELLING.get() == Some(StackPlace::current())
}

/// Returns the runtime that objects created by this thread belong to, unless it would first have to
/// be started.
pub(crate) fn running() -> Option<RuntimeId> {
    match (worker(), entered()) {
        (Some(worker), _) => Some(worker.home()),
        (None, RuntimeId::NONE) => default_runtime::running(),
        (None, entered) => Some(entered),
    }
}

/// Returns whether the calling thread may be blocked: it runs no behaviour, no handler and no
/// future, and is no worker.
pub fn may_block() -> bool {
    !is_inside()
}

/// Returns the number of bodies nested on this thread's stack through `when_here`.
#[inline]
pub(crate) fn nested_bodies() -> u32 {
    BODIES.get()
}

/// Counts one more body on this thread's stack, until dropped.
pub(crate) struct NestedBody(());

impl NestedBody {
    #[inline]
    pub(crate) fn enter() -> Self {
        BODIES.set(BODIES.get() + 1);
        Self(())
    }
}

impl Drop for NestedBody {
    #[inline]
    fn drop(&mut self) {
        BODIES.set(BODIES.get() - 1);
    }
}

/// Sets the number of bodies to what it was, when dropped.
struct RestoreBodies(u32);

impl RestoreBodies {
    fn none() -> Self {
        Self(BODIES.replace(0))
    }
}

impl Drop for RestoreBodies {
    #[inline]
    fn drop(&mut self) {
        BODIES.set(self.0);
    }
}

/// Runs `work`, which goes to another stack: the bodies on this one are none of that stack's.
#[inline(always)]
pub fn on_other_stack<R>(work: impl FnOnce() -> R) -> R {
    let _restore = RestoreBodies::none();
    work()
}

/// Runs `work` as a body: it must not block.
pub fn as_body<R>(work: impl FnOnce() -> R) -> R {
    let _nested = NestedBody::enter();
    work()
}

/// While a thread waits that stands for the stack of an actor: it may block, though it runs a body,
/// and a simulated program may end meanwhile.
pub struct IdleWait {
    _bodies: RestoreBodies,
}

impl IdleWait {
    /// Begins such a wait.
    #[must_use]
    pub fn begin() -> Self {
        #[cfg(feature = "sim")]
        WAITS_IDLY.set(true);
        Self { _bodies: RestoreBodies::none() }
    }
}

impl Drop for IdleWait {
    fn drop(&mut self) {
        #[cfg(feature = "sim")]
        WAITS_IDLY.set(false);
    }
}

/// Runs a closure over states whose changes are kept elsewhere before others see them: what it
/// would spawn or send itself would be seen before. That is refused in debug builds and in the
/// deterministic mode.
pub fn deciding<R>(decide: impl FnOnce() -> R) -> R {
    with_decision(true, decide)
}

/// Runs what is not part of the [decision](deciding) that may be running on this thread, such as
/// what a store calls.
pub fn beside_decision<R>(work: impl FnOnce() -> R) -> R {
    with_decision(false, work)
}

#[inline(always)]
fn with_decision<R>(decides: bool, work: impl FnOnce() -> R) -> R {
    struct DecisionReset(bool);
    impl Drop for DecisionReset {
        #[inline(always)]
        fn drop(&mut self) {
            decides_from_now(self.0);
        }
    }
    let _reset = DecisionReset(decides_from_now(decides));
    let _pinned = StackPin::new();
    work()
}

/// Returns what it was before.
#[inline(always)]
fn decides_from_now(decides: bool) -> bool {
    #[cfg(any(debug_assertions, feature = "sim"))]
    return DECIDES.replace(decides);
    #[cfg(not(any(debug_assertions, feature = "sim")))]
    decides
}

/// # Panics
/// Panics in a [decision](deciding), in debug builds and in the deterministic mode.
#[inline(always)]
#[cfg_attr(any(debug_assertions, feature = "sim"), track_caller)]
pub(crate) fn refuse_in_decision() {
    #[cfg(any(debug_assertions, feature = "sim"))]
    if DECIDES.get() && !std::thread::panicking() {
        panic!(
            "a decision over durable actors sends or spawns, before it is durable: leave that to its `send` or `on_commit`"
        );
    }
}

/// Runs `work` as if no body were running on this thread's stack.
pub(crate) fn unnested<R>(work: impl FnOnce() -> R) -> R {
    let _restore = RestoreBodies::none();
    work()
}

/// Runs `work` as if nothing else were running on this thread's stack: it sees neither the nested
/// bodies nor the scoped value and principal.
pub(crate) fn alone<R>(work: impl FnOnce() -> R) -> R {
    struct ServiceReset(RuntimeId, Option<StackPlace>);
    impl Drop for ServiceReset {
        fn drop(&mut self) {
            SERVES.set(self.0);
            CANCELLING.set(self.1);
        }
    }
    let _reset = ServiceReset(SERVES.replace(RuntimeId::NONE), CANCELLING.replace(None));
    let unnested = || with_decision(false, || unnested(work));
    lend(ScopeList::Values, None, || lend(ScopeList::Principals, None, unnested))
}

/// The state of this module for a thread that a fiber simulates; by default, that of a new thread.
#[cfg(feature = "sim")]
#[derive(Default)]
pub(crate) struct ThreadState {
    entered: RuntimeId,
    serves: RuntimeId,
    bodies: u32,
    thread: u64,
    pins: u32,
    cancelling: Option<StackPlace>,
    decides: bool,
    extensions: thread_extensions::ThreadExtensions,
    /// Whether it is in an [`IdleWait`].
    pub(crate) waits_idly: bool,
}

#[cfg(feature = "sim")]
impl ThreadState {
    /// Installs this state on the current thread, and returns the previous one.
    pub(crate) fn swap_in(self) -> Self {
        Self {
            entered: ENTERED.replace(self.entered),
            serves: SERVES.replace(self.serves),
            bodies: BODIES.replace(self.bodies),
            thread: THREAD.replace(self.thread),
            pins: coact_sync::current_stack::set_pins(self.pins),
            cancelling: CANCELLING.replace(self.cancelling),
            decides: decides_from_now(self.decides),
            extensions: thread_extensions::swap(self.extensions),
            waits_idly: WAITS_IDLY.replace(self.waits_idly),
        }
    }
}

/// Makes a simulated thread take another one's number.
#[cfg(feature = "sim")]
pub(crate) fn act_as(thread: u64) {
    THREAD.set(thread);
}

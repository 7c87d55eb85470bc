//! Scopes: behaviours that borrow from the stack of the thread that spawns them.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::{self, Thread};

use coact_sync::shim::atomic::{AtomicUsize, Ordering};
use coact_sync::shim::sync::Mutex;

use super::spawn;
use super::spawn_checks::{self, count_members};
use crate::body::Completion;
use crate::cown::set::{CownSet, refuse_volatile_beside_durable};
use crate::fault::Broken;
use crate::panic::{self, PanicPayload, drop_quietly};
use crate::sched::{context, runtime_shared};
use crate::simulated;

/// Runs `main`, in which behaviours can borrow from the caller's stack, and returns when all of
/// them have run.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, scope};
///
/// let cowns = [Cown::new(3), Cown::new(4)];
/// let mut squares = [0; 2];
/// scope(|s| {
///     for (cown, square) in cowns.iter().zip(&mut squares) {
///         s.when(cown, move |n| *square = *n * *n);
///     }
/// });
/// assert_eq!(squares, [9, 16]);
/// ```
///
/// # Panics
/// * Panics if `main` or one of the behaviours panics: with the first payload, after all have
///   ended. The cowns of a behaviour that panicked are poisoned.
/// * Panics if one of the behaviours is skipped, because of poison or because the runtime is shut
///   down.
/// * Panics in a behaviour: the scope blocks.
#[track_caller]
pub fn scope<'env, R>(main: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    context::prepare_to_block("`scope`", "clone what the behaviours need, or move it into a cown");
    let scope = Scope { state: ScopeState::new(), scope: PhantomData, env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| main(&scope)));
    scope.state.wait();
    let first = scope.state.panic.lock().take();
    if let Some(payload) = first {
        // While this thread is unwinding, no destructor must panic.
        match result {
            Ok(result) => panic::drop_quietly(move || drop(result)),
            Err(second) => panic::discard(second),
        }
        resume_unwind(payload);
    }
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

/// Spawns behaviours that end within the [`scope`].
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, scope};
/// use coact::behaviour::Scope;
///
/// fn count<'scope>(s: &'scope Scope<'scope, '_>, words: &'scope [String], total: &Cown<usize>) {
///     for word in words {
///         s.when(total, move |total| *total += word.len());
///     }
/// }
///
/// let (total, words) = (Cown::new(0), ["one".to_owned(), "three".to_owned()]);
/// scope(|s| count(s, &words, &total));
/// assert_eq!(total.into_inner(), Ok(8));
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    state: ScopeState,
    /// Invariant, so that `'scope` cannot shrink below the scope's lifetime.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

struct ScopeState {
    /// The behaviours that have not ended, plus one for the scope itself until it waits.
    pending: AtomicUsize,
    owner: Thread,
    panic: Mutex<Option<PanicPayload>>,
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a behaviour that may borrow from outside of the scope; otherwise like
    /// [`when`](crate::when).
    ///
    /// # Panics
    /// * Panics if the behaviour is refused, with the message of the
    ///   [`Refusal`](crate::behaviour::Refusal): for example, if the set names a cown twice, or the
    ///   runtime of the cowns is shut down.
    /// * Panics if the set names a cown of the pump that this thread has created: the scope would
    ///   wait for its own thread.
    #[track_caller]
    pub fn when<S, F>(&'scope self, set: S, closure: F)
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>) + Send + 'scope,
    {
        const { refuse_volatile_beside_durable::<S>() };
        assert!(
            !is_for_own_pump(&set),
            "the scope would wait forever for a behaviour on a cown of this thread's own pump: \
             spawn it with `when`, and run the pump"
        );
        let state = &self.state;
        let end = ScopedBehaviour::of(state);
        let closure = move |access: S::Access<'_>| {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| closure(access))) {
                // The runtime reports the panic and poisons the cowns; the payload goes to the
                // scope's caller.
                let message = panic::message(&*payload);
                state.keep(payload);
                resume_unwind(Box::new(String::from(&*message)));
            }
        };
        // The node that holds the closure is type-erased, so the compiler does not check that it is
        // gone before `'scope` ends: `wait` ensures that, since it counts this completion. (If
        // spawning ends with a panic or a refusal, the closure is dropped in here, while the scope
        // itself still counts.)
        simulated::spawns();
        spawn::spawn_or_panic(set, closure, end);
    }
}

/// Returns whether only this thread, when it pumps, can run a behaviour on the set.
fn is_for_own_pump<S: CownSet>(set: &S) -> bool {
    // A model has no runtime.
    !cfg!(loom)
        && context::worker().is_none()
        // A set that is refused is refused when it is spawned.
        && count_members(set).is_ok()
        && spawn_checks::place_of(set).is_ok_and(|home| runtime_shared::get(home).is_pump_thread())
}

/// A behaviour of the scope that has not ended; dropped when it ends. The closure is gone by then:
/// it is consumed by its run, or dropped, before a completion is called.
struct ScopedBehaviour<'scope>(&'scope ScopeState);

impl<'scope> ScopedBehaviour<'scope> {
    fn of(scope: &'scope ScopeState) -> Self {
        // ORDERING: Relaxed. The owner of the count is this thread, or a behaviour of the scope.
        scope.pending.fetch_add(1, Ordering::Relaxed);
        Self(scope)
    }
}

impl Drop for ScopedBehaviour<'_> {
    fn drop(&mut self) {
        self.0.end_one();
    }
}

impl Completion for ScopedBehaviour<'_> {
    type Value = ();

    fn done(self, (): ()) {}

    fn failed(self, why: Broken) {
        if !matches!(why, Broken::Panicked(_)) {
            self.0.keep(Box::new(format!("in a scope, {why}")));
        }
    }
}

impl ScopeState {
    fn new() -> Self {
        Self { pending: AtomicUsize::new(1), owner: thread::current(), panic: Mutex::new(None) }
    }

    /// Keeps the first payload.
    fn keep(&self, payload: PanicPayload) {
        let mut kept = self.panic.lock();
        if kept.is_none() {
            *kept = Some(payload);
            return;
        }
        drop(kept);
        // Foreign code, which may wait for another behaviour of the scope that panics.
        drop_quietly(move || drop(payload));
    }

    fn end_one(&self) {
        let owner = self.owner.clone();
        // ORDERING: Release: what the behaviour did to its borrows comes before the return of the
        // scope (Acquire in `wait`). After this the scope may be gone.
        if self.pending.fetch_sub(1, Ordering::Release) == 1 {
            owner.unpark();
        }
    }

    #[track_caller]
    fn wait(&self) {
        self.end_one();
        // ORDERING: Acquire pairs with the Release in `end_one`.
        let all_ended = || self.pending.load(Ordering::Acquire) == 0;
        while !simulated::block_until(&"the end of its scope's behaviours", &all_ended)
            && !all_ended()
        {
            thread::park();
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

//! Behaviours that borrow from the stack of the thread that spawns them.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::{self, Thread};

use coact_sync::shim::atomic::{AtomicUsize, Ordering};
use coact_sync::shim::sync::Mutex;

use super::body::Completion;
use super::spawn;
use crate::cown::set::CownSet;
use crate::panic::{self, Broken};
use crate::sched::context;
use crate::sim;

/// Runs `main`, in which behaviours can be spawned that borrow from the caller's stack, and returns
/// when all of them have run.
///
/// ```
/// use coact_core::{Cown, scope};
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
/// * If `main` or one of the behaviours panics: with the first payload, after all have ended. The
///   cowns of a behaviour that panicked are poisoned.
/// * If one of the behaviours is skipped, for poison or since the runtime is shut down.
/// * If it is called from a behaviour: the scope blocks.
#[track_caller]
pub fn scope<'env, R>(main: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    context::assert_may_block("`scope`", "clone what the behaviours need, or move it into a cown");
    let scope = Scope { state: State::new(), scope: PhantomData, env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| main(&scope)));
    scope.state.wait();
    if let Some(payload) = scope.state.panic.lock().take() {
        resume_unwind(payload);
    }
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

/// Spawns behaviours that live no longer than the [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    state: State,
    /// Invariant, so that `'scope` cannot be shrunk to less than the scope's life.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

struct State {
    /// The behaviours that have not ended, and one for the scope itself until it waits.
    pending: AtomicUsize,
    owner: Thread,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a behaviour that may borrow from outside of the scope; otherwise as
    /// [`when`](crate::when).
    ///
    /// # Panics
    /// If the set names a cown twice, or cowns of different pumps.
    #[track_caller]
    pub fn when<S, F>(&'scope self, set: S, closure: F)
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>) + Send + 'scope,
    {
        // ORDERING: Relaxed. The owner of the count is this thread, or a behaviour of the scope.
        self.state.pending.fetch_add(1, Ordering::Relaxed);
        let state = &self.state;
        let closure = move |access: S::Access<'_>| {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| closure(access))) {
                // The runtime reports the panic and poisons the cowns; the payload goes to the
                // scope's caller.
                let message = panic::message(&*payload);
                state.keep(payload);
                resume_unwind(Box::new(String::from(&*message)));
            }
        };
        // The node that holds the closure is erased in type, so nothing checks that it is gone
        // before `'scope` ends: `wait` does, which counts this completion.
        if let Err((refusal, closure, end)) = spawn::spawn(set, closure, End(state)) {
            drop(closure);
            end.done(());
            panic!("{refusal}");
        }
    }
}

/// Tells the scope that one of its behaviours has ended. The closure is gone by then: it is
/// consumed by its run, or dropped, before a completion is called.
struct End<'scope>(&'scope State);

impl Completion for End<'_> {
    type Value = ();

    fn done(self, (): ()) {
        self.0.end_one();
    }

    fn failed(self, why: Broken) {
        if !matches!(why, Broken::Panicked(_)) {
            self.0.keep(Box::new(format!("in a scope, {why}")));
        }
        self.0.end_one();
    }
}

impl State {
    fn new() -> Self {
        Self { pending: AtomicUsize::new(1), owner: thread::current(), panic: Mutex::new(None) }
    }

    /// Keeps the first payload.
    fn keep(&self, payload: Box<dyn Any + Send>) {
        self.panic.lock().get_or_insert(payload);
    }

    fn end_one(&self) {
        let owner = self.owner.clone();
        // ORDERING: Release: what the behaviour did to what it borrows comes before the return of
        // the scope (acquire in `wait`). After this the scope may be gone.
        if self.pending.fetch_sub(1, Ordering::Release) == 1 {
            owner.unpark();
        }
    }

    fn wait(&self) {
        self.end_one();
        // ORDERING: Acquire pairs with the release in `end_one`.
        let all_ended = || self.pending.load(Ordering::Acquire) == 0;
        while !sim::block_until(&all_ended) && !all_ended() {
            thread::park();
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

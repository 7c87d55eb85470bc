//! Behaviours that run inline, on the calling thread, if their cowns are free.

mod attempt;
mod commit_here;
mod one_or_two;
mod release;
mod run;
mod where_to_run;

use crate::behaviour::ready_or_promised::Answer;
use crate::body::{Completion, NoResult};
use crate::cown::set::{CownSet, refuse_volatile_beside_durable};
use crate::current;
use crate::fault::Broken;
use crate::path_coverage::FastPath;
use crate::promise::Promise;
use crate::runtime_ids::RuntimeId;
use crate::sched::{Successor, runtime_shared, schedule};
use crate::task::{RunContext, RunMode, TaskPtr, run_task};
use attempt::try_here_for_a_while;
use one_or_two::OneOrTwo;
use run::{claim_and_run_any, run_plain};
use where_to_run::{HerePlace, may_nest, place_elsewhere};

pub use where_to_run::MAX_NESTED_HERE;

/// Runs a behaviour inline, on the calling thread, if all its cowns are free and nothing is queued
/// on them; otherwise spawns it like [`when`](crate::when). Returns `true` if it ran inline, or was
/// skipped inline because of poison.
///
/// The order is that of `when`: a behaviour may run at any time after it is spawned, including
/// right away. The price is the caller's time.
///
/// **Cost.** With free cowns, two atomic operations per cown and no allocation: about as much as
/// locking and unlocking a mutex for each. With a busy cown, that attempt in addition to `when`. A
/// thread that is not a worker first tries again for some microseconds (for one or two cowns, and
/// less if that has been in vain before), since otherwise a worker would have to be woken.
///
/// If one of the cowns belongs to a [`Pump`](crate::runtime::Pump), the behaviour runs inline only
/// on that pump's thread, and is spawned elsewhere.
///
/// Over durable members, it decides inline if they are free and have no pending commits. It holds
/// them until what it has decided is stored.
///
/// Calls inside such behaviours nest up to [`MAX_NESTED_HERE`] deep; deeper ones are spawned.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, when_here};
///
/// let (a, b) = (Cown::new(1), Cown::new(2));
/// let ran = when_here((&a, &b), |(a, b)| std::mem::swap(a, b));
/// assert!(ran);
/// assert_eq!((a.into_inner().unwrap(), b.into_inner().unwrap()), (2, 1));
/// ```
///
/// # Panics
/// Panics if the set names a cown twice, cowns of different pumps, or an actor that is full
/// ([`Refusal::Full`](crate::behaviour::Refusal::Full)). A panic of the closure is caught as in
/// `when`.
#[doc(alias = "try_lock")]
#[inline]
#[track_caller]
pub fn when_here<S, F>(set: S, closure: F) -> bool
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    const { refuse_volatile_beside_durable::<S>() };
    if const { S::KIND.commits } {
        return commit_here::decide_here(set, closure, NoResult);
    }
    match try_here_for_a_while(set, closure, NoResult) {
        None => true,
        Some((set, closure, NoResult)) => spawn_instead(set, closure),
    }
}

/// [`call`](crate::call), run inline if all cowns of the set are free, like [`when_here`]: then the
/// result is available when this returns, without a promise. Otherwise the behaviour is spawned,
/// and the answer is a promise.
///
/// **Cost.** See [`when_here`]; if it is spawned, that attempt in addition to
/// [`call`](crate::call).
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call_here};
///
/// let words = Cown::new(vec!["one", "two"]);
/// let count = call_here(&words, |words| words.len());
/// assert!(count.is_ready());
/// assert_eq!(count.wait(), Ok(2));
/// ```
///
/// # Panics
/// Panics if the set names a cown twice, cowns of different pumps, or an actor that is full
/// ([`Refusal::Full`](crate::behaviour::Refusal::Full)). A panic of the closure is caught as in
/// `call`.
#[inline]
#[track_caller]
pub fn call_here<S, F, R>(set: S, closure: F) -> Answer<R>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> R + Send + 'static,
    R: Send + 'static,
{
    const { refuse_volatile_beside_durable::<S>() };
    if const { S::KIND.commits } {
        let (resolver, promise) = Promise::channel();
        commit_here::decide_here(set, closure, resolver);
        return Answer::pending(promise);
    }
    let mut result = None;
    match try_here_for_a_while(set, closure, ResultSlot(&mut result)) {
        None => Answer::ready(result.expect("an ended behaviour has a result")),
        Some((set, closure, _)) => Answer::pending(crate::call(set, closure)),
    }
}

/// Stores the result of an inline behaviour for the caller.
struct ResultSlot<'a, R>(&'a mut Option<Result<R, Broken>>);

impl<R: Send> Completion for ResultSlot<'_, R> {
    type Value = R;

    #[inline]
    fn done(self, value: R) {
        *self.0 = Some(Ok(value));
    }

    fn failed(self, why: Broken) {
        *self.0 = Some(Err(why));
    }
}

/// Like [`when_here`], and the caller then also runs what others have queued on the cowns
/// meanwhile, up to `batch` behaviours, before it hands over to the workers: **caller runs**. So
/// one of several threads works off their burst, with the state in its cache, and no worker is
/// woken for it.
///
/// What becomes ready at the end of such a behaviour runs here as it would on a worker: the next
/// one on the same cown, or one on several cowns that has waited for this cown. Behaviours of other
/// runtimes are left to these.
///
/// ```
/// # use coact_core as coact;
/// use coact::Cown;
/// use coact::behaviour::serve_here;
///
/// let sum = Cown::new(0);
/// assert!(serve_here(&sum, 10, |sum| *sum += 1));
/// assert_eq!(sum.into_inner(), Ok(1));
/// ```
///
/// # Panics
/// See [`when_here`].
#[track_caller]
pub fn serve_here<S, F>(set: S, batch: u32, closure: F) -> bool
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    const { refuse_volatile_beside_durable::<S>() };
    if const { S::KIND.commits } {
        return spawn_instead(set, closure);
    }
    match serve(set, batch, closure, NoResult) {
        None => true,
        Some((set, closure, NoResult)) => spawn_instead(set, closure),
    }
}

/// The same; returns what it was given instead of spawning.
#[inline]
pub(crate) fn serve<S, F, C>(set: S, batch: u32, closure: F, completion: C) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let Some((place, members)) = place_here(&set) else { return Some((set, closure, completion)) };
    let home = place.home;
    place.at_work(|| {
        let mut next = Successor::new(home);
        let refused = match members {
            OneOrTwo::No => claim_and_run_any(set, home, closure, completion, &mut next),
            // SAFETY: the members are those of the set, whose handles keep them alive.
            _ => unsafe {
                run_plain::<false, _, _, _>(set, members, home, closure, completion, &mut next)
            },
        };
        if let Some(task) = next.take() {
            run_batch(task, home, batch);
        }
        refused
    })
}

/// Spawns what cannot run inline, and returns `false`.
#[cold]
#[track_caller]
fn spawn_instead<S, F>(set: S, closure: F) -> bool
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    crate::when(set, closure);
    false
}

/// Runs a task of a runtime, and those that follow it, up to `batch`; leaves the rest to the
/// workers.
#[cold]
fn run_batch(task: TaskPtr, home: RuntimeId, batch: u32) {
    FastPath::ServedHere.take();
    // A model has no runtime.
    let in_model = RunContext::new(home, RunMode::Run);
    let run = if cfg!(loom) { &in_model } else { runtime_shared::get(home).run_context() };
    let nested = current::NestedBody::enter();
    let before = current::enter(home);
    let mut next = Some(task);
    for _ in 0..batch {
        let Some(task) = next else { break };
        // This may be a worker of another runtime, which continues. (Checked each time: the
        // previous task may have run past a shutdown's deadline.)
        let _cancelling = (run.mode() == RunMode::Cancel).then(current::CancelMark::enter);
        // SAFETY: a successor is ready, and owned by this thread.
        next = unsafe { run_task(task, run) };
    }
    current::enter(before);
    drop(nested);
    if let Some(task) = next {
        schedule(task, home);
    }
}

/// Returns where a behaviour on the set runs, if the current thread may run it inline, and the
/// set's members if they are plain.
#[inline]
fn place_here<S: CownSet>(set: &S) -> Option<(HerePlace, OneOrTwo)> {
    if !may_nest() {
        return None;
    }
    let members = OneOrTwo::of(set);
    match members.plain_home() {
        Some(home) => Some((HerePlace::at(home)?, members)),
        None => Some((place_elsewhere(set)?, OneOrTwo::No)),
    }
}

#[cfg(all(test, loom))]
mod loom;

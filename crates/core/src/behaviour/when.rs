//! The functions that spawn behaviours.

use super::refusal::{Refusal, WhenError};
use super::spawn;
use super::spawn_checks;
use crate::body::{Completion, NoResult};
use crate::cown::set::{CownSet, refuse_volatile_beside_durable};
use crate::fault::Broken;
use crate::promise::Promise;
use crate::simulated;

/// Spawns a behaviour: `closure` runs once, as soon as it holds all cowns of `set`.
///
/// * **Order.** Behaviours that share a cown run in spawn order. Spawn order is causal: what a
///   behaviour spawns comes after the behaviour, and after everything spawned before it.
/// * **Atomicity.** The behaviour holds its cowns from start to end.
/// * **No deadlock.** It acquires all its cowns at once, and nothing more while it runs.
/// * Adjacent readers (`cown.read()`) in a cown's order run in parallel.
///
/// Returns at once. The closure runs on a worker of the runtime of the set's first cown, or, if a
/// cown of the set belongs to a [`Pump`](crate::runtime::Pump), on that pump's thread. With an
/// empty set it is ready at once, on the current runtime. For a result, use [`call`].
///
/// If the closure panics, the cowns that it held exclusively are poisoned, and later behaviours on
/// them are skipped (see [`Cown::checked`](crate::Cown::checked)). A skip is silent unless there is
/// a `tracing` subscriber or a [panic hook](crate::runtime::Builder::panic_hook); [`call`] and
/// [`when_or_else`] report it to their caller.
///
/// If the runtime is shut down, the closure is dropped; [`try_when`] reports this.
///
/// **Cost.** On one cown: one block from a pool and one atomic exchange, and one more atomic
/// operation at the end unless another behaviour is waiting. On n free cowns: n atomic operations
/// to spawn and n at the end. If some are busy: up to 2n to spawn, or 4n if another thread takes
/// one of them while they are claimed.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call, when};
///
/// let (from, to) = (Cown::new(100), Cown::new(0));
/// when((&from, &to), |(from, to)| {
///     *from -= 30;
///     *to += 30;
/// });
/// let both = call((from.read(), to.read()), |(from, to)| (*from, *to));
/// assert_eq!(both.wait(), Ok((70, 30)));
/// ```
///
/// # Panics
/// Panics without spawning if the set names a cown twice, cowns of different pumps, or an actor
/// that is full ([`Refusal::Full`]).
#[doc(alias = "lock")]
#[doc(alias = "behaviour")]
#[inline]
#[track_caller]
pub fn when<S, F>(set: S, closure: F)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    const { refuse_volatile_beside_durable::<S>() };
    simulated::spawns();
    spawn::spawn_or_panic(set, closure, NoResult);
}

/// Like [`when`], and calls `otherwise` with the reason if the closure does not complete: because
/// the behaviour is skipped (a cown is poisoned or closed), panics, or is dropped by a shutdown. So
/// a chain of behaviours, each of which spawns the next, cannot end unnoticed.
///
/// `otherwise` runs after the cowns are released, on the thread that has found the reason, and
/// outside of all behaviours: it may spawn, and should not block. The runtime's [panic
/// hook](crate::runtime::Builder::panic_hook) is called as well.
///
/// **Cost.** See [`when`]; `otherwise` is stored in the same block as the closure. A promise
/// ([`call`]) costs more.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, Promise, when, when_or_else};
///
/// let (resolver, end) = Promise::channel();
/// let account = Cown::new(10);
/// when(&account, |_| panic!("half way"));
/// when_or_else(&account, |balance| *balance -= 1, move |why| resolver.resolve(why.to_string()));
/// assert!(end.wait().unwrap().contains("poisoned"));
/// ```
///
/// # Panics
/// See [`when`].
#[inline]
#[track_caller]
pub fn when_or_else<S, F, G>(set: S, closure: F, otherwise: G)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    G: FnOnce(Broken) + Send + 'static,
{
    const { refuse_volatile_beside_durable::<S>() };
    simulated::spawns();
    spawn::spawn_or_panic(set, closure, OrElse(otherwise));
}

/// Calls a closure if a behaviour does not complete.
struct OrElse<G>(G);

impl<G: FnOnce(Broken) + Send> Completion for OrElse<G> {
    type Value = ();

    #[inline]
    fn done(self, (): ()) {}

    fn failed(self, why: Broken) {
        (self.0)(why);
    }
}

/// Like [`when`], but returns an error if it cannot spawn.
///
/// # Errors
/// Returns the closure if the set names a cown twice, cowns of different pumps, or an actor that is
/// full ([`Refusal::Full`]), or if its runtime is shut down.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, try_when};
/// use coact::behaviour::Refusal;
///
/// let cown = Cown::new(0);
/// let error = try_when((&cown, &cown), |(a, b)| *a += *b).unwrap_err();
/// assert!(matches!(error.refusal, Refusal::Overlap(o) if (o.first, o.second) == (0, 1)));
/// ```
#[cfg_attr(feature = "sim", track_caller)]
pub fn try_when<S, F>(set: S, closure: F) -> Result<(), WhenError<F>>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    const { refuse_volatile_beside_durable::<S>() };
    if spawn_checks::is_closed(&set) {
        return Err(WhenError { refusal: Refusal::Closed, closure });
    }
    simulated::spawns();
    spawn::spawn(set, closure, NoResult)
        .map_err(|(refusal, closure, _)| WhenError { refusal, closure })
}

/// Like [`when`], but returns a promise of the closure's return value. The promise completes after
/// the behaviour has released its cowns.
///
/// **Cost.** See [`when`]; one more block and one more atomic operation for the promise.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call};
///
/// let words = Cown::new(vec!["one", "two"]);
/// assert_eq!(call(&words, |words| words.len()).wait(), Ok(2));
/// ```
///
/// # Panics
/// See [`when`].
#[inline]
#[track_caller]
pub fn call<S, F, R>(set: S, closure: F) -> Promise<R>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> R + Send + 'static,
    R: Send + 'static,
{
    const { refuse_volatile_beside_durable::<S>() };
    let (resolver, promise) = Promise::channel();
    spawn::spawn_or_panic(set, closure, resolver);
    promise
}

/// Like [`call`], but returns an error if it cannot spawn.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, try_call};
/// use coact::behaviour::Refusal;
///
/// let (stock, sold) = (Cown::new(3), Cown::new(4));
/// let sum = try_call((&stock, &sold), |(stock, sold)| *stock + *sold).expect("two cowns");
/// assert_eq!(sum.wait(), Ok(7));
///
/// let error = try_call((&stock, &stock), |(a, b)| *a + *b).unwrap_err();
/// assert!(matches!(error.refusal, Refusal::Overlap(_)));
/// assert_eq!((error.closure)((&mut 1, &mut 2)), 3, "the closure is given back");
/// ```
///
/// # Errors
/// See [`try_when`].
#[cfg_attr(feature = "sim", track_caller)]
pub fn try_call<S, F, R>(set: S, closure: F) -> Result<Promise<R>, WhenError<F>>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> R + Send + 'static,
    R: Send + 'static,
{
    const { refuse_volatile_beside_durable::<S>() };
    if spawn_checks::is_closed(&set) {
        return Err(WhenError { refusal: Refusal::Closed, closure });
    }
    let (resolver, promise) = Promise::channel();
    match spawn::spawn(set, closure, resolver) {
        Ok(()) => Ok(promise),
        Err((refusal, closure, _)) => Err(WhenError { refusal, closure }),
    }
}

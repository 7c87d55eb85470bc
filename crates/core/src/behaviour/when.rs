//! Spawning behaviours: the functions that users call.

use super::placing;
use super::refusal::{Refusal, WhenError};
use super::spawn;
use crate::body::{Completion, Forget};
use crate::cown::set::CownSet;
use crate::fault::Broken;
use crate::promise::Promise;
use crate::simulated;

/// Spawns a behaviour: `closure` runs, once, as soon as it holds all cowns of `set`.
///
/// * **Order.** Of two behaviours whose sets overlap, the one that was spawned first runs first.
///   The order of spawning is causal: what a behaviour spawns comes after it, and after all that
///   was spawned before it.
/// * **Atomicity.** The behaviour holds its cowns from start to end.
/// * **No deadlock.** It needs all its cowns at once and gets nothing more while it runs.
/// * Readers (`cown.read()`) that stand next to each other in a cown's order run in parallel.
///
/// This returns at once. The closure runs on a worker of the runtime that the first cown of the set
/// belongs to, or, if one of them belongs to a [`Pump`](crate::runtime::Pump), on that pump's thread; a set without cowns runs at once on the current runtime. To have the result, use
/// [`ask`].
///
/// If the closure panics, the cowns that it held exclusively are poisoned, and later behaviours on
/// them are skipped (see [`Cown::checked`](crate::Cown::checked)).
///
/// If the runtime is shut down, the closure is dropped; [`try_when`] tells.
///
/// **Cost.** On one cown: one block from a pool and one atomic exchange, and one more atomic
/// operation at the end unless another behaviour waits behind. On n cowns that are free: n atomic
/// operations to spawn and n at the end. If some are busy: up to 4n to spawn.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, ask, when};
///
/// let (from, to) = (Cown::new(100), Cown::new(0));
/// when((&from, &to), |(from, to)| {
///     *from -= 30;
///     *to += 30;
/// });
/// let both = ask((from.read(), to.read()), |(from, to)| (*from, *to));
/// assert_eq!(both.wait(), Ok((70, 30)));
/// ```
///
/// # Panics
/// If the set names a cown twice, cowns of different pumps, or an actor that takes no more behaviours for now
/// ([`Refusal::Full`]): nothing is spawned then.
#[doc(alias = "lock")]
#[doc(alias = "behaviour")]
#[inline]
#[track_caller]
pub fn when<S, F>(set: S, closure: F)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    simulated::spawns();
    if let Err((refusal, ..)) = spawn::spawn(set, closure, Forget) {
        panic!("{refusal}");
    }
}

/// Like [`when`], and calls `otherwise` with the reason if the closure does not run to its end: if the
/// behaviour is skipped since a cown is poisoned or closed, if it panics, or if it is dropped by a shutdown.
/// So a chain of behaviours, each of which spawns the next, does not end unseen.
///
/// `otherwise` runs once the cowns are released, on the thread that has found the reason, outside of all
/// behaviours: it may spawn, and should not block. It comes in addition to the runtime's
/// [panic hook](crate::runtime::Builder::panic_hook).
///
/// **Cost.** As [`when`]; `otherwise` lies in the same block as the closure. A promise ([`ask`]) costs more.
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
/// As [`when`].
#[inline]
#[track_caller]
pub fn when_or_else<S, F, G>(set: S, closure: F, otherwise: G)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    G: FnOnce(Broken) + Send + 'static,
{
    simulated::spawns();
    if let Err((refusal, ..)) = spawn::spawn(set, closure, Otherwise(otherwise)) {
        panic!("{refusal}");
    }
}

/// Calls a closure if a behaviour does not run to its end.
struct Otherwise<G>(G);

impl<G: FnOnce(Broken) + Send> Completion for Otherwise<G> {
    type Value = ();

    #[inline]
    fn done(self, (): ()) {}

    fn failed(self, why: Broken) {
        (self.0)(why);
    }
}

/// Like [`when`], but says so if it cannot spawn.
///
/// # Errors
/// The set names a cown twice, cowns of different pumps, or an actor that takes no more behaviours for now
/// ([`Refusal::Full`]), or its runtime is shut down. The closure is given back.
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
    if placing::is_closed(&set) {
        return Err(WhenError { refusal: Refusal::Closed, closure });
    }
    simulated::spawns();
    spawn::spawn(set, closure, Forget)
        .map_err(|(refusal, closure, _)| WhenError { refusal, closure })
}

/// Spawns a behaviour with a result: as [`when`], and returns a promise of what the closure
/// returns. The promise is kept once the behaviour has released its cowns.
///
/// **Cost.** As [`when`], and one more block and one more atomic operation for the promise.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, ask};
///
/// let words = Cown::new(vec!["one", "two"]);
/// assert_eq!(ask(&words, |words| words.len()).wait(), Ok(2));
/// ```
///
/// # Panics
/// As [`when`].
#[inline]
#[track_caller]
pub fn ask<S, F, R>(set: S, closure: F) -> Promise<R>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> R + Send + 'static,
    R: Send + 'static,
{
    let (resolver, promise) = Promise::channel();
    if let Err((refusal, ..)) = spawn::spawn(set, closure, resolver) {
        panic!("{refusal}");
    }
    promise
}

/// Like [`ask`], but says so if it cannot spawn.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, try_ask};
/// use coact::behaviour::Refusal;
///
/// let (stock, sold) = (Cown::new(3), Cown::new(4));
/// let sum = try_ask((&stock, &sold), |(stock, sold)| *stock + *sold).expect("two cowns");
/// assert_eq!(sum.wait(), Ok(7));
///
/// let error = try_ask((&stock, &stock), |(a, b)| *a + *b).unwrap_err();
/// assert!(matches!(error.refusal, Refusal::Overlap(_)));
/// assert_eq!((error.closure)((&mut 1, &mut 2)), 3, "the closure is given back");
/// ```
///
/// # Errors
/// As [`try_when`].
#[cfg_attr(feature = "sim", track_caller)]
pub fn try_ask<S, F, R>(set: S, closure: F) -> Result<Promise<R>, WhenError<F>>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> R + Send + 'static,
    R: Send + 'static,
{
    if placing::is_closed(&set) {
        return Err(WhenError { refusal: Refusal::Closed, closure });
    }
    let (resolver, promise) = Promise::channel();
    match spawn::spawn(set, closure, resolver) {
        Ok(()) => Ok(promise),
        Err((refusal, closure, _)) => Err(WhenError { refusal, closure }),
    }
}

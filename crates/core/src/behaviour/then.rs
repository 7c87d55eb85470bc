//! Behaviours that follow a promise, and behaviours that complete one.

use std::any::type_name;

use super::spawn;
use super::spawn_checks::assert_spawnable;
use crate::body::Completion;
use crate::cown::set::{CownSet, refuse_volatile_beside_durable};
use crate::fault::Broken;
use crate::promise::{Promise, Resolver};
use crate::simulated;

impl<R: Send + 'static> Promise<R> {
    /// Spawns a behaviour on `set` with the value when it is available. The behaviour takes its
    /// place in the order of its cowns at that time, not now.
    ///
    /// Costs an allocation, and a clone of each handle in the set.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, call};
    ///
    /// let (source, sink) = (Cown::new(20), Cown::new(1));
    /// let product = call(&source, |n| *n + 1).then(&sink, |sink, n| {
    ///     *sink *= n.unwrap();
    ///     *sink * 2
    /// });
    /// assert_eq!(product.wait().unwrap(), 42);
    /// ```
    ///
    /// # Panics
    /// Panics if the set names a cown twice, or cowns of different pumps.
    #[track_caller]
    pub fn then<S, F, Q>(self, set: S, closure: F) -> Promise<Q>
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>, Result<R, Broken>) -> Q + Send + 'static,
        Q: Send + 'static,
    {
        const { refuse_volatile_beside_durable::<S>() };
        assert_spawnable(&set);
        let set = set.to_owned_set();
        let (resolver, promise) = Promise::channel();
        promise.owed_by(|f| write!(f, "`then` with `{}`", type_name::<F>()));
        simulated::follows(promise.cell(), self.cell());
        self.on_ready(move |result| {
            spawn::spawn_deferred::<S, _, _>(set, move |access| closure(access, result), resolver);
        });
        promise
    }
}

impl<R: Send + 'static> Completion for Resolver<R> {
    type Value = R;

    #[inline]
    fn done(self, value: R) {
        self.resolve(value);
    }

    fn failed(self, why: Broken) {
        self.fail(why);
    }

    #[inline]
    fn promise(&self) -> Option<usize> {
        Some(self.cell())
    }
}

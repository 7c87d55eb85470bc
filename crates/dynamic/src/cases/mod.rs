//! Partial functions over tuples.
//!
//! Reading order: `shape` (what a case wants), `candidate_cache` (which cases a tuple can fit),
//! `call` (what the macro's code is given).

pub(crate) mod call;
mod candidate_cache;
mod no_match;
pub(crate) mod shape;

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use coact_core::credits::Permit;
use coact_tuple::AnyTuple;

use self::call::{CallMode, CaseCall};
use self::candidate_cache::CandidateCache;
pub use self::no_match::NoMatch;

/// The code of some cases, which the macro writes.
type CaseCode<'a, C, R> = Box<dyn FnMut(&mut CaseCall<'_, C>) -> Option<R> + Send + 'a>;

/// A partial function over tuples: cases, of which the first that matches a tuple takes it.
///
/// The macro `cases!` writes it, like a `match`. `C` is the context in which the cases run, such as
/// that of an actor, and `R` what they return.
///
/// Which cases have the length and the types of a tuple is found once for each type of tuples;
/// afterwards the others cost nothing.
#[must_use = "cases do nothing until they are applied"]
pub struct Cases<'a, C: ?Sized, R = ()> {
    first: CasesPart<'a, C, R>,
    /// Those of other functions, one behind the other.
    others: Vec<CasesPart<'a, C, R>>,
    after: Option<Duration>,
}

struct CasesPart<'a, C: ?Sized, R> {
    candidates: CandidateCache,
    code: CaseCode<'a, C, R>,
}

impl<'a, C: ?Sized, R> Cases<'a, C, R> {
    /// For the macro.
    #[doc(hidden)]
    pub fn from_code(
        shapes: usize,
        after: Option<Duration>,
        mut code: impl FnMut(&mut CaseCall<'_, C>) -> Option<R> + Send + 'a,
    ) -> Self {
        let mut shapes = Vec::with_capacity(shapes);
        let _none = code(&mut CaseCall(CallMode::Shapes(&mut shapes)));
        let first = CasesPart { candidates: CandidateCache::new(shapes), code: Box::new(code) };
        Self { first, others: Vec::new(), after }
    }

    /// Adds the cases of another function, which are tried behind these. An `after` of these comes
    /// before one of the other.
    pub fn or_else(mut self, other: Self) -> Self {
        if self.after.is_none() {
            // The code that is done then is in the last part that has some.
            self.after = other.after;
        }
        self.others.push(other.first);
        self.others.extend(other.others);
        self
    }

    /// Runs the first case that matches the tuple, and returns what that does.
    ///
    /// # Errors
    /// Returns the tuple if no case matches it.
    ///
    /// # Panics
    /// If a guard, a projection or the case does.
    #[inline]
    pub fn apply(&mut self, context: &mut C, mut tuple: AnyTuple) -> Result<R, AnyTuple> {
        self.apply_in_place(context, &mut tuple, &mut None).ok_or(tuple)
    }

    /// The same for a tuple that is left where it is if no case matches it. The room that it takes
    /// up is free once one does.
    #[inline(always)]
    pub(crate) fn apply_in_place(
        &mut self,
        context: &mut C,
        tuple: &mut AnyTuple,
        room: &mut Option<Permit>,
    ) -> Option<R> {
        if let Some(result) = self.first.apply(context, tuple, room) {
            return Some(result);
        }
        self.apply_others(context, tuple, room)
    }

    #[cold]
    fn apply_others(
        &mut self,
        context: &mut C,
        tuple: &mut AnyTuple,
        room: &mut Option<Permit>,
    ) -> Option<R> {
        self.others.iter_mut().find_map(|part| part.apply(context, tuple, room))
    }

    /// Whether the length and the types of a case are those of the tuple: if not, none of them
    /// takes it, whatever guards and projections say.
    pub fn may_take(&mut self, tuple: &AnyTuple) -> bool {
        self.parts_mut().any(|part| part.candidates.has_fitting(tuple))
    }

    /// Why no case takes a tuple: what the nearest one wants.
    pub fn explain(&self, tuple: &AnyTuple) -> NoMatch {
        NoMatch::of(self.parts().flat_map(|part| part.candidates.shapes()), tuple)
    }

    fn parts(&self) -> impl Iterator<Item = &CasesPart<'a, C, R>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = &mut CasesPart<'a, C, R>> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// How long to wait for a tuple, if `after` says that.
    pub fn timeout(&self) -> Option<Duration> {
        self.after
    }

    /// Does what `after` says, if it is there.
    pub fn time_out(&mut self, context: &mut C) -> Option<R> {
        let mut codes = self.parts_mut().map(|part| &mut part.code);
        codes.find_map(|code| code(&mut CaseCall(CallMode::After { context: &mut *context })))
    }
}

impl<C: ?Sized, R> CasesPart<'_, C, R> {
    #[inline(always)]
    fn apply(
        &mut self,
        context: &mut C,
        tuple: &mut AnyTuple,
        room: &mut Option<Permit>,
    ) -> Option<R> {
        let fitting = self.candidates.fitting(tuple);
        (self.code)(&mut CaseCall(CallMode::Match { context, tuple, fitting, room }))
    }
}

impl<C: ?Sized, R> Debug for Cases<'_, C, R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let shapes = self.parts().flat_map(|part| part.candidates.shapes());
        f.debug_list().entries(shapes.flat_map(|shape| shape.patterns)).finish()
    }
}

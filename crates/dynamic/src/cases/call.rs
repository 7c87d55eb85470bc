//! One use of the code that the macro `cases!` writes.

use std::borrow::Cow;

use coact_core::credits::Permit;
use coact_tuple::{AnyTuple, Tuple};

use super::candidate_cache::CandidateShapes;
use super::shape::{CaseShape, WantedElement};

/// What the code is to do, and with what.
pub struct CaseCall<'c, C: ?Sized>(pub(crate) CallMode<'c, C>);

pub(crate) enum CallMode<'c, C: ?Sized> {
    /// Say what the cases want.
    Shapes(&'c mut Vec<CaseShape>),
    /// Take a tuple, of which these shapes have the length and the types.
    Match {
        context: &'c mut C,
        tuple: &'c mut AnyTuple,
        fitting: CandidateShapes<'c>,
        /// What the tuple takes up until a case has matched.
        room: &'c mut Option<Permit>,
    },
    /// Do what is done when no tuple has come for long.
    After { context: &'c mut C },
}

/// Only generated code calls these, each in the mode that it is for.
impl<C: ?Sized> CaseCall<'_, C> {
    /// Whether the code is to [say](Self::wants) what the cases want.
    #[inline]
    pub fn asks(&self) -> bool {
        matches!(self.0, CallMode::Shapes(_))
    }

    /// What cases with these patterns want, which stand one behind the other. In their order.
    pub fn wants(
        &mut self,
        patterns: &'static [&'static str],
        wanted: impl Into<Cow<'static, [WantedElement]>>,
    ) {
        if let CallMode::Shapes(shapes) = &mut self.0 {
            shapes.push(CaseShape { patterns, wanted: wanted.into() });
        }
    }

    /// Whether no tuple has come for long.
    #[inline]
    pub fn is_late(&self) -> bool {
        matches!(self.0, CallMode::After { .. })
    }

    /// The number of the next shape to try.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "the items are for one place only")]
    pub fn next(&mut self) -> Option<u16> {
        let CallMode::Match { fitting, .. } = &mut self.0 else { return None };
        fitting.next()
    }

    /// The tuple.
    #[inline]
    pub fn tuple(&self) -> &AnyTuple {
        let CallMode::Match { tuple, .. } = &self.0 else { no_tuple() };
        tuple
    }

    /// The same, whose type is known from its shape.
    #[inline]
    pub fn view<T: Tuple>(&self) -> &T {
        self.tuple().view().unwrap_or_else(|| no_tuple())
    }

    /// An element, whose type is known from the shape.
    #[inline]
    pub fn element<E: 'static>(&self, at: usize) -> &E {
        self.tuple().get(at).unwrap_or_else(|| no_tuple())
    }

    /// Takes the tuple.
    #[inline]
    pub fn take_any(&mut self) -> AnyTuple {
        let CallMode::Match { tuple, .. } = &mut self.0 else { no_tuple() };
        std::mem::take(*tuple)
    }

    /// The same, whose type is known from its shape.
    #[inline]
    pub fn take<T: Tuple>(&mut self) -> T {
        let CallMode::Match { tuple, .. } = &mut self.0 else { no_tuple() };
        tuple.take_out().unwrap_or_else(|| no_tuple())
    }

    /// The context, for guards.
    #[inline]
    pub fn seen(&self) -> &C {
        match &self.0 {
            CallMode::Match { context, .. } | CallMode::After { context } => context,
            CallMode::Shapes(_) => no_tuple(),
        }
    }

    /// A case has matched: what it does comes now.
    #[inline]
    pub fn starts(&mut self) {
        if let CallMode::Match { room, .. } = &mut self.0
            && room.is_some()
        {
            drop(room.take());
        }
    }

    /// The context, for what is done.
    #[inline]
    pub fn context(&mut self) -> &mut C {
        match &mut self.0 {
            CallMode::Match { context, .. } | CallMode::After { context } => context,
            CallMode::Shapes(_) => no_tuple(),
        }
    }
}

/// Runs a body, whose type the compiler knows from what it is for.
#[inline(always)]
pub fn run_body<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cold]
#[inline(never)]
fn no_tuple() -> ! {
    unreachable!("the code is called with what it asks for")
}

/// A binding, as guards see it: a value that is `Copy`, or else a reference.
///
/// `(&GuardView(x))._as_guards_see_it()` is the method of [`ByValue`] where there is one, and
/// otherwise that of [`ByRef`], which takes one reference more.
pub struct GuardView<'a, T>(pub &'a T);

/// What guards see of values that are `Copy`.
pub trait ByValue {
    /// The value.
    type Value;

    /// The value.
    fn _as_guards_see_it(&self) -> Self::Value;
}

impl<T: Copy> ByValue for GuardView<'_, T> {
    type Value = T;

    #[inline]
    fn _as_guards_see_it(&self) -> T {
        *self.0
    }
}

/// What guards see of all other values.
pub trait ByRef<'a> {
    /// The value.
    type Value;

    /// A reference to the value.
    fn _as_guards_see_it(&self) -> &'a Self::Value;
}

impl<'a, T> ByRef<'a> for &GuardView<'a, T> {
    type Value = T;

    #[inline]
    fn _as_guards_see_it(&self) -> &'a T {
        self.0
    }
}

//! What a case wants of a tuple, by length and types.

use std::any::{TypeId, type_name};
use std::borrow::Cow;

use coact_tuple::{AnyTuple, Element};

/// What is wanted at one position of a tuple.
#[derive(Clone, Copy)]
pub enum WantedElement {
    /// An element of this type.
    Typed(TypeId, fn() -> &'static str),
    /// One element of any type: `_`.
    One,
    /// Any number of elements of any types: `..`. At most once.
    Rest,
}

impl WantedElement {
    /// An `E`.
    #[must_use]
    pub const fn of<E: Element>() -> Self {
        Self::Typed(TypeId::of::<E>(), type_name::<E>)
    }

    fn takes(self, tuple: &AnyTuple, at: usize) -> bool {
        match self {
            Self::Typed(wanted, _) => tuple.elements()[at].id() == wanted,
            Self::One | Self::Rest => true,
        }
    }
}

/// What the cases of one shape want. They stand one behind the other.
pub(crate) struct CaseShape {
    /// The patterns of the cases, as they are written.
    pub(crate) patterns: &'static [&'static str],
    pub(crate) wanted: Cow<'static, [WantedElement]>,
}

impl CaseShape {
    /// How many elements are in front of `..`, and behind; `None` if there is no `..`.
    fn around_rest(&self) -> Option<(usize, usize)> {
        let front = self.wanted.iter().position(|wanted| matches!(wanted, WantedElement::Rest))?;
        Some((front, self.wanted.len() - front - 1))
    }

    /// Whether a tuple has the length and the types.
    pub(crate) fn fits(&self, tuple: &AnyTuple) -> bool {
        self.misfits(tuple).is_some_and(|mut misfits| misfits.next().is_none())
    }

    /// The positions in a tuple, and what is wanted there, of all elements of wrong types; `None`
    /// if the length is wrong.
    pub(crate) fn misfits<'a>(
        &'a self,
        tuple: &'a AnyTuple,
    ) -> Option<impl Iterator<Item = (usize, WantedElement)> + 'a> {
        let len = tuple.len();
        let (front, back) = match self.around_rest() {
            Some((front, back)) if front + back <= len => (front, back),
            None if self.wanted.len() == len => (len, 0),
            _ => return None,
        };
        let behind = self.wanted[self.wanted.len() - back..].iter().copied();
        let pairs =
            (0..).zip(self.wanted[..front].iter().copied()).chain((len - back..).zip(behind));
        Some(pairs.filter(|(at, wanted)| !wanted.takes(tuple, *at)))
    }
}

/// What functions of projections see of an element: the element, or what it derefs to.
pub trait ProjectionView: 'static {
    /// The element.
    type Element: Element;

    /// Looks at it.
    fn view(element: &Self::Element) -> &Self;
}

impl<E: Element> ProjectionView for E {
    type Element = E;

    fn view(element: &E) -> &E {
        element
    }
}

impl ProjectionView for str {
    type Element = String;

    fn view(element: &String) -> &str {
        element
    }
}

impl<T: Clone + Send + Sync + std::fmt::Debug + 'static> ProjectionView for [T] {
    type Element = Vec<T>;

    fn view(element: &Vec<T>) -> &[T] {
        element
    }
}

/// The element that a projection wants.
pub fn wanted_by<V: ProjectionView + ?Sized, U>(_: &impl Fn(&V) -> Option<U>) -> WantedElement {
    WantedElement::of::<V::Element>()
}

/// What a projection makes of an element.
pub fn extract<V: ProjectionView + ?Sized, U>(
    project: &impl Fn(&V) -> Option<U>,
    tuple: &AnyTuple,
    at: usize,
) -> Option<U> {
    project(V::view(tuple.get::<V::Element>(at)?))
}

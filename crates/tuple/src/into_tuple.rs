//! What tuples are made from: Rust's tuples of elements, and single elements.

use std::mem::offset_of;

use crate::any_tuple::AnyTuple;
use crate::element::{Element, IntoElement};
use crate::tuple::{ElementType, Tuple, TupleElements};

impl AnyTuple {
    /// Makes it of a tuple, or of one element.
    #[must_use]
    #[inline]
    pub fn new<T: IntoTuple>(of: T) -> Self {
        of.into_any()
    }
}

/// What an [`AnyTuple`](crate::AnyTuple) can be made of: a tuple, or one [element](Element) alone.
/// String literals become [`String`]s, and an [`AnyTuple`] alone stays what it is.
///
/// ```
/// # mod coact { pub mod dynamic { pub use coact_tuple::*; } }
/// use coact::dynamic::{AnyTuple, atom};
///
/// let add = AnyTuple::new((atom!("add"), 1, 2));
/// assert_eq!(format!("{add:?}"), "('add', 1, 2)");
/// let said = AnyTuple::new("hello");
/// assert_eq!(said.get::<String>(0).unwrap(), "hello");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tuple of elements",
    label = "a tuple, or one element, is needed here",
    note = "derive `Element` for your own types; types of other crates go into `Opaque(..)`"
)]
pub trait IntoTuple {
    /// The tuple.
    type Tuple: Tuple;

    /// Makes it.
    fn into_tuple(self) -> Self::Tuple;

    /// Makes it, as one whose type the program knows.
    #[doc(hidden)]
    #[inline]
    fn into_any(self) -> AnyTuple
    where
        Self: Sized,
    {
        AnyTuple::of(self.into_tuple())
    }
}

impl<E: IntoElement> IntoTuple for E {
    type Tuple = (E::Element,);

    #[inline]
    fn into_tuple(self) -> Self::Tuple {
        (self.into_element(),)
    }

    #[inline]
    fn into_any(self) -> AnyTuple {
        IntoElement::into_any(self)
    }
}

macro_rules! tuples {
    ($($element:ident $at:tt),*) => {
        impl<$($element: Element),*> TupleElements for ($($element,)*) {
            const ELEMENTS: &'static [ElementType] =
                &[$(
                    ElementType::new::<$element>($element::WIRE_NAME, offset_of!(Self, $at))
                ),*];
        }

        impl<$($element: Element),*> Tuple for ($($element,)*) {}

        impl<$($element: IntoElement),*> IntoTuple for ($($element,)*) {
            type Tuple = ($($element::Element,)*);

            #[inline]
            #[allow(clippy::unused_unit)] // Of no elements.
            fn into_tuple(self) -> Self::Tuple {
                ($(self.$at.into_element(),)*)
            }
        }
    };
}

tuples!();
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);

//! Tuples whose type the compiler knows.

use std::any::{TypeId, type_name};
use std::fmt::Debug;
use std::mem::offset_of;
use std::ptr::NonNull;

use crate::AnyTuple;
use crate::element::{Element, IntoElement};

/// What is known of an element of a type of tuples.
pub struct ElementType {
    id: TypeId,
    name: fn() -> &'static str,
    wire_name: Option<&'static str>,
    pub(crate) offset: usize,
    /// Adds to the address of an element how it is formatted.
    pub(crate) debug: fn(NonNull<u8>) -> NonNull<dyn Debug>,
}

impl ElementType {
    const fn new<E: Element>(offset: usize) -> Self {
        Self {
            id: TypeId::of::<E>(),
            name: type_name::<E>,
            wire_name: E::WIRE_NAME,
            offset,
            debug: debug::<E>,
        }
    }

    /// The type's id in this program.
    #[must_use]
    #[inline]
    pub fn id(&self) -> TypeId {
        self.id
    }

    /// The type's name in this program.
    #[must_use]
    pub fn name(&self) -> &'static str {
        (self.name)()
    }

    /// The type's [name among programs](Element::WIRE_NAME), if it has one.
    #[must_use]
    pub fn wire_name(&self) -> Option<&'static str> {
        self.wire_name
    }
}

fn debug<E: Element>(at: NonNull<u8>) -> NonNull<dyn Debug> {
    at.cast::<E>()
}

mod sealed {
    use super::ElementType;

    pub trait Described: Sized {
        /// The elements, at their places in the tuple.
        const ELEMENTS: &'static [ElementType];
    }
}

pub(crate) use sealed::Described;

/// A tuple of up to twelve [elements](Element). For no other type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tuple of elements",
    label = "a tuple is needed here",
    note = "a tuple of one element is written with a comma: `({Self},)`"
)]
pub trait Tuple: Described + Clone + Send + Sync + Debug + 'static {}

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
        impl<$($element: Element),*> Described for ($($element,)*) {
            const ELEMENTS: &'static [ElementType] =
                &[$(ElementType::new::<$element>(offset_of!(Self, $at))),*];
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

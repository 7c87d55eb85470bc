//! Tuples whose type is known when they are compiled.

use std::any::{TypeId, type_name};
use std::fmt::Debug;
use std::ptr::NonNull;

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
    /// That of an element at this offset in its tuples.
    pub(crate) const fn new<E: Debug + 'static>(
        wire_name: Option<&'static str>,
        offset: usize,
    ) -> Self {
        Self { id: TypeId::of::<E>(), name: type_name::<E>, wire_name, offset, debug: debug::<E> }
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

    /// The type's [name among programs](crate::Element::WIRE_NAME), if it has one.
    #[must_use]
    pub fn wire_name(&self) -> Option<&'static str> {
        self.wire_name
    }
}

fn debug<E: Debug + 'static>(at: NonNull<u8>) -> NonNull<dyn Debug> {
    at.cast::<E>()
}

mod sealed {
    use super::ElementType;

    pub trait TupleElements: Sized {
        /// The elements, at their places in the tuple.
        const ELEMENTS: &'static [ElementType];
    }
}

pub(crate) use sealed::TupleElements;

/// A tuple of up to twelve [elements](crate::Element). For no other type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tuple of elements",
    label = "a tuple is needed here",
    note = "a tuple of one element is written with a comma: `({Self},)`"
)]
pub trait Tuple: TupleElements + Clone + Send + Sync + Debug + 'static {}

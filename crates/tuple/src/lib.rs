//! Tuples of any types, copied on write, and atoms: what dynamically typed messages are made of.
//!
//! * [`AnyTuple`]: a tuple whose type the program knows; [`CowTuple`]: the same with its type.
//! * [`Element`]: what can be in one; [`Opaque`]: makes an element of anything else.
//! * [`Atom`]: a name that is an integer.
//!
//! After `any_tuple` and `cow_tuple` of libcppa ([Charousset and Schmidt
//! 2013](https://arxiv.org/abs/1301.0748), section 3.5).
//!
//! **Invariant:** this crate knows no actors and no runtime. Its `unsafe` is in `erased_tuple`.

mod any_tuple;
mod atom;
mod depth;
mod element;
mod erased_tuple;
mod into_tuple;
mod tuple;

#[cfg(test)]
mod tests;

pub use any_tuple::{AnyTuple, CowTuple, Types, short};
pub use atom::{Atom, AtomError};
pub use element::{Element, IntoElement, Opaque};
pub use into_tuple::IntoTuple;
pub use tuple::{ElementType, Tuple};

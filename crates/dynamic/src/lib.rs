//! The dynamically typed language of Coact: messages of any types, and cases that take them.
//!
//! * [`AnyTuple`] and [`Atom`]: what messages are made of.
//! * [`Cases`]: a partial function over tuples, written like a `match` by the macro `cases!`.
//!
//! After libcppa ([Charousset and Schmidt 2013](https://arxiv.org/abs/1301.0748), sections 3.5 and 4).
//!
//! Reading order: `shape` (what a case wants), `dispatch` (which cases a tuple can fit), `call` (what
//! the macro's code is given), `cases`.

#![forbid(unsafe_code)]

mod call;
mod cases;
mod dispatch;
mod shape;
mod unmatched;

pub use cases::Cases;
pub use coact_tuple::{
    AnyTuple, Atom, AtomError, CowTuple, Element, ElementType, IntoElement, IntoTuple, Opaque,
    Tuple, Types, atom,
};
pub use unmatched::Unmatched;

/// What the macro `cases!` writes, not for programs: not part of the interface, and subject to change
/// at any time.
#[doc(hidden)]
pub mod internals {
    pub use crate::call::{ByRef, ByValue, Call, Seen, run_body};
    pub use crate::shape::{Viewed, Wanted, extract, wanted_by};
}

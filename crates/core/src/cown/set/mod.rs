//! What can stand in front of a behaviour's closure: cowns, tuples, arrays and slices of them.

mod forms;
mod handles;
mod one;
mod owned;
mod slices;
mod tuples;

use std::mem::needs_drop;

use super::cursor::Cursor;
use crate::panic::drop_quietly;

pub use forms::{
    Checked, CheckedAll, CheckedRead, CheckedReadAll, ReadAll, Unchecked, UncheckedHandle,
    checked_all, read_all,
};
pub use handles::{AsCown, CownRef, Read};
pub(super) use handles::{view, view_mut};

/// A set of cowns that a behaviour needs, and how it needs each of them.
///
/// | set | the closure gets |
/// | --- | --- |
/// | `&a` | `&mut A` |
/// | `a` (a [`Cown<A>`](crate::Cown)) | [`Held<A>`](crate::cown::Held): like `&mut A`, with the handle |
/// | `a.read()` | `&A` |
/// | `a.checked()` | `Result<&mut A, Poisoned<A>>` |
/// | `a.read().checked()` | `Result<&A, PoisonedRead<A>>` |
/// | `(&a, b.read())`, up to 8 members | `(&mut A, &B)` |
/// | `[&a, &b]` | `[&mut A; 2]` |
/// | `&vec[..]`, `&vec` (of `Cown<A>` or `&Cown<A>`) | [`Members<A>`](crate::cown::Members) |
/// | `read_all(&vec)` | [`ReadMembers<A>`](crate::cown::ReadMembers) |
/// | `checked_all(&vec)` | [`CheckedMembers<A>`](crate::cown::CheckedMembers) |
/// | `read_all(&vec).checked()` | [`CheckedReadMembers<A>`](crate::cown::CheckedReadMembers) |
///
/// Tuples and arrays may hold any of these, tuples and slices too. Nothing is cloned or counted. In
/// the place of a cown there may be any handle of one ([`AsCown`]), such as the address of an actor.
///
/// The trait is sealed: its hidden items are no part of the public interface.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name the cowns of a behaviour",
    label = "expected `&cown`, `cown.read()`, `cown.checked()`, a slice of cowns, or a tuple of these",
    note = "a tuple may have up to 8 members; nest tuples or use a slice for more",
    note = "reading with `.read()` needs a state that is `Sync`"
)]
pub trait CownSet: sealed::Sealed {
    /// What the behaviour's closure gets.
    type Access<'a>;

    /// What is needed, beside the requests, to build the access.
    #[doc(hidden)]
    type Shape: Copy + Send + 'static;

    /// The same set with handles of its own.
    #[doc(hidden)]
    type Owned: for<'a> CownSet<Access<'a> = Self::Access<'a>, Owned = Self::Owned> + Send + 'static;

    /// Whether the set is always one cown, held exclusively.
    #[doc(hidden)]
    const SINGLE: bool = false;

    /// Whether some member of such a set may be held for reading.
    #[doc(hidden)]
    const HAS_READS: bool = true;

    /// Whether some handle of such a set may want to be told of behaviours: [`AsCown::ANNOUNCES`].
    #[doc(hidden)]
    const ANNOUNCES: bool = true;

    /// How many cowns such a set names, if these are always as many, and all held exclusively.
    #[doc(hidden)]
    const EXCLUSIVE: Option<usize> = None;

    /// Whether the set is one cown whose behaviours come in any case: [`Unchecked`].
    #[doc(hidden)]
    const UNCHECKED: bool = false;

    #[doc(hidden)]
    fn member_count(&self) -> usize;

    #[doc(hidden)]
    fn shape(&self) -> Self::Shape;

    #[doc(hidden)]
    fn to_owned_set(&self) -> Self::Owned;

    #[doc(hidden)]
    fn visit(&self, visitor: &mut sealed::Visitor<'_>);

    /// Gives the handles that are in the set by value to the behaviour that was made from it.
    #[doc(hidden)]
    fn give(self);

    /// Tells the handles of the set that a behaviour on it is about to be queued: [`AsCown::announce`]. Returns
    /// whether one of them is to be asked.
    #[doc(hidden)]
    fn announce_all(&self) -> bool;

    /// Tells them that this is over: [`AsCown::announced`].
    #[doc(hidden)]
    fn announced_all(&self);

    /// Asks the handles of the set, in their order, until one refuses: [`AsCown::admit`].
    #[doc(hidden)]
    fn admit_all(&self, admission: &mut sealed::Admission);

    /// Builds the access; it takes over the handles that were given.
    ///
    /// # Safety
    /// The behaviour holds the members that the cursor runs over for `'a`, and they are those that
    /// a set of this shape named and gave.
    #[doc(hidden)]
    unsafe fn access<'a>(shape: Self::Shape, members: &mut Cursor<'a>) -> Self::Access<'a>;

    /// Drops the handles that were given, of a behaviour that will not have its access.
    ///
    /// # Safety
    /// As for `access`, of which this takes the place; the members need not be held.
    #[doc(hidden)]
    unsafe fn abandon(shape: Self::Shape, members: &mut Cursor<'_>);
}

pub(crate) mod sealed {
    use crate::credits::Permit;
    use crate::queue::member::Member;

    /// Keeps [`CownSet`](super::CownSet) ours.
    pub trait Sealed {}

    /// What the handles of a set have said to a behaviour on it.
    #[derive(Default)]
    pub struct Admission {
        pub(crate) permits: Vec<Permit>,
        asked: usize,
        pub(crate) refused_by: Option<usize>,
    }

    impl Admission {
        /// Asks the next member, unless one has refused.
        pub(super) fn ask(&mut self, member: impl FnOnce() -> Option<Option<Permit>>) {
            if self.refused_by.is_some() {
                return;
            }
            match member() {
                Some(permit) => self.permits.extend(permit),
                None => self.refused_by = Some(self.asked),
            }
            self.asked += 1;
        }

        /// Counts a member that is not asked.
        pub(super) fn skip(&mut self) {
            self.asked += 1;
        }
    }

    /// Takes the members of a set one after the other.
    pub struct Visitor<'a>(pub(crate) &'a mut dyn FnMut(Member));

    impl Visitor<'_> {
        #[inline]
        pub(crate) fn member(&mut self, member: Member) {
            (self.0)(member);
        }
    }
}

/// Lets a set go of which the behaviour has nothing. What foreign handles do at their end must not
/// keep others, which are given away, from being forgotten.
#[inline]
fn forget<S>(set: S) {
    if needs_drop::<S>() {
        drop_quietly(move || drop(set));
    }
}

//! The sets of cowns that a behaviour can name: cowns, tuples, arrays and slices of them.

mod access_forms;
mod as_cown;
mod confirmed;
pub(crate) mod kind;
mod one;
mod owned;
mod pipelined;
mod slices;
mod tuples;
mod wrapped;

use std::mem::needs_drop;

use super::commit_participant::HeldParticipant;
use super::member_cursor::MemberCursor;
use crate::panic::drop_quietly;
use crate::sched::worker::bound::WorkerPlace;

pub use crate::cown::handle::{Checked, Read};
pub use access_forms::{
    CheckedAll, CheckedRead, CheckedReadAll, ReadAll, Unchecked, UncheckedHandle, UncheckedIn,
    checked_all, read_all,
};
use as_cown::look_at;
pub use as_cown::{AsCown, CownRef, SealedHandle};
pub(super) use as_cown::{view, view_mut};
pub use confirmed::{ConfirmedQuestion, confirmed};
pub use pipelined::{Pipelined, pipelined};

/// A set of cowns that a behaviour needs, with the access it needs to each.
///
/// | set | the closure receives |
/// | --- | --- |
/// | `&a` | `&mut A` |
/// | `a` (a [`Cown<A>`](crate::Cown)) | [`Held<A>`](crate::cown::Held): like `&mut A`, plus the handle |
/// | `a.read()` | `&A` |
/// | `a.checked()` | `Result<&mut A, Poisoned<A>>` |
/// | `a.read().checked()` | `Result<&A, PoisonedRead<A>>` |
/// | `(&a, b.read())`, up to 8 members | `(&mut A, &B)` |
/// | `[&a, &b]` | `[&mut A; 2]` |
/// | `&vec[..]`, `&vec` (of `Cown<A>` or `&Cown<A>`) | [`Members<A>`](crate::cown::Members) |
/// | `option.as_slice()` (of an `Option<Cown<A>>`) | [`Members<A>`](crate::cown::Members): one member, or none |
/// | `read_all(&vec)` | [`ReadMembers<A>`](crate::cown::ReadMembers) |
/// | `checked_all(&vec)` | [`CheckedMembers<A>`](crate::cown::CheckedMembers) |
/// | `read_all(&vec).checked()` | [`CheckedReadMembers<A>`](crate::cown::CheckedReadMembers) |
///
/// Tuples and arrays may contain any of these, including tuples and slices. Nothing is cloned or
/// counted. In place of a cown any handle of one ([`AsCown`]) is allowed, such as the address of an
/// actor.
///
/// The trait is sealed: its hidden items are not part of the public interface.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of cowns",
    label = "expected `&cown`, `cown.read()`, `cown.checked()`, a slice of cowns, or a tuple of these",
    note = "a tuple may have up to 8 members; nest tuples or use a slice for more",
    note = "for a cown that may be missing, use `option.as_slice()`",
    note = "reading with `.read()` needs a state that is `Sync`"
)]
pub trait CownSet: sealed::SealedSet {
    /// What the behaviour's closure receives.
    type Access<'a>;

    /// What is needed besides the requests to create the access.
    #[doc(hidden)]
    type Shape: Copy + Send + 'static;

    /// The same set with owned handles.
    #[doc(hidden)]
    type Owned: for<'a> CownSet<Access<'a> = Self::Access<'a>, Owned = Self::Owned> + Send + 'static;

    /// What is known of all such sets when the program is compiled.
    #[doc(hidden)]
    const KIND: kind::SetKind;

    /// Returns the worker on which a behaviour on such a set is to run, if it is a certain one.
    ///
    /// # Safety
    /// The caller holds the member of the cursor, which such a set has named.
    #[doc(hidden)]
    unsafe fn place(members: &mut MemberCursor<'_>) -> Option<WorkerPlace> {
        let _ = members;
        None
    }

    /// Shows the members that take part in a commit, in order.
    ///
    /// # Safety
    /// See `access`, which this does not replace; there is no access to the members meanwhile.
    #[doc(hidden)]
    unsafe fn visit_participants(
        shape: Self::Shape,
        members: &mut MemberCursor<'_>,
        look: &mut dyn FnMut(HeldParticipant<'_>),
    );

    #[doc(hidden)]
    fn member_count(&self) -> usize;

    #[doc(hidden)]
    fn shape(&self) -> Self::Shape;

    #[doc(hidden)]
    fn to_owned_set(&self) -> Self::Owned;

    /// Shows the members, in order. They are used as long as the set's handles, or what these are
    /// given to, keep the cowns alive, and no longer.
    #[doc(hidden)]
    fn visit(&self, visitor: &mut sealed::MemberVisitor<'_>);

    /// Gives the handles that are in the set by value to the behaviour created from it.
    #[doc(hidden)]
    fn give(self);

    /// Tells the handles of the set that a behaviour on it is about to be queued:
    /// [`AsCown::announce`]. Returns whether [`admit_all`](Self::admit_all) must be called.
    #[doc(hidden)]
    fn announce_all(&self) -> bool;

    /// Tells them that this is over: [`AsCown::announced`].
    #[doc(hidden)]
    fn announced_all(&self);

    /// Asks the handles of the set in order, until one refuses: [`AsCown::admit`].
    #[doc(hidden)]
    fn admit_all(&self, admission: &mut sealed::SetAdmission);

    /// Creates the access, which takes over the handles given by value.
    ///
    /// # Safety
    /// The behaviour holds the members of the cursor for `'a`, and they are those that a set of
    /// this shape named and gave.
    #[doc(hidden)]
    unsafe fn access<'a>(shape: Self::Shape, members: &mut MemberCursor<'a>) -> Self::Access<'a>;

    /// Drops the handles given by value, for a behaviour that does not get its access.
    ///
    /// # Safety
    /// See `access`, which this replaces; the members need not be held.
    #[doc(hidden)]
    unsafe fn abandon(shape: Self::Shape, members: &mut MemberCursor<'_>);
}

/// Refuses a set with durable members and with others that the closure may change, which nothing
/// would undo.
///
/// For an inline constant in each function that takes a set: so the compiler's error names the line
/// of the program that calls it. It is found when code is generated for that call: by
/// `cargo build`, not by `cargo check`. A bound cannot say it: whether a handle commits is a
/// constant of the actor's type, which has a default, and associated types have none.
pub const fn refuse_volatile_beside_durable<S: CownSet>() {
    assert!(
        !(S::KIND.commits && S::KIND.has_volatile),
        "beside durable members, others can only be read: name them with `.read()`, and change them in `on_commit`"
    );
}

pub(crate) mod sealed {
    use crate::credits::Permit;
    use crate::queue::requested_cown::RequestedCown;

    /// Seals [`CownSet`](super::CownSet).
    pub trait SealedSet {}

    /// The answers of a set's handles to a behaviour on it.
    #[derive(Default)]
    pub struct SetAdmission {
        pub(crate) permits: Vec<Permit>,
        asked: usize,
        pub(crate) refused_by: Option<usize>,
    }

    impl SetAdmission {
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

    /// Receives the members of a set one after the other.
    pub struct MemberVisitor<'a>(pub(crate) &'a mut dyn FnMut(RequestedCown));

    impl MemberVisitor<'_> {
        #[inline]
        pub(crate) fn member(&mut self, member: RequestedCown) {
            (self.0)(member);
        }
    }
}

/// Forgets a set whose handles the behaviour does not take over. The last handle of a cown drops
/// its state: a panic there must not keep other handles, which were given away, from being
/// forgotten.
#[inline]
fn forget<S>(set: S) {
    if needs_drop::<S>() {
        drop_quietly(move || drop(set));
    }
}

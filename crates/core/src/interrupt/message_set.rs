//! The set of a message: one interruptible cown in no group, whose state may say where the message
//! is to be handled.

use super::interruptible::Interruptible;
use crate::cown::commit_participant::HeldParticipant;
use crate::cown::layout::CownBox;
use crate::cown::member_cursor::MemberCursor;
use crate::cown::set::kind::SetKind;
use crate::cown::set::sealed::{MemberVisitor, SealedSet, SetAdmission};
use crate::cown::set::{CownSet, UncheckedIn};
use crate::sched::worker::bound::WorkerPlace;

/// An interruptible cown in no group, whose behaviour always runs: on a certain worker, if the
/// [state says so](Interruptible::place). See [`Cown::send_path`](crate::Cown::send_path).
#[derive(Debug)]
pub struct MessageTo<'c, T: Interruptible>(pub(super) UncheckedIn<'c, T, false>);

type PlainSet<'c, T> = UncheckedIn<'c, T, false>;

impl<T: Interruptible> SealedSet for MessageTo<'_, T> {}

impl<'c, T: Interruptible> CownSet for MessageTo<'c, T> {
    type Access<'a> = &'a mut T;
    type Shape = ();
    type Owned = <PlainSet<'c, T> as CownSet>::Owned;
    const KIND: SetKind = PlainSet::<'c, T>::KIND.placed(T::MAY_HAVE_PLACE);

    unsafe fn visit_participants(
        shape: (),
        members: &mut MemberCursor<'_>,
        look: &mut dyn FnMut(HeldParticipant<'_>),
    ) {
        // SAFETY: the conditions are those of this function.
        unsafe { PlainSet::<'c, T>::visit_participants(shape, members, look) };
    }

    #[inline]
    unsafe fn place(members: &mut MemberCursor<'_>) -> Option<WorkerPlace> {
        let cown = members.advance().live_cown();
        // SAFETY: the caller holds the cown, which is of type `T`, as this set names no other.
        unsafe { (*CownBox::<T>::state(cown)).place() }
    }

    #[inline]
    fn member_count(&self) -> usize {
        self.0.member_count()
    }

    #[inline]
    fn shape(&self) {}

    fn to_owned_set(&self) -> Self::Owned {
        self.0.to_owned_set()
    }

    #[inline]
    fn visit(&self, visitor: &mut MemberVisitor<'_>) {
        self.0.visit(visitor);
    }

    #[inline]
    fn give(self) {
        self.0.give();
    }

    #[inline]
    fn announce_all(&self) -> bool {
        self.0.announce_all()
    }

    #[inline]
    fn announced_all(&self) {
        self.0.announced_all();
    }

    fn admit_all(&self, admission: &mut SetAdmission) {
        self.0.admit_all(admission);
    }

    #[inline]
    unsafe fn access<'a>(shape: (), members: &mut MemberCursor<'a>) -> &'a mut T {
        // SAFETY: the conditions are those of this function.
        unsafe { PlainSet::<'c, T>::access(shape, members) }
    }

    unsafe fn abandon(shape: (), members: &mut MemberCursor<'_>) {
        // SAFETY: the conditions are those of this function.
        unsafe { PlainSet::<'c, T>::abandon(shape, members) };
    }
}

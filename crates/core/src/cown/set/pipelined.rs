//! Sets of states that [settle](super::AsCown::SETTLES), for behaviours that begin while what others have done to these is on its way to be kept, and
//! release them when what they have done themselves is.

use super::CownSet;
use super::sealed::{Sealed, SetAdmission, Visitor};
use crate::cown::member_cursor::MemberCursor;
use crate::cown::settling::SettlingMember;
use crate::sched::worker::bound::WorkerPlace;

/// A set of durable members, for a behaviour that waits for no commit but its own; see [`pipelined`].
#[derive(Clone, Copy, Debug)]
pub struct Pipelined<S>(S);

#[expect(missing_docs, reason = "the crate of durable actors says what it is, and shows it")]
#[inline]
pub fn pipelined<S: CownSet>(set: S) -> Pipelined<S> {
    const {
        assert!(
            S::SETTLES,
            "only behaviours over durable members are pipelined: others have nothing to wait for"
        );
    }
    Pipelined(set)
}

impl<S: CownSet> Sealed for Pipelined<S> {}

impl<S: CownSet> CownSet for Pipelined<S> {
    type Access<'a> = S::Access<'a>;
    type Shape = S::Shape;
    type Owned = Pipelined<S::Owned>;
    const SINGLE: bool = S::SINGLE;
    const HAS_READS: bool = S::HAS_READS;
    const ANNOUNCES: bool = S::ANNOUNCES;
    const EXCLUSIVE: Option<usize> = S::EXCLUSIVE;
    const UNCHECKED: bool = S::UNCHECKED;
    const GROUPED: Option<bool> = S::GROUPED;
    const MAY_HAVE_PLACE: bool = S::MAY_HAVE_PLACE;
    const SETTLES: bool = S::SETTLES;
    const PIPELINED: bool = true;
    const HAS_VOLATILE: bool = S::HAS_VOLATILE;

    unsafe fn place(members: &mut MemberCursor<'_>) -> Option<WorkerPlace> {
        // SAFETY: the conditions are those of this function, here and below.
        unsafe { S::place(members) }
    }

    unsafe fn settling(
        shape: S::Shape,
        members: &mut MemberCursor<'_>,
        look: &mut dyn FnMut(SettlingMember<'_>),
    ) {
        // SAFETY: see `place`.
        unsafe { S::settling(shape, members, look) };
    }

    fn member_count(&self) -> usize {
        self.0.member_count()
    }

    fn shape(&self) -> S::Shape {
        self.0.shape()
    }

    fn to_owned_set(&self) -> Self::Owned {
        Pipelined(self.0.to_owned_set())
    }

    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.0.visit(visitor);
    }

    fn give(self) {
        self.0.give();
    }

    fn announce_all(&self) -> bool {
        self.0.announce_all()
    }

    fn announced_all(&self) {
        self.0.announced_all();
    }

    fn admit_all(&self, admission: &mut SetAdmission) {
        self.0.admit_all(admission);
    }

    unsafe fn access<'a>(shape: S::Shape, members: &mut MemberCursor<'a>) -> S::Access<'a> {
        // SAFETY: see `place`.
        unsafe { S::access(shape, members) }
    }

    unsafe fn abandon(shape: S::Shape, members: &mut MemberCursor<'_>) {
        // SAFETY: see `place`.
        unsafe { S::abandon(shape, members) };
    }
}

//! Arrays and tuples of sets.

use super::CownSet;
use super::kind::SetKind;
use super::sealed::{MemberVisitor, SealedSet, SetAdmission};
use crate::cown::commit_participant::HeldParticipant;
use crate::cown::member_cursor::MemberCursor;

impl<S: CownSet, const N: usize> SealedSet for [S; N] {}

impl<S: CownSet, const N: usize> CownSet for [S; N] {
    type Access<'a> = [S::Access<'a>; N];
    type Shape = [S::Shape; N];
    type Owned = [S::Owned; N];
    const KIND: SetKind = S::KIND.times(N);

    fn member_count(&self) -> usize {
        self.iter().map(CownSet::member_count).sum()
    }

    fn shape(&self) -> Self::Shape {
        std::array::from_fn(|index| self[index].shape())
    }

    fn to_owned_set(&self) -> Self::Owned {
        std::array::from_fn(|index| self[index].to_owned_set())
    }

    fn visit(&self, visitor: &mut MemberVisitor<'_>) {
        self.iter().for_each(|set| set.visit(visitor));
    }

    fn give(self) {
        self.into_iter().for_each(CownSet::give);
    }

    fn announce_all(&self) -> bool {
        self.iter().fold(false, |asks, set| set.announce_all() | asks)
    }

    fn announced_all(&self) {
        self.iter().for_each(CownSet::announced_all);
    }

    fn admit_all(&self, admission: &mut SetAdmission) {
        self.iter().for_each(|set| set.admit_all(admission));
    }

    unsafe fn access<'a>(shape: Self::Shape, members: &mut MemberCursor<'a>) -> Self::Access<'a> {
        // SAFETY: the members of the parts follow each other, in the order in which `visit` named
        // them.
        shape.map(|shape| unsafe { S::access(shape, members) })
    }

    unsafe fn visit_participants(
        shape: Self::Shape,
        members: &mut MemberCursor<'_>,
        look: &mut dyn FnMut(HeldParticipant<'_>),
    ) {
        // SAFETY: the members of the parts follow each other, in the order in which `visit` named
        // them.
        shape.into_iter().for_each(|shape| unsafe { S::visit_participants(shape, members, look) });
    }

    unsafe fn abandon(shape: Self::Shape, members: &mut MemberCursor<'_>) {
        // SAFETY: the members of the parts follow each other, in the order in which `visit` named
        // them.
        shape.into_iter().for_each(|shape| unsafe { S::abandon(shape, members) });
    }
}

macro_rules! tuple_of_sets {
    ($($name:ident . $index:tt),*) => {
        impl<$($name: CownSet),*> SealedSet for ($($name,)*) {}

        #[allow(unused_variables, unused_unsafe, clippy::unused_unit)]
        impl<$($name: CownSet),*> CownSet for ($($name,)*) {
            type Access<'a> = ($($name::Access<'a>,)*);
            type Shape = ($($name::Shape,)*);
            type Owned = ($($name::Owned,)*);
            const KIND: SetKind = SetKind::EMPTY$(.and($name::KIND))*;

            #[inline]
            fn member_count(&self) -> usize {
                0 $(+ self.$index.member_count())*
            }

            #[inline]
            fn shape(&self) -> Self::Shape {
                ($(self.$index.shape(),)*)
            }

            fn to_owned_set(&self) -> Self::Owned {
                ($(self.$index.to_owned_set(),)*)
            }

            #[inline]
            fn visit(&self, visitor: &mut MemberVisitor<'_>) {
                $(self.$index.visit(visitor);)*
            }

            #[inline]
            unsafe fn access<'a>(shape: Self::Shape, members: &mut MemberCursor<'a>) -> Self::Access<'a> {
                // SAFETY: the members of the parts follow each other, in the order in which `visit`
                // named them; a tuple expression is evaluated from left to right.
                unsafe { ($($name::access(shape.$index, members),)*) }
            }

            #[inline]
            fn give(self) {
                $(self.$index.give();)*
            }

            #[inline]
            fn announce_all(&self) -> bool {
                false $(| self.$index.announce_all())*
            }

            #[inline]
            fn announced_all(&self) {
                $(self.$index.announced_all();)*
            }

            fn admit_all(&self, admission: &mut SetAdmission) {
                $(self.$index.admit_all(admission);)*
            }

            unsafe fn visit_participants(
                shape: Self::Shape,
                members: &mut MemberCursor<'_>,
                look: &mut dyn FnMut(HeldParticipant<'_>),
            ) {
                // SAFETY: the members of the parts follow each other, in the order in which `visit`
                // named them.
                unsafe { $($name::visit_participants(shape.$index, members, look);)* }
            }

            unsafe fn abandon(shape: Self::Shape, members: &mut MemberCursor<'_>) {
                // SAFETY: the members of the parts follow each other, in the order in which `visit`
                // named them.
                unsafe { $($name::abandon(shape.$index, members);)* }
            }
        }
    };
}

tuple_of_sets!();
tuple_of_sets!(A.0);
tuple_of_sets!(A.0, B.1);
tuple_of_sets!(A.0, B.1, C.2);
tuple_of_sets!(A.0, B.1, C.2, D.3);
tuple_of_sets!(A.0, B.1, C.2, D.3, E.4);
tuple_of_sets!(A.0, B.1, C.2, D.3, E.4, F.5);
tuple_of_sets!(A.0, B.1, C.2, D.3, E.4, F.5, G.6);
tuple_of_sets!(A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7);

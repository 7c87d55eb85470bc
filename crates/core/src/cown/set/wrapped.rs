//! Wrappers of a set that only change how its behaviours commit.

/// Implements [`CownSet`](super::CownSet) for a wrapper of a set, of a kind of its own.
macro_rules! wrapped_set {
    ($wrapper:ident, $kind:expr) => {
        impl<S: CownSet> SealedSet for $wrapper<S> {}

        impl<S: CownSet> CownSet for $wrapper<S> {
            type Access<'a> = S::Access<'a>;
            type Shape = S::Shape;
            type Owned = $wrapper<S::Owned>;
            const KIND: SetKind = $kind;

            unsafe fn place(members: &mut MemberCursor<'_>) -> Option<WorkerPlace> {
                // SAFETY: the members of the wrapper are those of the set, in the same order, so
                // what the caller grants holds for the set; here and below.
                unsafe { S::place(members) }
            }

            unsafe fn visit_participants(
                shape: S::Shape,
                members: &mut MemberCursor<'_>,
                look: &mut dyn FnMut(HeldParticipant<'_>),
            ) {
                // SAFETY: see `place`.
                unsafe { S::visit_participants(shape, members, look) };
            }

            fn member_count(&self) -> usize {
                self.0.member_count()
            }

            fn shape(&self) -> S::Shape {
                self.0.shape()
            }

            fn to_owned_set(&self) -> Self::Owned {
                $wrapper(self.0.to_owned_set())
            }

            fn visit(&self, visitor: &mut MemberVisitor<'_>) {
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
    };
}

pub(super) use wrapped_set;

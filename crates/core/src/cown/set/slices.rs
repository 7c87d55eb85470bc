//! Slices of cowns as sets.

use super::as_cown::exclusive;
use super::kind::SetKind;
use super::owned::{OwnedCheckedAll, OwnedCheckedReadAll, OwnedReadAll, OwnedSlice};
use super::sealed::{MemberVisitor, SealedSet, SetAdmission};
use super::{AsCown, CheckedAll, CheckedReadAll, CownRef, CownSet, ReadAll, forget, look_at};
use crate::cown::checked_access::{CheckedMembers, CheckedReadMembers};
use crate::cown::commit_participant::HeldParticipant;
use crate::cown::member_cursor::MemberCursor;
use crate::cown::slice_access::{Members, ReadMembers};
use crate::queue::requested_cown::RequestedCown;

/// One kind of slice, in its borrowed and its owned form.
macro_rules! slice_of_cowns {
    ([$($generics:tt)*] $set:ty, of $handle:ty, $owned:ident, $access:ident, reads: $reads:expr, |$this:ident| $slice:expr, member: $member:path) => {
        impl<$($generics)*> SealedSet for $set {}

        impl<$($generics)*> CownSet for $set {
            type Access<'a> = $access<'a, <$handle as AsCown>::View, $handle>;
            type Shape = usize;
            type Owned = $owned<$handle>;
            const KIND: SetKind = if $reads {
                SetKind::read::<$handle>()
            } else {
                SetKind::slice::<$handle>()
            };

            unsafe fn visit_participants(
                len: usize,
                members: &mut MemberCursor<'_>,
                look: &mut dyn FnMut(HeldParticipant<'_>),
            ) {
                for _ in 0..len {
                    let member = members.advance();
                    // SAFETY: the next `len` members are those of the slice, and held, as this
                    // function requires.
                    unsafe { look_at::<$handle>(member.live_cown(), $reads, look) };
                }
            }

            fn member_count(&self) -> usize {
                let $this = self;
                $slice.len()
            }

            fn shape(&self) -> usize {
                self.member_count()
            }

            fn to_owned_set(&self) -> Self::Owned {
                let $this = self;
                $owned($slice.iter().map(|cown| cown.handle().clone()).collect())
            }

            fn visit(&self, visitor: &mut MemberVisitor<'_>) {
                let $this = self;
                for cown in $slice.iter() {
                    // SAFETY: the handle keeps the cown alive as long as the member may be used, as
                    // `visit` says.
                    visitor.member($member(unsafe { cown.handle().as_cown().live_cown() }));
                }
            }

            fn give(self) {
                forget(self);
            }

            fn announce_all(&self) -> bool {
                let $this = self;
                $slice.iter().fold(false, |asks, cown| cown.handle().announce() | asks)
            }

            fn announced_all(&self) {
                let $this = self;
                $slice.iter().for_each(|cown| cown.handle().announced());
            }

            fn admit_all(&self, admission: &mut SetAdmission) {
                let $this = self;
                $slice.iter().for_each(|cown| admission.ask(|| cown.handle().admit()));
            }

            unsafe fn access<'a>(len: usize, members: &mut MemberCursor<'a>) -> Self::Access<'a> {
                // SAFETY: the next `len` members are those of the slice, and held as `access`
                // requires.
                unsafe { $access::new(members.split(len)) }
            }

            unsafe fn abandon(len: usize, members: &mut MemberCursor<'_>) {
                members.split(len);
            }
        }
    };
}

slice_of_cowns!([R: CownRef] &[R], of R::Handle, OwnedSlice, Members,
    reads: false, |this| this, member: exclusive::<R::Handle>);
slice_of_cowns!([R: CownRef] &Vec<R>, of R::Handle, OwnedSlice, Members,
    reads: false, |this| this, member: exclusive::<R::Handle>);
slice_of_cowns!([R: CownRef, const N: usize] &[R; N], of R::Handle, OwnedSlice, Members,
    reads: false, |this| this, member: exclusive::<R::Handle>);
slice_of_cowns!([H: AsCown] OwnedSlice<H>, of H, OwnedSlice, Members,
    reads: false, |this| this.0, member: exclusive::<H>);
slice_of_cowns!([R: CownRef] ReadAll<'_, <R::Handle as AsCown>::View, R>,
    of R::Handle, OwnedReadAll, ReadMembers, reads: true, |this| this.0, member: RequestedCown::read);
slice_of_cowns!([H: AsCown] OwnedReadAll<H>, of H, OwnedReadAll, ReadMembers,
    reads: true, |this| this.0, member: RequestedCown::read);
slice_of_cowns!([R: CownRef] CheckedAll<'_, <R::Handle as AsCown>::View, R>,
    of R::Handle, OwnedCheckedAll, CheckedMembers, reads: false, |this| this.0, member: RequestedCown::checked);
slice_of_cowns!([H: AsCown] OwnedCheckedAll<H>, of H, OwnedCheckedAll, CheckedMembers,
    reads: false, |this| this.0, member: RequestedCown::checked);
slice_of_cowns!([R: CownRef<Handle: AsCown<State: Sync>>]
    CheckedReadAll<'_, <R::Handle as AsCown>::View, R>, of R::Handle, OwnedCheckedReadAll,
    CheckedReadMembers, reads: true, |this| this.0, member: RequestedCown::checked_read);
slice_of_cowns!([H: AsCown<State: Sync>] OwnedCheckedReadAll<H>, of H, OwnedCheckedReadAll,
    CheckedReadMembers, reads: true, |this| this.0, member: RequestedCown::checked_read);

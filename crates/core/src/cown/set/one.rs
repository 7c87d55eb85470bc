//! Sets of one cown.

use super::as_cown::exclusive;
use super::kind::SetKind;
use super::owned::{OwnedChecked, OwnedCheckedRead, OwnedExclusive, OwnedRead, OwnedUnchecked};
use super::sealed::{MemberVisitor, SealedSet, SetAdmission};
use super::{
    AsCown, Checked, CheckedRead, CownSet, Read, Unchecked, UncheckedHandle, UncheckedIn, forget,
    look_at, view, view_mut,
};
use crate::cown::access_guards::{Held, Poisoned};
use crate::cown::checked_access::{self, PoisonedRead};
use crate::cown::commit_participant::HeldParticipant;
use crate::cown::handle::Cown;
use crate::cown::layout::CownBox;
use crate::cown::member_cursor::MemberCursor;
use crate::queue::live_cown::LiveCown;
use crate::queue::requested_cown::RequestedCown;

/// One kind of single member, in its borrowed and its owned form.
macro_rules! one_cown {
    ([$($generics:tt)*] $set:ty, $owned:ty, $access:ty, of: $handle:ty,
     kind: $kind:expr, |$this:ident| $cown:expr, own: $own:expr, member: $member:path, |$ptr:ident| $get:expr) => {
        impl<$($generics)*> SealedSet for $set {}

        impl<$($generics)*> CownSet for $set {
            type Access<'a> = $access;
            type Shape = ();
            type Owned = $owned;
            const KIND: SetKind = $kind;

            unsafe fn visit_participants(
                (): (),
                members: &mut MemberCursor<'_>,
                look: &mut dyn FnMut(HeldParticipant<'_>),
            ) {
                let member = members.advance();
                // SAFETY: the member is one of the handle's, and held, as this function requires.
                unsafe { look_at::<$handle>(member.live_cown(), Self::KIND.has_reads, look) };
            }

            #[inline]
            fn member_count(&self) -> usize {
                1
            }

            #[inline]
            fn shape(&self) {}

            fn to_owned_set(&self) -> $owned {
                let $this = self;
                #[allow(clippy::redundant_closure_call)]
                ($own)($cown.clone())
            }

            #[inline]
            fn visit(&self, visitor: &mut MemberVisitor<'_>) {
                let $this = self;
                // SAFETY: the handle keeps the cown alive as long as the member may be used, as
                // `visit` says.
                visitor.member($member(unsafe { $cown.as_cown().live_cown() }));
            }

            #[inline]
            fn give(self) {
                forget(self);
            }

            #[inline]
            fn announce_all(&self) -> bool {
                let $this = self;
                $cown.announce()
            }

            #[inline]
            fn announced_all(&self) {
                let $this = self;
                $cown.announced();
            }

            fn admit_all(&self, admission: &mut SetAdmission) {
                let $this = self;
                admission.ask(|| $cown.admit());
            }

            #[inline]
            unsafe fn access<'a>((): (), members: &mut MemberCursor<'a>) -> $access {
                let $ptr = members.advance().live_cown();
                // SAFETY: the member is of its type, and held with the access it asks for, as
                // `access` requires.
                unsafe { $get }
            }

            unsafe fn abandon((): (), members: &mut MemberCursor<'_>) {
                members.advance();
            }
        }
    };
}

one_cown!([H: AsCown] &H, OwnedExclusive<H>, &'a mut H::View, of: H,
    kind: SetKind::exclusive::<H>(), |this| *this,
    own: OwnedExclusive, member: exclusive::<H>, |cown| view_mut::<H>(cown));
one_cown!([H: AsCown] OwnedExclusive<H>, OwnedExclusive<H>, &'a mut H::View, of: H,
    kind: SetKind::exclusive::<H>(), |this| this.0,
    own: OwnedExclusive, member: exclusive::<H>, |cown| view_mut::<H>(cown));
one_cown!([H: AsCown] Read<'_, H::View, H>, OwnedRead<H>, &'a H::View, of: H,
    kind: SetKind::read::<H>(), |this| this.0,
    own: OwnedRead, member: RequestedCown::read, |cown| view::<H>(cown));
one_cown!([H: AsCown] OwnedRead<H>, OwnedRead<H>, &'a H::View, of: H,
    kind: SetKind::read::<H>(), |this| this.0,
    own: OwnedRead, member: RequestedCown::read, |cown| view::<H>(cown));
one_cown!([T: Send + Sync + 'static] CheckedRead<'_, T>, OwnedCheckedRead<T>,
    Result<&'a T, PoisonedRead<'a, T>>, of: Cown<T>, kind: SetKind::read::<Cown<T>>(),
    |this| this.0, own: OwnedCheckedRead, member: RequestedCown::checked_read,
    |cown| checked_access::read_one::<Cown<T>>(cown));
one_cown!([T: Send + Sync + 'static] OwnedCheckedRead<T>, OwnedCheckedRead<T>,
    Result<&'a T, PoisonedRead<'a, T>>, of: Cown<T>, kind: SetKind::read::<Cown<T>>(),
    |this| this.0, own: OwnedCheckedRead, member: RequestedCown::checked_read,
    |cown| checked_access::read_one::<Cown<T>>(cown));
one_cown!([T: Send + 'static] Checked<'_, T>, OwnedChecked<T>,
    Result<&'a mut T, Poisoned<'a, T>>, of: Cown<T>, kind: SetKind::exclusive::<Cown<T>>(),
    |this| this.0, own: OwnedChecked, member: RequestedCown::checked, |cown| hold_checked(cown));
one_cown!([T: Send + 'static] OwnedChecked<T>, OwnedChecked<T>,
    Result<&'a mut T, Poisoned<'a, T>>, of: Cown<T>, kind: SetKind::exclusive::<Cown<T>>(),
    |this| this.0, own: OwnedChecked, member: RequestedCown::checked, |cown| hold_checked(cown));
one_cown!([T: Send + 'static] Unchecked<'_, T>, OwnedUnchecked<T>, &'a mut T, of: Cown<T>,
    kind: SetKind::exclusive::<Cown<T>>().unchecked(), |this| this.0,
    own: OwnedUnchecked, member: RequestedCown::checked, |cown| view_mut::<Cown<T>>(cown));
one_cown!([T: Send + 'static, const GROUPED: bool] UncheckedIn<'_, T, GROUPED>,
    OwnedUnchecked<T>, &'a mut T, of: Cown<T>,
    kind: SetKind::exclusive::<Cown<T>>().unchecked().grouped(GROUPED), |this| this.0,
    own: OwnedUnchecked, member: RequestedCown::checked, |cown| view_mut::<Cown<T>>(cown));
one_cown!([T: Send + 'static] OwnedUnchecked<T>, OwnedUnchecked<T>, &'a mut T, of: Cown<T>,
    kind: SetKind::exclusive::<Cown<T>>().unchecked(), |this| this.0,
    own: OwnedUnchecked, member: RequestedCown::checked, |cown| view_mut::<Cown<T>>(cown));

impl<T: Send + 'static> SealedSet for Cown<T> {}

/// By value: the behaviour owns the handle, and the closure receives it with the state.
impl<T: Send + 'static> CownSet for Cown<T> {
    type Access<'a> = Held<'a, T>;
    type Shape = ();
    type Owned = Cown<T>;
    const KIND: SetKind = SetKind::exclusive::<Self>();

    unsafe fn visit_participants(
        (): (),
        members: &mut MemberCursor<'_>,
        _: &mut dyn FnMut(HeldParticipant<'_>),
    ) {
        members.advance();
    }

    #[inline]
    fn member_count(&self) -> usize {
        1
    }

    #[inline]
    fn shape(&self) {}

    fn to_owned_set(&self) -> Self {
        self.clone()
    }

    #[inline]
    fn visit(&self, visitor: &mut MemberVisitor<'_>) {
        // SAFETY: the handle keeps the cown alive as long as the member may be used, as `visit`
        // says.
        visitor.member(RequestedCown::exclusive(unsafe { self.live_cown() }));
    }

    #[inline]
    fn give(self) {
        std::mem::forget(self);
    }

    #[inline]
    fn announce_all(&self) -> bool {
        false
    }

    fn announced_all(&self) {}

    fn admit_all(&self, admission: &mut SetAdmission) {
        admission.skip();
    }

    #[inline]
    unsafe fn access<'a>((): (), members: &mut MemberCursor<'a>) -> Held<'a, T> {
        let cown = members.advance().live_cown();
        // SAFETY: the cown is of type `T` and held; `give` has left a handle for this.
        unsafe { Held::new(&mut *CownBox::<T>::state(cown), Cown::from_header(cown)) }
    }

    unsafe fn abandon((): (), members: &mut MemberCursor<'_>) {
        // SAFETY: `give` has left a handle for this.
        drop(unsafe { Cown::<T>::from_header(members.advance().live_cown()) });
    }
}

impl<T: Send + 'static> SealedSet for UncheckedHandle<T> {}

/// Like a cown by value, except for the form in which it is named.
impl<T: Send + 'static> CownSet for UncheckedHandle<T> {
    type Access<'a> = Held<'a, T>;
    type Shape = ();
    type Owned = Self;
    const KIND: SetKind = SetKind::exclusive::<Cown<T>>().unchecked();

    unsafe fn visit_participants(
        (): (),
        members: &mut MemberCursor<'_>,
        _: &mut dyn FnMut(HeldParticipant<'_>),
    ) {
        members.advance();
    }

    fn member_count(&self) -> usize {
        1
    }

    fn shape(&self) {}

    fn to_owned_set(&self) -> Self {
        Self(self.0.clone())
    }

    fn visit(&self, visitor: &mut MemberVisitor<'_>) {
        // SAFETY: the handle keeps the cown alive as long as the member may be used, as `visit`
        // says.
        visitor.member(RequestedCown::checked(unsafe { self.0.live_cown() }));
    }

    fn announce_all(&self) -> bool {
        false
    }

    fn announced_all(&self) {}

    fn admit_all(&self, admission: &mut SetAdmission) {
        admission.skip();
    }

    fn give(self) {
        self.0.give();
    }

    unsafe fn access<'a>((): (), members: &mut MemberCursor<'a>) -> Held<'a, T> {
        // SAFETY: the conditions are those of this function.
        unsafe { Cown::<T>::access((), members) }
    }

    unsafe fn abandon((): (), members: &mut MemberCursor<'_>) {
        // SAFETY: the conditions are those of this function.
        unsafe { Cown::<T>::abandon((), members) };
    }
}

/// # Safety
/// The caller holds the cown exclusively for `'a`, and it is of type `T`.
unsafe fn hold_checked<'a, T>(cown: LiveCown) -> Result<&'a mut T, Poisoned<'a, T>> {
    // SAFETY: the caller holds the cown, which is of type `T`, exclusively for `'a`.
    unsafe {
        if cown.header().is_poisoned() {
            Err(Poisoned::new(cown))
        } else {
            Ok(&mut *CownBox::<T>::state(cown))
        }
    }
}

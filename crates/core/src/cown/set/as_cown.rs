//! Handles of cowns, and the views of the state that they show to behaviours.

use std::marker::PhantomData;

use crate::cown::commit_participant::{CommitParticipant, HeldParticipant};
use crate::cown::handle::{Cown, Read};
use crate::cown::layout::CownBox;
use crate::credits::Permit;
use crate::queue::live_cown::LiveCown;
use crate::queue::requested_cown::RequestedCown;

/// Seals [`AsCown`] and [`CownRef`]: only the crates of the project have handles of cowns.
///
/// The scheduler relies on what these promise. A handle and its clones name one and the same cown
/// whenever they are asked. What they are asked for runs no code of the user, and does not panic.
pub trait SealedHandle {}

impl<T: Send + 'static> SealedHandle for Cown<T> {}

impl<H: SealedHandle> SealedHandle for &H {}

/// A handle of a cown that shows some part of the state to behaviours: the cown itself, or the
/// address of an actor. Sealed: there are no others.
pub trait AsCown: SealedHandle + Clone + Send + 'static {
    /// The cown's state.
    type State: Send + 'static;

    /// The part of the state that behaviours see.
    type View: 'static;

    /// Whether behaviours run [unchecked](Cown::unchecked), whatever the cown's condition.
    const UNCHECKED: bool = false;

    /// Returns the cown.
    fn as_cown(&self) -> &Cown<Self::State>;

    /// Returns the view for reading. Called while the cown is held; must not panic.
    fn view(state: &Self::State) -> &Self::View;

    /// Returns the view. Called while the cown is held exclusively; must not panic.
    fn view_mut(state: &mut Self::State) -> &mut Self::View;

    /// Whether handles of this type need calls of [`announce`](Self::announce) at all.
    const ANNOUNCES: bool = true;

    /// Called before a behaviour that names this handle is queued, on the thread that spawns it.
    /// For handles of states that keep an order of their own besides that of the queue. Must not
    /// panic. (A behaviour of [`when_here`](crate::when_here) that runs at once is never queued.)
    ///
    /// Returns whether [`admit`](Self::admit) must be called before the behaviour is queued.
    #[inline]
    fn announce(&self) -> bool {
        false
    }

    /// Called on the same thread after each [`announce`](Self::announce): when the behaviour is in
    /// all its queues, or is not going to be queued. Must not panic.
    #[inline]
    fn announced(&self) {}

    /// Called before a behaviour that names this handle is queued, if [`announce`](Self::announce)
    /// requires it: `None` refuses the behaviour. The permit, if there is one, is dropped when the
    /// behaviour begins, or is dropped without running. Must not block.
    fn admit(&self) -> Option<Option<Permit>> {
        Some(None)
    }

    /// Whether behaviours on the state end with a [commit](CommitParticipant): they are detained
    /// until what they have changed is committed.
    const COMMITS: bool = false;

    /// Returns the state's part in a commit, for a behaviour that holds it for reading.
    fn commit_participant(state: &Self::State) -> Option<&dyn CommitParticipant> {
        let _ = state;
        None
    }

    /// Returns the state's part in a commit, for a behaviour that holds it exclusively.
    fn commit_participant_mut(state: &mut Self::State) -> Option<&mut dyn CommitParticipant> {
        let _ = state;
        None
    }

    /// Names this handle for reading: the closure receives a shared reference, and adjacent readers
    /// in the cown's order run in parallel.
    fn read(&self) -> Read<'_, Self::View, Self>
    where
        Self::State: Sync,
    {
        Read(self, PhantomData)
    }
}

impl<T: Send + 'static> AsCown for Cown<T> {
    type State = T;
    type View = T;
    const ANNOUNCES: bool = false;

    #[inline]
    fn as_cown(&self) -> &Cown<T> {
        self
    }

    #[inline]
    fn view(state: &T) -> &T {
        state
    }

    #[inline]
    fn view_mut(state: &mut T) -> &mut T {
        state
    }
}

/// The elements of a slice that names cowns: handles ([`AsCown`]), or references to them, such as
/// `&Cown<T>`. Sealed, as these are.
pub trait CownRef: SealedHandle {
    /// The handle type.
    type Handle: AsCown;

    /// Returns the handle.
    fn handle(&self) -> &Self::Handle;
}

impl<H: AsCown> CownRef for H {
    type Handle = H;

    #[inline]
    fn handle(&self) -> &H {
        self
    }
}

impl<T: Send + 'static> CownRef for &Cown<T> {
    type Handle = Cown<T>;

    #[inline]
    fn handle(&self) -> &Cown<T> {
        self
    }
}

/// How a handle names its cown for exclusive access.
#[inline]
pub(super) fn exclusive<H: AsCown>(cown: LiveCown) -> RequestedCown {
    if H::UNCHECKED { RequestedCown::checked(cown) } else { RequestedCown::exclusive(cown) }
}

/// Returns the view of a held cown.
///
/// # Safety
/// The cown is one of `H`'s, and held for reading for `'a`; if its state is not [`Sync`], it is
/// held exclusively. (A [`Read`] exists only for states that are `Sync`.)
#[inline]
pub(in crate::cown) unsafe fn view<'a, H: AsCown>(cown: LiveCown) -> &'a H::View {
    // SAFETY: the cown is one of `H`'s and held for `'a`.
    H::view(unsafe { &*CownBox::<H::State>::state(cown) })
}

/// Returns the view of a held cown mutably.
///
/// # Safety
/// The cown is one of `H`'s, and held exclusively for `'a`; there is no other reference to its
/// state.
#[inline]
pub(in crate::cown) unsafe fn view_mut<'a, H: AsCown>(cown: LiveCown) -> &'a mut H::View {
    // SAFETY: the cown is one of `H`'s and held exclusively for `'a`, without another reference.
    H::view_mut(unsafe { &mut *CownBox::<H::State>::state(cown) })
}

/// Shows a held cown's part in a commit, if it has one.
///
/// # Safety
/// The cown is one of `H`'s, and held for as long as `look` runs: exclusively, unless `is_read`.
/// There is no other reference to its state meanwhile but those of readers.
pub(super) unsafe fn look_at<H: AsCown>(
    cown: LiveCown,
    is_read: bool,
    look: &mut dyn FnMut(HeldParticipant<'_>),
) {
    if !H::COMMITS {
        return;
    }
    // SAFETY: the cown is one of `H`'s, and held as this function requires.
    let member = unsafe {
        let state = CownBox::<H::State>::state(cown);
        if is_read {
            H::commit_participant(&*state).map(HeldParticipant::Read)
        } else {
            H::commit_participant_mut(&mut *state).map(HeldParticipant::Exclusive)
        }
    };
    member.into_iter().for_each(look);
}

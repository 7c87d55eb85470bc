//! Handles of cowns, and what behaviours see through them.

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::cown::handle::Cown;
use crate::cown::layout::CownBox;
use crate::credits::Permit;
use crate::queue::header::CownHeader;
use crate::queue::member::Member;

/// What a form of a set knows of its handles' type: exactly that it is this one. Another that it could be coerced to may
/// have another state behind the same view, for which the form could not have been made.
pub(crate) type Exactly<T, H> = PhantomData<(fn() -> T, fn(H) -> H)>;

/// A cown held for reading; see [`Cown::read`].
///
/// One exists only where the state is [`Sync`]: it is looked for where it is made, so that what is wrong is
/// told there, and once.
#[derive(Debug)]
pub struct Read<'c, T, H = Cown<T>>(pub(crate) &'c H, pub(crate) Exactly<T, H>);

/// A handle that stands for a cown, and shows some part of its state to behaviours: the cown itself,
/// or the address of an actor.
pub trait AsCown: Clone + Send + 'static {
    /// The cown's state.
    type State: Send + 'static;

    /// The part of it that behaviours see.
    type View: 'static;

    /// Whether behaviours come [unchecked](Cown::unchecked) of the cown's condition.
    const UNCHECKED: bool = false;

    /// The cown.
    fn as_cown(&self) -> &Cown<Self::State>;

    /// The view for reading. It is called with the cown held, and must not panic.
    fn view(state: &Self::State) -> &Self::View;

    /// The view. It is called with the cown held exclusively, and must not panic.
    fn view_mut(state: &mut Self::State) -> &mut Self::View;

    /// Whether handles of this type want [`announce`](Self::announce) to be called at all.
    const ANNOUNCES: bool = true;

    /// Called before a behaviour that names this handle is queued, by the thread that spawns it. For handles of
    /// states that keep an order of their own beside that of the queue. Must not panic. (A behaviour of
    /// [`when_here`](crate::when_here) that has its turn at once is never queued.)
    ///
    /// Returns whether the handle is to be asked first whether the behaviour may be queued:
    /// [`admit`](Self::admit).
    #[inline]
    fn announce(&self) -> bool {
        false
    }

    /// Called by the same thread after each [`announce`](Self::announce): once the behaviour stands in all its
    /// queues, or will not. Must not panic.
    #[inline]
    fn announced(&self) {}

    /// Asked before a behaviour that names this handle is queued, if [`announce`](Self::announce) says so:
    /// `None` refuses it. The permit, if there is one, is dropped when the behaviour begins, or is dropped
    /// unrun. Must not block.
    fn admit(&self) -> Option<Option<Permit>> {
        Some(None)
    }

    /// This handle as a member of a set that is held for reading: the closure gets a shared
    /// reference, and readers that stand next to each other in the cown's order run in parallel.
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

/// What a slice that names cowns may consist of: handles ([`AsCown`]), or references to them, as
/// `&Cown<T>`.
pub trait CownRef {
    /// The handle.
    type Handle: AsCown;

    /// The handle.
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

/// How a handle names its cown for a behaviour that changes it.
#[inline]
pub(super) fn exclusive<H: AsCown>(cown: NonNull<CownHeader>) -> Member {
    if H::UNCHECKED { Member::checked(cown) } else { Member::exclusive(cown) }
}

/// The view of a held cown.
///
/// # Safety
/// The cown is one of `H`'s, and held for reading for `'a`; or its state is not [`Sync`], and held
/// exclusively. (A [`Read`] is made only of states that are `Sync`.)
#[inline]
pub(in crate::cown) unsafe fn view<'a, H: AsCown>(cown: NonNull<CownHeader>) -> &'a H::View {
    // SAFETY: by the caller's word.
    H::view(unsafe { &*CownBox::<H::State>::state(cown) })
}

/// The view of a held cown, to change it.
///
/// # Safety
/// The cown is one of `H`'s, and held exclusively for `'a`; nobody else has a reference to it.
#[inline]
pub(in crate::cown) unsafe fn view_mut<'a, H: AsCown>(
    cown: NonNull<CownHeader>,
) -> &'a mut H::View {
    // SAFETY: by the caller's word.
    H::view_mut(unsafe { &mut *CownBox::<H::State>::state(cown) })
}

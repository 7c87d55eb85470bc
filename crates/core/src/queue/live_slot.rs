//! A pointer to a request that is live.

use std::fmt;
use std::ptr::NonNull;

use super::slot::Slot;

/// A request that is live: the block of its behaviour, or its place on a stack, is not given up
/// while this is used.
///
/// Who creates one ([`new`](Self::new), [`from_ref`](Self::from_ref)) says why: the behaviour is
/// the caller's own and not spawned, or misses a grant, or holds its cowns; or the request is in a
/// queue whose token the caller has. Who gives that up, as by a grant or a release, does not use it
/// afterwards, nor anything taken from it. So to look at the request, whose words are atomic, needs
/// no further argument; to follow it to its successor, or to change its queue, does.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct LiveSlot(NonNull<Slot>);

impl LiveSlot {
    /// # Safety
    /// The pointer is that of a request, which is live as long as the value, or what is taken from
    /// it, is used.
    #[inline(always)]
    pub(crate) unsafe fn new(slot: NonNull<Slot>) -> Self {
        Self(slot)
    }

    /// The same from a reference, whose lifetime the value forgets. It can be used for the request
    /// alone: not for the behaviour around it, as by [`LiveMulti::of`].
    ///
    /// # Safety
    /// The request is live as long as the value, or what is taken from it, is used.
    ///
    /// [`LiveMulti::of`]: crate::queue::multi_block::LiveMulti::of
    #[inline(always)]
    pub(crate) unsafe fn from_ref(slot: &Slot) -> Self {
        Self(NonNull::from(slot))
    }

    /// The request.
    #[inline(always)]
    pub(crate) fn slot<'a>(self) -> &'a Slot {
        // SAFETY: the request is live as long as this is used, which is up to its creator.
        unsafe { self.0.as_ref() }
    }

    /// The request behind this one, if it has linked itself; see [`Slot::successor`].
    ///
    /// # Safety
    /// The request is in its queue, where the caller keeps it, or was taken out by the caller, who
    /// has the token; and its step is over, so that no mark is in place of the successor. The
    /// result is not used after its grant.
    #[inline(always)]
    pub(crate) unsafe fn successor(self) -> Option<Self> {
        self.slot().successor().map(Self)
    }

    #[inline(always)]
    pub(crate) fn ptr(self) -> NonNull<Slot> {
        self.0
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> *mut Slot {
        self.0.as_ptr()
    }

    #[inline(always)]
    pub(crate) fn cast<T>(self) -> NonNull<T> {
        self.0.cast()
    }
}

impl fmt::Debug for LiveSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

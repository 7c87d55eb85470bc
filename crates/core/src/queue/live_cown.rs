//! A pointer to a cown that is alive.

use std::fmt;
use std::ptr::NonNull;

use super::header::CownHeader;

/// A cown, or the leader of a group, that is alive: its block is not freed while this is used.
///
/// Who creates one ([`new`](Self::new), [`from_ref`](Self::from_ref)) says what keeps the cown
/// alive: a handle or a weak handle, a request in its queue, a behaviour that holds it; for a
/// leader also a member.
/// Who gives that up, as by a release or with the last handle, does not use it afterwards, nor
/// anything taken from it. So to look at the header, whose words are atomic, needs no further
/// argument; to access the state does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub(crate) struct LiveCown(NonNull<CownHeader>);

impl LiveCown {
    /// # Safety
    /// The pointer is that of a cown, or of a leader, which something keeps alive as long as the
    /// value, or what is taken from it, is used.
    #[inline(always)]
    pub(crate) unsafe fn new(header: NonNull<CownHeader>) -> Self {
        Self(header)
    }

    /// The same from a reference, whose lifetime the value forgets. It can be used for the header
    /// and its address: not for the state, the guard or the leader around it.
    ///
    /// # Safety
    /// Something keeps the cown or leader alive as long as the value, or what is taken from it, is
    /// used.
    #[inline(always)]
    pub(crate) unsafe fn from_ref(header: &CownHeader) -> Self {
        Self(NonNull::from(header))
    }

    /// The header.
    #[inline(always)]
    pub(crate) fn header<'a>(self) -> &'a CownHeader {
        // SAFETY: the cown is alive as long as this is used, which is up to its creator; the
        // pointer is that of a header.
        unsafe { self.0.as_ref() }
    }

    /// The leader of the cown's group, if it is a member of one: it keeps the leader alive. Not for
    /// a leader.
    #[inline(always)]
    pub(crate) fn leader(self) -> Option<Self> {
        self.header().leader().map(Self)
    }

    /// The same for a cown that is in a group.
    #[inline]
    pub(crate) fn leader_of_member(self) -> Self {
        Self(self.header().leader_of_member())
    }

    /// The cown or leader in whose queue requests for the cown are. Not for a leader.
    #[inline]
    pub(crate) fn queue(self) -> Self {
        self.leader().unwrap_or(self)
    }

    /// # Safety
    /// There is no other reference to the header.
    #[inline(always)]
    pub(crate) unsafe fn header_mut<'a>(self) -> &'a mut CownHeader {
        // SAFETY: as this function requires.
        unsafe { &mut *self.0.as_ptr() }
    }

    #[inline(always)]
    pub(crate) fn ptr(self) -> NonNull<CownHeader> {
        self.0
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> *mut CownHeader {
        self.0.as_ptr()
    }

    /// Its rank in the order in which a step visits queues; see [`CownHeader::rank`].
    #[inline]
    pub(crate) fn rank(self) -> usize {
        CownHeader::rank(self.0)
    }

    /// The address, which identifies the cown.
    #[inline(always)]
    pub(crate) fn address(self) -> usize {
        self.0.addr().get()
    }

    #[inline(always)]
    pub(crate) fn cast<T>(self) -> NonNull<T> {
        self.0.cast()
    }
}

impl fmt::Debug for LiveCown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

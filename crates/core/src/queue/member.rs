//! What a request is for: one cown, and how its behaviour wants it.

use std::ptr::NonNull;

use super::header::CownHeader;

/// A pointer to a cown's header and, in its low bits, how a request wants the cown.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Member(NonNull<CownHeader>);

impl Member {
    const READ: usize = 1;
    const CHECKED: usize = 2;
    const MULTI: usize = 4;
    const TAGS: usize = 7;

    #[inline]
    pub(crate) fn exclusive(header: NonNull<CownHeader>) -> Self {
        Self(header)
    }

    pub(crate) fn read(header: NonNull<CownHeader>) -> Self {
        Self(header).tagged(Self::READ)
    }

    pub(crate) fn checked(header: NonNull<CownHeader>) -> Self {
        Self(header).tagged(Self::CHECKED)
    }

    pub(crate) fn checked_read(header: NonNull<CownHeader>) -> Self {
        Self(header).tagged(Self::READ | Self::CHECKED)
    }

    /// The same member in a behaviour that needs several cowns, or reads, or runs in its caller: in any whose request
    /// does not lie in a one-cown behaviour.
    pub(crate) fn in_multi(self) -> Self {
        self.tagged(Self::MULTI)
    }

    /// The same member in a request of a one-cown behaviour that has not found its place yet. Such a one never reads,
    /// so the bit is free.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn unplaced(self) -> Self {
        debug_assert!(!self.has(Self::READ | Self::MULTI), "the member of a one-cown behaviour");
        self.tagged(Self::READ)
    }

    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn is_unplaced(self) -> bool {
        self.0.addr().get() & (Self::READ | Self::MULTI) == Self::READ
    }

    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn as_ptr(self) -> *mut CownHeader {
        self.0.as_ptr()
    }

    /// # Safety
    /// The pointer is that of a member.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) unsafe fn from_ptr(member: *mut CownHeader) -> Self {
        // SAFETY: by the caller's word.
        Self(unsafe { NonNull::new_unchecked(member) })
    }

    /// The pointer with its tags.
    #[cfg(loom)]
    pub(crate) fn as_tagged(self) -> NonNull<()> {
        self.0.cast()
    }

    fn tagged(self, tag: usize) -> Self {
        Self(self.0.map_addr(|addr| addr | tag))
    }

    #[inline]
    fn has(self, tag: usize) -> bool {
        self.0.addr().get() & tag != 0
    }

    #[inline]
    pub(crate) fn is_read(self) -> bool {
        self.has(Self::READ)
    }

    #[inline]
    pub(crate) fn is_checked(self) -> bool {
        self.has(Self::CHECKED)
    }

    #[inline]
    pub(crate) fn is_multi(self) -> bool {
        self.has(Self::MULTI)
    }

    /// Whether the request lies in no one-cown behaviour, and is not to read.
    #[inline]
    pub(crate) fn is_exclusive_in_multi(self) -> bool {
        self.0.addr().get() & (Self::READ | Self::MULTI) == Self::MULTI
    }

    /// Whether the request is that of a one-cown behaviour, and has found its place.
    #[inline]
    pub(crate) fn is_single(self) -> bool {
        !self.has(Self::READ | Self::MULTI)
    }

    #[inline]
    pub(crate) fn header_ptr(self) -> NonNull<CownHeader> {
        // By the address alone, which is one instruction. `map_addr` moves the pointer by the difference, and LLVM keeps
        // both in registers, to add them up again at each access.
        let untagged = self.0.as_ptr().expose_provenance() & !Self::TAGS;
        let untagged = std::ptr::with_exposed_provenance_mut(untagged);
        // SAFETY: a header is aligned to 8 and not null, so clearing the three tag bits gives back
        // the address that the member was made with.
        unsafe { NonNull::new_unchecked(untagged) }
    }

    /// The header in whose queue the request stands: the cown's own, or that of its group's leader.
    ///
    /// # Safety
    /// As [`header`](Self::header).
    #[inline]
    pub(crate) unsafe fn queue_ptr(self) -> NonNull<CownHeader> {
        // SAFETY: alive, by the caller's word.
        unsafe { self.header() }.leader().unwrap_or(self.header_ptr())
    }

    /// The header.
    ///
    /// # Safety
    /// The cown must be alive for `'a`: a handle of it exists, or a request stands in its queue.
    #[inline]
    pub(crate) unsafe fn header<'a>(self) -> &'a CownHeader {
        // SAFETY: alive by the caller's word; `header_ptr` is aligned and points to a header.
        unsafe { self.header_ptr().as_ref() }
    }
}

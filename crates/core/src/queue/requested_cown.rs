//! What a request asks for: one cown, and the kind of access.

use std::ptr::NonNull;

use super::header::CownHeader;
use super::live_cown::LiveCown;

/// A [`LiveCown`] with, in its low bits, the kind of access that a request wants.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct RequestedCown(NonNull<CownHeader>);

impl RequestedCown {
    const READ: usize = 1;
    const CHECKED: usize = 2;
    const MULTI: usize = 4;
    const TAGS: usize = 7;

    #[inline]
    pub(crate) fn exclusive(cown: LiveCown) -> Self {
        Self(cown.ptr())
    }

    pub(crate) fn read(cown: LiveCown) -> Self {
        Self(cown.ptr()).tagged(Self::READ)
    }

    #[inline]
    pub(crate) fn checked(cown: LiveCown) -> Self {
        Self(cown.ptr()).with_new(Self::CHECKED)
    }

    pub(crate) fn checked_read(cown: LiveCown) -> Self {
        Self(cown.ptr()).tagged(Self::READ | Self::CHECKED)
    }

    /// The same member in a multi: a behaviour on several cowns, that reads, or that runs in its
    /// caller.
    pub(crate) fn in_multi(self) -> Self {
        self.tagged(Self::MULTI)
    }

    /// The same member in the request of a single that is not placed yet. A single never reads, so
    /// the bit is free.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn unplaced(self) -> Self {
        debug_assert!(!self.has(Self::READ | Self::MULTI), "the member of a one-cown behaviour");
        self.with_new(Self::READ)
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
    /// `member` comes from [`as_ptr`](Self::as_ptr).
    #[cfg(not(loom))]
    #[inline]
    pub(crate) unsafe fn from_ptr(member: *mut CownHeader) -> Self {
        // SAFETY: the pointer comes from a member, so it is not null.
        Self(unsafe { NonNull::new_unchecked(member) })
    }

    /// The tagged pointer.
    #[cfg(loom)]
    pub(crate) fn as_tagged(self) -> NonNull<()> {
        self.0.cast()
    }

    /// Adds a tag that the member does not have yet. An addition, so that the tagged pointer takes
    /// one instruction where the untagged one is needed as well.
    #[inline]
    fn with_new(self, tag: usize) -> Self {
        debug_assert!(!self.has(tag), "the tag is a new one");
        // SAFETY: a header is aligned to 8 and not null, so with a tag the address does not wrap to
        // null.
        Self(unsafe { NonNull::new_unchecked(self.0.as_ptr().wrapping_byte_add(tag)) })
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

    /// Returns whether the request is in a multi, and exclusive.
    #[inline]
    pub(crate) fn is_exclusive_in_multi(self) -> bool {
        self.0.addr().get() & (Self::READ | Self::MULTI) == Self::MULTI
    }

    /// Returns whether the request is that of a single, and placed.
    #[inline]
    pub(crate) fn is_single(self) -> bool {
        !self.has(Self::READ | Self::MULTI)
    }

    /// Returns the cown.
    #[inline]
    pub(crate) fn live_cown(self) -> LiveCown {
        // Computed from the address alone, which is one instruction. `map_addr` moves the pointer
        // by the difference, and LLVM keeps both in registers, to add them up at each access.
        let untagged = self.0.as_ptr().expose_provenance() & !Self::TAGS;
        let untagged = std::ptr::with_exposed_provenance_mut(untagged);
        // SAFETY: a header is aligned to 8 and not null, so clearing the three tag bits restores
        // the address that the member was created with: of a cown that is alive as long as this
        // is used.
        unsafe { LiveCown::new(NonNull::new_unchecked(untagged)) }
    }

    /// Returns the cown or leader whose queue contains the request.
    #[inline]
    pub(crate) fn queue(self) -> LiveCown {
        self.live_cown().queue()
    }

    /// Returns the cown's header.
    #[inline]
    pub(crate) fn header<'a>(self) -> &'a CownHeader {
        self.live_cown().header()
    }
}

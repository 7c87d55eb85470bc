//! The ring: a group's behaviours that wait in plain memory.
//!
//! A power of two of entries of one cache line each, doubling when full. A small behaviour is
//! stored in its entry, so it costs neither a block nor a count.

use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr::NonNull;

use coact_sync::pool;

use crate::queue::requested_cown::RequestedCown;
use crate::task::RunContext;

/// A waiting behaviour: one cache line. It may be moved.
#[repr(C, align(64))]
pub(crate) struct RingEntry {
    run: RunRingEntry,
    /// The member of a behaviour on one cown.
    member: RequestedCown,
    payload: MaybeUninit<[usize; RingEntry::WORDS]>,
}

/// Runs a behaviour to its end.
///
/// # Safety
/// The entry was just returned by [`RunQueue::pop`], and the caller holds the group.
pub(crate) type RunRingEntry = unsafe fn(NonNull<RingEntry>, &RunContext);

impl RingEntry {
    const WORDS: usize = 6;
    /// The alignment of the payload, which is at this offset in an entry.
    const ALIGN: usize = std::mem::offset_of!(Self, payload);

    /// Returns whether a `B` is stored in the entry itself; otherwise it has a block of its own.
    const fn fits<B>() -> bool {
        size_of::<B>() <= Self::WORDS * size_of::<usize>() && align_of::<B>() <= Self::ALIGN
    }

    /// Returns the function that runs the entry.
    ///
    /// # Safety
    /// The entry is initialised.
    #[inline]
    pub(crate) unsafe fn run_of(entry: NonNull<Self>) -> RunRingEntry {
        // SAFETY: the entry is initialised, as this function requires.
        unsafe { (*entry.as_ptr()).run }
    }

    /// Moves the behaviour out.
    ///
    /// # Safety
    /// It was pushed as a `B`, is moved out once, and nothing was pushed since the entry was
    /// popped.
    #[inline]
    pub(crate) unsafe fn take<B>(entry: NonNull<Self>) -> (RequestedCown, B) {
        // SAFETY: the entry holds a `B` that has not been moved out or overwritten. The payload is
        // aligned to `ALIGN`, as `fits` checks.
        unsafe {
            let payload = &raw const (*entry.as_ptr()).payload;
            let member = (*entry.as_ptr()).member;
            if Self::fits::<B>() {
                return (member, payload.cast::<B>().read());
            }
            let block = payload.cast::<NonNull<B>>().read();
            let body = block.read();
            pool::dealloc(block.cast(), std::alloc::Layout::new::<B>());
            (member, body)
        }
    }
}

/// A queue of entries.
pub(crate) struct RunQueue {
    entries: Box<[MaybeUninit<RingEntry>]>,
    /// The total numbers of entries popped and pushed.
    popped: usize,
    pushed: usize,
}

impl RunQueue {
    /// The initial number of entries.
    const FIRST: usize = 8;
    /// The most entries that an empty ring keeps: 16 KiB.
    const KEPT: usize = 256;

    pub(crate) fn new() -> Self {
        Self { entries: Box::default(), popped: 0, pushed: 0 }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.popped == self.pushed
    }

    /// Appends a behaviour.
    #[inline]
    pub(crate) fn push<B>(&mut self, member: RequestedCown, body: B, run: RunRingEntry) {
        if self.pushed.wrapping_sub(self.popped) == self.entries.len() {
            self.grow();
        }
        let at = self.place(self.pushed).as_ptr();
        // SAFETY: a slot of the ring that no entry occupies.
        unsafe {
            (&raw mut (*at).run).write(run);
            (&raw mut (*at).member).write(member);
            let payload = &raw mut (*at).payload;
            if RingEntry::fits::<B>() {
                payload.cast::<B>().write(body);
            } else {
                let block = pool::alloc(std::alloc::Layout::new::<B>()).cast::<B>();
                block.write(body);
                payload.cast::<NonNull<B>>().write(block);
            }
        }
        self.pushed = self.pushed.wrapping_add(1);
    }

    /// Removes the first entry. Its slot is not overwritten before the next push.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<NonNull<RingEntry>> {
        if self.is_empty() {
            return None;
        }
        let entry = self.place(self.popped);
        self.popped = self.popped.wrapping_add(1);
        Some(entry)
    }

    /// Frees the memory left by a burst. For an empty ring.
    #[inline]
    pub(crate) fn shrink(&mut self) {
        if self.entries.len() > Self::KEPT {
            self.entries = Box::default();
        }
    }

    #[inline]
    fn place(&mut self, number: usize) -> NonNull<RingEntry> {
        let index = number & self.entries.len().wrapping_sub(1);
        debug_assert!(index < self.entries.len());
        // SAFETY: the number of slots is a power of two, so the index is below it. It is not zero,
        // since an entry was pushed, or is about to be after the ring has grown.
        unsafe { NonNull::new_unchecked(self.entries.as_mut_ptr().add(index)).cast() }
    }

    #[cold]
    fn grow(&mut self) {
        let (len, before) = (self.pushed.wrapping_sub(self.popped), self.entries.len());
        let mut entries = Box::new_uninit_slice((before * 2).max(Self::FIRST));
        for number in 0..len {
            let from = self.place(self.popped.wrapping_add(number));
            // SAFETY: an initialised entry is moved; the old slot is not read again.
            entries[number].write(unsafe { from.read() });
        }
        self.entries = entries;
        (self.popped, self.pushed) = (0, len);
    }
}

impl Drop for RunQueue {
    fn drop(&mut self) {
        debug_assert!(self.is_empty(), "the ring of an ended group is not empty");
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

//! The ring: behaviours of a group that wait in plain memory.
//!
//! A power of two of entries of one cache line each, which doubles when it is full. A behaviour lies in
//! its entry if it is small, so that it costs neither a block nor a count.

use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr::NonNull;

use coact_sync::pool;

use crate::queue::member::Member;
use crate::task::RunContext;

/// A behaviour that waits: a cache line. It may be moved from one place to another.
#[repr(C, align(64))]
pub(crate) struct RingEntry {
    run: RunRingEntry,
    /// The member that it is about, for a behaviour on one cown.
    member: Member,
    payload: MaybeUninit<[usize; RingEntry::WORDS]>,
}

/// Runs a behaviour to its end.
///
/// # Safety
/// The entry is the one that [`Ring::pop`] has just given, and the caller holds the group.
pub(crate) type RunRingEntry = unsafe fn(NonNull<RingEntry>, &RunContext);

impl RingEntry {
    const WORDS: usize = 6;
    /// How the payload is aligned: it lies this far into an entry.
    const ALIGN: usize = std::mem::offset_of!(Self, payload);

    /// Whether a `B` lies in the entry itself; if not, then in a block of its own.
    const fn fits<B>() -> bool {
        size_of::<B>() <= Self::WORDS * size_of::<usize>() && align_of::<B>() <= Self::ALIGN
    }

    /// How to run it.
    ///
    /// # Safety
    /// The entry is written.
    #[inline]
    pub(crate) unsafe fn run_of(entry: NonNull<Self>) -> RunRingEntry {
        // SAFETY: by the caller's word.
        unsafe { (*entry.as_ptr()).run }
    }

    /// Takes the behaviour out.
    ///
    /// # Safety
    /// It was pushed as a `B`, is taken once, and nothing was pushed since the entry was popped.
    #[inline]
    pub(crate) unsafe fn take<B>(entry: NonNull<Self>) -> (Member, B) {
        // SAFETY: by the caller's word. The payload is aligned to `ALIGN`, as `fits` asks for.
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

/// Entries in the order of their pushing.
pub(crate) struct Ring {
    entries: Box<[MaybeUninit<RingEntry>]>,
    /// How many were ever popped, and pushed.
    popped: usize,
    pushed: usize,
}

impl Ring {
    /// How many entries a ring starts with.
    const FIRST: usize = 8;
    /// An empty ring keeps no more than so many: 16 KiB.
    const KEPT: usize = 256;

    pub(crate) fn new() -> Self {
        Self { entries: Box::default(), popped: 0, pushed: 0 }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.popped == self.pushed
    }

    /// Puts a behaviour behind all others.
    #[inline]
    pub(crate) fn push<B>(&mut self, member: Member, body: B, run: RunRingEntry) {
        if self.pushed.wrapping_sub(self.popped) == self.entries.len() {
            self.grow();
        }
        let at = self.place(self.pushed).as_ptr();
        // SAFETY: a place of the ring that no entry is in.
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

    /// Takes the first entry off. Its place is overwritten when the next one is pushed at the
    /// earliest.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<NonNull<RingEntry>> {
        if self.is_empty() {
            return None;
        }
        let entry = self.place(self.popped);
        self.popped = self.popped.wrapping_add(1);
        Some(entry)
    }

    /// Gives memory back that a flood has left. For an empty ring.
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
        // SAFETY: the number of places is a power of two, so the index is below it; and it is not 0:
        // somebody has pushed, or is about to and has grown the ring.
        unsafe { NonNull::new_unchecked(self.entries.as_mut_ptr().add(index)).cast() }
    }

    #[cold]
    fn grow(&mut self) {
        let (len, before) = (self.pushed.wrapping_sub(self.popped), self.entries.len());
        let mut entries = Box::new_uninit_slice((before * 2).max(Self::FIRST));
        for number in 0..len {
            let from = self.place(self.popped.wrapping_add(number));
            // SAFETY: a written entry, which is moved: the old place is forgotten.
            entries[number].write(unsafe { from.read() });
        }
        self.entries = entries;
        (self.popped, self.pushed) = (0, len);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        debug_assert!(self.is_empty(), "a group has ended with behaviours in its ring");
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

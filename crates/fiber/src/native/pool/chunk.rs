//! Mappings with room for many stacks.

use std::io;
use std::ptr::{self, NonNull};

use super::super::size_class::SizeClass;
use super::free_list::FreeStack;
use super::guard::guard_size;
use super::map_limit;
use crate::stack_error::StackError;

/// The most stacks of a chunk, and the bytes above which it has fewer.
const MOST: usize = 64;
const BYTES: usize = 16 * 1024 * 1024;

/// A mapping from which stacks of one class are cut, from the bottom up. It is never unmapped.
pub(super) struct Chunk {
    /// What is left of it: this many stacks, each above the pages of its guard.
    rest: NonNull<u8>,
    left: usize,
}

// SAFETY: it is memory that nothing else knows of, and no thread is special to it.
unsafe impl Send for Chunk {}

impl Chunk {
    /// Maps a new one. Its stacks have no guards yet.
    pub(super) fn map(class: SizeClass) -> Result<Self, StackError> {
        let stacks = (BYTES / class.bytes()).clamp(1, MOST);
        let bytes = stacks * stride(class);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // Without a reserve: most of a stack is never touched.
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: maps memory where there is none.
        let mapped = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
        let start = NonNull::new(mapped.cast::<u8>());
        let Some(rest) = start.filter(|_| mapped != libc::MAP_FAILED) else {
            return Err(refusal(class, io::Error::last_os_error()));
        };
        // A huge page would give the first stack that touches it all of its memory, and that of
        // seven others. If there are no huge pages, the call fails, and need not have been made.
        // SAFETY: the mapping was just made, and the advice does not change what is in it.
        unsafe { libc::madvise(mapped, bytes, libc::MADV_NOHUGEPAGE) };
        Ok(Self { rest, left: stacks })
    }

    /// Cuts off a stack, of the class that the chunk was mapped for, unless none is left.
    pub(super) fn cut(&mut self, class: SizeClass) -> Option<FreeStack> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: `map` has made room for this one, too.
        self.rest = unsafe { self.rest.add(stride(class)) };
        // SAFETY: below lies what was just cut off, which is larger than the stack by its guard,
        // and which is given once. It stays mapped, since chunks are never unmapped.
        Some(unsafe { FreeStack::new(self.rest) })
    }
}

/// The bytes from one stack to the next.
fn stride(class: SizeClass) -> usize {
    class.bytes() + guard_size()
}

/// Why a chunk could not be mapped.
fn refusal(class: SizeClass, source: io::Error) -> StackError {
    if source.raw_os_error() == Some(libc::ENOMEM) && map_limit::is_at_map_limit() {
        return StackError::TooManyMaps { limit: map_limit::limit() };
    }
    StackError::Refused { size: class.bytes(), source }
}

//! Gives back the memory of stacks that were used deeply.
//!
//! A system call for each stack that is returned would cost ten times as much as all else that is
//! done with it. So the few free stacks of a thread stay as they are, unless they are large, and
//! only those that go to the depot are trimmed. To ask first whether there is anything to give back
//! (`mincore`) would take twice as long as to give nothing back.

use super::super::size_class::SizeClass;
use super::free_list::FreeStack;
use super::page::page_size;

/// What a stack keeps at its top, where its use begins.
const KEPT: usize = 32 * 1024;

/// The size up to which a thread keeps its free stacks as they are: 32 of these have 8 MiB.
const SMALL: usize = 256 * 1024;

/// Returns whether stacks of this class are to be trimmed even if they stay with their thread.
pub(super) fn is_large(class: SizeClass) -> bool {
    class.bytes() > SMALL
}

/// Gives all memory of a stack back to the system.
pub(super) fn trim_all(stack: &mut FreeStack, class: SizeClass) {
    // If the call fails, the stack keeps its memory.
    // SAFETY: as in `trim`.
    unsafe {
        libc::madvise(stack.bottom(class).as_ptr().cast(), class.bytes(), libc::MADV_DONTNEED)
    };
}

/// Gives the memory below the top of a stack back to the system. Its guard stays one.
pub(super) fn trim(stack: &mut FreeStack, class: SizeClass) {
    let kept = KEPT.max(page_size());
    if class.bytes() > kept {
        let rest = class.bytes() - kept;
        // If the call fails, the stack keeps its memory.
        // SAFETY: this is memory of the stack, which is mapped and which its owner does not use.
        unsafe { libc::madvise(stack.bottom(class).as_ptr().cast(), rest, libc::MADV_DONTNEED) };
    }
}

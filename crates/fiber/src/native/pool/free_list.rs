//! Stacks that are not in use, in lists that need no memory of their own.

use std::ptr::NonNull;

use super::super::size_class::SizeClass;

/// A stack that is not in use. Its owner may read and write its memory.
pub(super) struct FreeStack {
    top: NonNull<u8>,
}

// SAFETY: it is memory that nothing else knows of, and no thread is special to it.
unsafe impl Send for FreeStack {}
// SAFETY: a shared reference gives nothing but the address.
unsafe impl Sync for FreeStack {}

/// What the last bytes of a free stack hold, which are the first that were used: to write them
/// touches no other page than a fiber does.
struct Link {
    next: Option<FreeStack>,
}

impl FreeStack {
    /// # Safety
    /// Below `top`, which is aligned to a page, are as many bytes as the class has in which this
    /// process may read and write, for all time, and which nothing else uses.
    pub(super) unsafe fn new(top: NonNull<u8>) -> Self {
        Self { top }
    }

    pub(super) fn top(&self) -> NonNull<u8> {
        self.top
    }

    /// The lowest usable byte of a stack of this class.
    pub(super) fn bottom(&self, class: SizeClass) -> NonNull<u8> {
        // SAFETY: the stack has as many bytes as its class.
        unsafe { self.top.sub(class.bytes()) }
    }

    fn link(&self) -> NonNull<Link> {
        // SAFETY: a stack is larger than a link.
        unsafe { self.top.cast().sub(1) }
    }
}

/// Free stacks of one class, the last one that was added first.
pub(super) struct FreeList {
    first: Option<FreeStack>,
    count: usize,
}

impl FreeList {
    pub(super) const fn new() -> Self {
        Self { first: None, count: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn push(&mut self, stack: FreeStack) {
        let link = Link { next: self.first.take() };
        // SAFETY: the owner of a free stack may write its memory, whose end is aligned to a page.
        unsafe { stack.link().write(link) };
        self.first = Some(stack);
        self.count += 1;
    }

    pub(super) fn pop(&mut self) -> Option<FreeStack> {
        let stack = self.first.take()?;
        // SAFETY: `push` has written the link, and only the owner of the list may write to its
        // stacks.
        self.first = unsafe { stack.link().read() }.next;
        self.count -= 1;
        Some(stack)
    }

    /// Takes up to this many out of the list.
    pub(super) fn split(&mut self, most: usize) -> Self {
        let mut taken = Self::new();
        while taken.count < most
            && let Some(stack) = self.pop()
        {
            taken.push(stack);
        }
        taken
    }

    /// Adds all of another list.
    pub(super) fn append(&mut self, mut other: Self) {
        while let Some(stack) = other.pop() {
            self.push(stack);
        }
    }
}

//! Size classes: which layouts the pool serves, and with which block size.

use std::alloc::Layout;

/// The step from one class to the next, and the smallest block.
const STEP: usize = 8;

/// The largest block.
const LARGEST: usize = 256;

/// The strictest alignment: a class that is a multiple of it has blocks at multiples of it.
pub(super) const MAX_ALIGN: usize = 16;

/// The number of classes.
pub(super) const CLASSES: usize = LARGEST / STEP;

/// One size of blocks, a multiple of [`STEP`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SizeClass(u8);

impl SizeClass {
    /// Returns the class that serves `layout`, or `None` if the program's allocator has to.
    #[inline(always)]
    pub(super) const fn of(layout: Layout) -> Option<Self> {
        // A class is a multiple of the alignment, so each block of a slab is aligned if the first
        // one is. An alignment of 8 or less comes for free.
        let step = if layout.align() > STEP { MAX_ALIGN } else { STEP };
        let size = layout.size();
        if size > LARGEST || layout.align() > MAX_ALIGN {
            return None;
        }
        let blocks = if size == 0 { 1 } else { size.div_ceil(step) };
        Some(Self((blocks * step / STEP - 1) as u8))
    }

    /// All classes, smallest first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..CLASSES as u8).map(Self)
    }

    /// The index of this class in a table of [`CLASSES`].
    #[inline(always)]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The size of a block.
    #[inline(always)]
    pub(super) const fn block_size(self) -> usize {
        (self.0 as usize + 1) * STEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_size(size: usize, align: usize) -> Option<usize> {
        let layout = Layout::from_size_align(size, align).unwrap();
        SizeClass::of(layout).map(SizeClass::block_size)
    }

    #[test]
    fn a_class_holds_its_layout_and_wastes_less_than_a_step() {
        for size in 0..=LARGEST {
            for align in [1, 2, 4, 8] {
                assert_eq!(block_size(size, align), Some(size.max(1).next_multiple_of(8)));
            }
            assert_eq!(block_size(size, 16), Some(size.max(1).next_multiple_of(16)));
        }
    }

    #[test]
    fn large_and_strictly_aligned_layouts_are_passed_on() {
        assert_eq!(block_size(LARGEST + 1, 1), None);
        assert_eq!(block_size(8, 32), None);
    }

    #[test]
    fn classes_fill_the_table() {
        let indices: Vec<_> = SizeClass::all().map(SizeClass::index).collect();
        assert_eq!(indices, (0..CLASSES).collect::<Vec<_>>());
    }
}

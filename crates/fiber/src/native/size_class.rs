//! The sizes that stacks come in.

use crate::MIN_STACK_SIZE;
use crate::stack_error::StackError;

/// The exponents of the smallest and of the largest size: that of [`MIN_STACK_SIZE`], and 1 GiB, or
/// 64 MiB where addresses are short.
const SMALLEST: u32 = MIN_STACK_SIZE.trailing_zeros();
const LARGEST: u32 = if cfg!(target_pointer_width = "64") { 30 } else { 26 };

const _: () = assert!(MIN_STACK_SIZE.is_power_of_two());

pub(super) const CLASSES: usize = (LARGEST - SMALLEST + 1) as usize;

/// A size of stacks: a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SizeClass(u32);

impl SizeClass {
    /// Returns the smallest class with this many bytes, in whole pages.
    ///
    /// # Errors
    /// Returns [`StackError::TooLarge`] if there is none.
    pub(super) fn of(size: usize, page: usize) -> Result<Self, StackError> {
        let most = 1 << LARGEST;
        if size > most {
            return Err(StackError::TooLarge { size, most });
        }
        let exponent = size.max(page).next_power_of_two().trailing_zeros();
        Ok(Self(exponent.max(SMALLEST)))
    }

    /// Returns the bytes of its stacks.
    pub(super) fn bytes(self) -> usize {
        1 << self.0
    }

    /// Returns its place among all classes.
    pub(super) fn index(self) -> usize {
        (self.0 - SMALLEST) as usize
    }

    /// Returns all of them.
    #[cfg(target_os = "linux")]
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (SMALLEST..=LARGEST).map(Self)
    }
}

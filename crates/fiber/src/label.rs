//! What a fiber is called in the report of an overflow.

/// What runs on a fiber, for the report of an overflow:
///
/// ```text
/// the stack of worker #7 has overflowed: it has 256 KiB; give it more with `stack_size`
/// ```
///
/// It is printed by a signal handler, and so has nothing that would have to be formatted or
/// allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiberLabel {
    /// What it is: `worker`.
    pub name: &'static str,
    /// Which one it is, or 0 if there is no need to tell: `7`.
    pub number: u64,
    /// What to do about an overflow, if anything can be done: ``give it more with `stack_size` ``.
    pub advice: &'static str,
}

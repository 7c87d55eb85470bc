//! Fibers on systems and processors that can switch stacks.
//!
//! From bottom to top: [`size_class`], [`sanitizer`], [`pool`] (or `system_pool`), [`stack`],
//! [`running`], [`overflow`], [`fiber`].

mod fiber;
#[cfg_attr(not(unix), path = "overflow_disabled.rs")]
mod overflow;
#[cfg_attr(not(target_os = "linux"), path = "system_pool.rs")]
mod pool;
mod running;
mod sanitizer;
mod size_class;
mod stack;

pub use fiber::Fiber;
pub use running::{is_enclosed, is_in_fiber, remaining_stack, suspend, suspend_enclosing};
pub use stack::Stack;

#[cfg(test)]
mod tests;

/// Whether this build can switch stacks: its system and its processor have a port, and it does not
/// run in an interpreter. If not, [`Stack::take`] returns
/// [`StackError::Unsupported`](crate::StackError::Unsupported).
pub const IS_SUPPORTED: bool = true;

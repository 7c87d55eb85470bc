//! Cowns: state that only behaviours can access, the sets of them that a behaviour names, and what
//! its closure receives.
//!
//! * Handles: [`Cown`], [`WeakCown`]; as a key: [`CownId`].
//! * In front of the closure, a [`CownSet`]: `&cown`, `cown.read()`, tuples, arrays and slices of
//!   these; poisoned ones as well with [`Cown::checked`]; the handle itself, which the behaviour
//!   then owns.
//! * In the closure: `&mut T` and `&T`; [`Members`] and [`ReadMembers`] of a slice; [`Poisoned`] of
//!   a checked member; [`Held`] of a handle by value.

pub(crate) mod end_of_life;
pub(crate) mod handle;
pub(crate) mod held;
pub(crate) mod iter;
pub(crate) mod last_handle;
pub(crate) mod layout;
pub(crate) mod member_cursor;
pub(crate) mod members;
mod pin;
pub(crate) mod poisonable_members;
pub(crate) mod set;
pub(crate) mod thread_bound_value;

pub use crate::drop_depth::Deep;
pub use handle::{Cown, CownId, WeakCown};
pub use held::{Held, Poisoned};
pub use iter::{MembersIter, MembersIterMut};
pub use members::{Members, ReadMembers};
pub use poisonable_members::{CheckedMembers, CheckedReadMembers, MemberError, PoisonedRead};
pub use set::{
    AsCown, Checked, CheckedAll, CheckedRead, CheckedReadAll, CownRef, CownSet, Read, ReadAll,
    checked_all, read_all,
};

/// Marks a cown, or its group, as crowded (`queue::turnstile`), for tests on real threads.
/// (Simulated ones must not block each other.)
#[cfg(feature = "sim")]
pub fn mark_crowded<T: Send + 'static>(cown: &Cown<T>) {
    crate::queue::turnstile::note_crowd(cown.header().queue());
}

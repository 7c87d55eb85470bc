//! Cowns: state that only behaviours can access, the sets of them that a behaviour names, and what
//! its closure receives.
//!
//! * Handles: [`Cown`], [`WeakCown`]; as a key: [`CownId`].
//! * In front of the closure, a [`CownSet`]: `&cown`, `cown.read()`, tuples, arrays and slices of
//!   these; poisoned ones as well with [`Cown::checked`]; the handle itself, which the behaviour
//!   then owns.
//! * In the closure: `&mut T` and `&T`; [`Members`] and [`ReadMembers`] of a slice; [`Poisoned`] of
//!   a checked member; [`Held`] of a handle by value.

pub(crate) mod access_guards;
pub(crate) mod checked_access;
pub(crate) mod commit_participant;
pub(crate) mod end_of_life;
pub(crate) mod handle;
pub(crate) mod iter;
pub(crate) mod last_handle_check;
pub(crate) mod layout;
pub(crate) mod member_cursor;
mod pin;
pub(crate) mod set;
pub(crate) mod slice_access;
pub(crate) mod thread_bound_value;

pub use crate::drop_depth::Deep;
pub use access_guards::{Held, Poisoned};
pub use checked_access::{CheckedMembers, CheckedReadMembers, MemberError, PoisonedRead};
pub use handle::{Cown, CownId, WeakCown};
pub use iter::{MembersIter, MembersIterMut};
pub use set::{
    AsCown, Checked, CheckedAll, CheckedRead, CheckedReadAll, CownRef, CownSet, Read, ReadAll,
    checked_all, read_all,
};
pub use slice_access::{Members, ReadMembers};

/// Marks a cown, or its group, as crowded (`queue/turnstile.rs`), for tests on real threads.
/// (Simulated ones must not block each other.)
#[cfg(feature = "sim")]
pub fn mark_crowded<T: Send + 'static>(cown: &Cown<T>) {
    crate::queue::turnstile::note_crowd(cown.header().queue());
}

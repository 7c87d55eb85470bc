//! Cowns: state that only behaviours reach.

pub(crate) mod access;
pub(crate) mod checked;
pub(crate) mod end_of_life;
pub(crate) mod handle;
pub(crate) mod iter;
pub(crate) mod last_handle;
pub(crate) mod layout;
mod pin;
pub(crate) mod set;
pub(crate) mod thread_bound;

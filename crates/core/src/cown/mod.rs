//! Cowns: state that only behaviours reach.

pub(crate) mod access;
pub(crate) mod anchored;
pub(crate) mod checked;
pub(crate) mod farewell;
pub(crate) mod handle;
pub(crate) mod iter;
pub(crate) mod last;
pub(crate) mod layout;
mod pin;
pub(crate) mod set;

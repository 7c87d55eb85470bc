//! Cowns: state that only behaviours reach.

pub(crate) mod access;
pub(crate) mod anchored;
mod depth;
pub(crate) mod farewell;
pub(crate) mod handle;
pub(crate) mod header;
pub(crate) mod layout;
mod pin;
pub(crate) mod set;

//! Cowns: state that only behaviours reach.

pub(crate) mod access;
pub(crate) mod handle;
pub(crate) mod header;
pub(crate) mod layout;
pub(crate) mod set;

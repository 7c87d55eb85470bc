//! Behaviours: what is spawned on cowns. README.md describes the protocol.

mod admission;
pub(crate) mod answer;
pub(crate) mod append;
pub(crate) mod batch;
pub(crate) mod body;
mod claim;
pub(crate) mod grant;
pub(crate) mod here;
#[cfg(all(test, loom))]
mod loom;
pub(crate) mod multi;
pub(crate) mod overload;
mod pair;
pub(crate) mod release;
pub(crate) mod scope;
pub(crate) mod single;
pub(crate) mod slot;
pub(crate) mod spawn;
mod standing;
mod then;
pub(crate) mod when;

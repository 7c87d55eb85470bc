//! Behaviours: what is spawned on cowns. How they get these is the protocol of `queue`.

mod admission;
pub(crate) mod answer;
pub(crate) mod batch;
pub(crate) mod here;
pub(crate) mod in_group;
#[cfg(all(test, loom))]
mod loom;
pub(crate) mod multi;
mod pair;
pub(crate) mod scope;
pub(crate) mod single;
pub(crate) mod spawn;
mod then;
pub(crate) mod when;

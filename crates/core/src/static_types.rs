//! The types of statics that some model recreates in each of its runs: those of the standard
//! library, and in models those of loom.

#[cfg(not(all(test, loom)))]
pub(crate) use coact_sync::shim::process::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Mutex, Ordering, fence,
};
#[cfg(all(test, loom))]
pub(crate) use coact_sync::shim::{
    atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence},
    sync::Mutex,
};

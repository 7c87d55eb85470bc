//! The shim for statics that models recreate in each of their runs: types of the standard library,
//! and in models those of loom.

#[cfg(not(all(test, loom)))]
pub(crate) use coact_sync::shim::process::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Mutex, Ordering, fence,
};
#[cfg(all(test, loom))]
pub(crate) use coact_sync::shim::{
    atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence},
    sync::Mutex,
};

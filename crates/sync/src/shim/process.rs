//! Process-wide state: always `std`, in a model too.
//!
//! For statics, and for what a model must not see (the pool, the choice of a fence). A structure
//! that a model checks takes its atomics from [`shim::atomic`](super::atomic) instead.

pub use std::sync::OnceLock;
pub use std::sync::atomic::{
    AtomicBool, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
    Ordering, compiler_fence, fence,
};

pub use super::lock::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

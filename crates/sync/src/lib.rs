//! The lowest layer of Coact: the primitives that every lock-free structure above is built from.
//!
//! * [`shim`]: atomics, cells and locks, from `std` or, under `--cfg loom`, from the model checker.
//!   Nothing else in the project imports `std::sync`.
//! * [`asym`]: a fence that is free on the frequent side and a system call on the rare one.
//! * [`pool`]: recycles small blocks, so that the runtime's speed does not depend on the program's
//!   allocator.
//! * [`backoff`]: waits for another thread's next step: spins, then yields, then sleeps.
//! * [`adaptive_poll`]: decides how long to poll before parking.
//! * [`affinity`]: pins threads to processors.
//! * [`current_stack`]: which stack the thread is on, and whether it may leave that.
//! * [`CachePadded`]: keeps unrelated state out of one cache line.
//!
//! **Invariant:** this crate knows nothing of runtimes, cowns or behaviours. While it holds a lock
//! it runs no user code other than the program's allocator.

pub mod adaptive_poll;
pub mod affinity;
pub mod asym;
pub mod backoff;
pub mod current_stack;
pub mod pool;
pub mod prefetch;
pub mod shim;

pub use crossbeam_utils::CachePadded;

//! The lowest layer of Coact: what every lock-free structure above it is built from.
//!
//! * [`shim`]: atomics, cells and locks, from `std` or, under `--cfg loom`, from the model checker.
//!   Nothing else in the project imports `std::sync`.
//! * [`asym`]: a fence that is free on the frequent side and a system call on the rare one.
//! * [`pool`]: recycles small blocks, so that the runtime's figures do not hang on the allocator
//!   of the program it runs in.
//! * [`backoff`]: bounded waits for another thread's next step.
//! * [`patience`]: how long it is worth looking for what may come.
//! * [`CachePadded`]: keeps unrelated state out of one cache line.
//!
//! **Invariant:** this crate knows no runtime, no cown and no behaviour. While it holds a lock it
//! runs no code of the user, except the program's allocator.

pub mod asym;
pub mod backoff;
pub mod patience;
pub mod pool;
pub mod prefetch;
pub mod shim;

pub use crossbeam_utils::CachePadded;

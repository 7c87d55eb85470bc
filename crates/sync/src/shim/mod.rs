//! One interface to `std` and to loom, selected by `--cfg loom`.
//!
//! Lock-free code takes its atomics, cells, locks and waits from here, so that the model checker
//! explores the very code that ships. The two backends differ in a few points, which are settled
//! here once:
//!
//! * [`cell::UnsafeCell`] passes its pointer to a closure ([`with`](cell::UnsafeCell::with),
//!   [`with_mut`](cell::UnsafeCell::with_mut)), because loom has to know how long an access lasts.
//!   The `std` version compiles to nothing.
//! * [`sync::Mutex`] and [`sync::Condvar`] ignore poisoning: no user code runs under one of these
//!   locks, so a panic in user code cannot leave the protected state broken.
//! * [`atomic::AtomicEnd`] tells a model that an atomic ends where no destructor does.
//! * [`alloc`] goes through loom's leak tracking in a model.
//! * [`process`] is always `std`: for state that belongs to the process rather than to a model,
//!   above all for statics, which loom's types cannot be (they have no `const fn new`).

pub mod process;

#[cfg(not(coact_tsan))]
mod lock;
#[cfg(coact_tsan)]
#[path = "lock_traced.rs"]
mod lock;

#[cfg(loom)]
#[path = "loom.rs"]
mod backend;
#[cfg(not(loom))]
#[path = "std.rs"]
mod backend;

pub use backend::{alloc, atomic, cell, hint, sync, thread};

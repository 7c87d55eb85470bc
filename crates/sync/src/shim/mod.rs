//! One face for `std` and for loom, chosen by `--cfg loom`.
//!
//! Lock-free code takes its atomics, cells, locks and waits from here, so that the very code that
//! ships is the code that the model checker explores. The differences that the two backends force
//! on everybody are settled once:
//!
//! * [`cell::UnsafeCell`] gives its pointer to a closure ([`with`](cell::UnsafeCell::with),
//!   [`with_mut`](cell::UnsafeCell::with_mut)), because loom has to know how long an access lasts.
//!   The `std` version compiles to nothing.
//! * [`sync::Mutex`] and [`sync::Condvar`] ignore poisoning: no code of the user runs under a lock
//!   of ours, so a lock cannot be left behind in a broken state by somebody's panic.
//! * [`atomic::End`] tells a model of an atomic's end where no destructor does.
//! * [`alloc`] goes through loom's leak tracking in a model.
//! * [`process`] always is `std`: for state that belongs to the process and not to a model, above
//!   all for statics, which loom's types (no `const fn new`) cannot be.

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

//! Fibers: functions on stacks of their own, which can be suspended anywhere.
//!
//! * [`Stack`]: memory for one fiber, from a pool of the process.
//! * [`Fiber`]: a function on such a stack. [`Fiber::resume`] runs it on the current thread until
//!   it calls [`suspend`] or ends.
//! * [`FiberLabel`]: what the report of an overflow calls it.
//!
//! ```
//! # if !coact_fiber::IS_SUPPORTED { return Ok(()) }
//! use coact_fiber::{DEFAULT_STACK_SIZE, Fiber, FiberLabel, ResumeOutcome, Stack, suspend};
//!
//! fn ask(question: &'static str) -> u32 {
//!     suspend::<u32, &'static str>(question)
//! }
//!
//! let label = FiberLabel { name: "adder", number: 1, advice: "" };
//! let stack = Stack::take(DEFAULT_STACK_SIZE)?;
//! let mut adder = Fiber::<u32, &'static str>::new(stack, label, |first| {
//!     let second = ask("and what?");
//!     assert_eq!(first + second, 42);
//! });
//! assert_eq!(adder.resume(40), ResumeOutcome::Suspended("and what?"));
//! assert_eq!(adder.resume(2), ResumeOutcome::Ended);
//! # Ok::<(), coact_fiber::StackError>(())
//! ```
//!
//! # What a fiber's function must not do
//!
//! The types keep a fiber on its thread, so what it has on its stack need not be [`Send`]: an `Rc`,
//! or a reference to a thread-local. There is one thing that they cannot rule out. Some code lends
//! a reference to a thread *for the time of a call*, and relies on all uses being over when that
//! call returns. A fiber that is suspended in the middle of such a use may go on with it later. So
//! a function must not suspend its fiber
//!
//! * inside of [`LocalKey::with`](std::thread::LocalKey::with), if the fiber can go on, or be
//!   unwound, while its thread ends and destroys its thread-locals (which takes a fiber that is
//!   itself in one);
//! * while it uses what the code that has resumed it lends it through a thread-local, as the crate
//!   `scoped-tls` does.
//!
//! Code that lends in this way can refuse it: it [pins](coact_sync::current_stack::StackPin) the
//! stack for the time of its call, and [`suspend`] panics.
//!
//! Other than this, suspending is like blocking: locks stay locked, and borrows stay borrowed.
//!
//! # Panics
//!
//! A panic that leaves the function leaves [`Fiber::resume`]. The thread's count of panics knows
//! nothing of fibers, so [`suspend`] refuses to work while the thread panics. Fibers are unwound
//! when they are dropped, so a program that has them does not build with `panic = "abort"`.
//!
//! # Overflows
//!
//! Below each stack are pages that fault: 64 KiB on Linux, and one page elsewhere. On unix, the
//! report of such a fault is the fiber's label and the size of its stack, and the process aborts.
//! What is compiled from Rust touches the pages of a large frame one by one. What is compiled from
//! C does so if it is compiled with `-fstack-clash-protection`; without it, a frame that is larger
//! than the guard may step over it.
//!
//! **Invariant:** this crate knows no actors, no runtime and no simulation. It has all `unsafe`
//! that stacks and the switches between them need.

mod label;
mod resume_outcome;
mod stack_error;

// The systems and processors to which `corosensei` has been ported; the same list is in
// `Cargo.toml`. An interpreter has no stacks to switch.
#[cfg_attr(
    not(all(
        not(miri),
        any(unix, windows),
        any(
            target_arch = "x86_64",
            target_arch = "x86",
            all(
                not(windows),
                any(
                    target_arch = "aarch64",
                    target_arch = "riscv32",
                    target_arch = "riscv64",
                    target_arch = "loongarch64",
                    all(target_arch = "powerpc64", target_abi = "elfv2"),
                ),
            ),
            all(target_arch = "arm", not(windows), not(target_vendor = "apple")),
        ),
    )),
    path = "disabled.rs"
)]
mod native;

pub use label::FiberLabel;
pub use native::{Fiber, IS_SUPPORTED, Stack, is_in_fiber, remaining_stack, suspend};
#[doc(hidden)]
pub use native::{is_enclosed, suspend_enclosing};
pub use resume_outcome::ResumeOutcome;
pub use stack_error::StackError;

/// The size of a stack that is enough for most functions, those that format and print among them:
/// 256 KiB. Memory is used only for the part that was touched.
pub const DEFAULT_STACK_SIZE: usize = 256 * 1024;

/// The size of the smallest stack: 64 KiB. Smaller ones are not given, since they would save
/// addresses only, and a panic needs more than 16 KiB to print its backtrace (`RUST_BACKTRACE=1`):
/// it would end the process as an overflow does.
pub const MIN_STACK_SIZE: usize = 64 * 1024;

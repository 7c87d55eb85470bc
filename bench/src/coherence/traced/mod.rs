//! A program that runs on the modelled machine.
//!
//! `tracee` is the program as the system lets us handle it, `machine` runs it, an instruction at a
//! time: `operands` says which memory it uses, `emulate` does it (what that does not know, the
//! processor does), `kernel` answers system calls, `memory` keeps what is in use. `files` and
//! `heap` know what lies where.

mod emulate;
mod files;
mod heap;
mod kernel;
mod machine;
mod memory;
mod operands;
mod tracee;

pub use files::Files;
pub use machine::{Machine, Run};
pub use tracee::{begin, has_fixed_addresses, stay_on_a_core, stop};

//! Instructions and atomic read-modify-writes an operation, which are the same on the noisiest
//! machine.
//!
//! Each [case](cases) runs twice under callgrind, with a small and with a large size and one
//! worker; what the large run has more, divided by the operations that it has more, is the count:
//! start-up and end fall out of it. [`callgrind`] says how often each instruction was executed,
//! [`code`] which of them are atomic read-modify-writes, and [`count`] makes one figure of two
//! runs. [`table`] is the committed file, and the judgement of counts by it.
//!
//! How to use it: `docs/benchmarks.md`, "Instructions".

pub mod callgrind;
pub mod cases;
pub mod code;
pub mod count;
pub mod table;

pub use cases::Case;
pub use count::Count;
pub use table::Table;

//! What things take on the machine that is modelled, in picoseconds.
//!
//! They decide which schedule comes out, and so the counts a little; the time that is predicted
//! hangs on them. Round numbers of a server's processor at 3 GHz; what a transfer takes is an
//! option of the command.

/// A nanosecond.
pub const NANOSECOND: u64 = 1_000;

/// An instruction that waits for nothing: four a cycle.
pub const INSTRUCTION: u64 = 80;

/// A locked instruction on a line that is there, or a full fence.
pub const ATOMIC: u64 = 2_500;

/// The hint of a thread that spins.
pub const PAUSE: u64 = 15 * NANOSECOND;

/// A system call, whatever else it takes.
pub const CALL: u64 = 100 * NANOSECOND;

/// Waking a thread, for the one that wakes it.
pub const WAKE: u64 = 1_000 * NANOSECOND;

/// From then until the woken thread runs on an idle core.
pub const WAKING: u64 = 4_000 * NANOSECOND;

/// Another thread's turn on a core.
pub const SWITCH: u64 = 1_000 * NANOSECOND;

/// A turn, if other threads wait for the core.
pub const TURN: u64 = 3_000_000 * NANOSECOND;

/// Being interrupted for a process-wide barrier; the caller waits for one of these.
pub const INTERRUPT: u64 = 1_000 * NANOSECOND;

/// Looking at the clock.
pub const CLOCK: u64 = 25 * NANOSECOND;

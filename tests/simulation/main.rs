//! Deterministic mode: what it says of programs that it cannot simulate.
//!
//! (What it explores, and how it reports failures: `crates/core/tests`.)

mod determinism;
#[cfg(target_os = "linux")]
mod stalls;

//! Where programs cannot be run step by step here: the twin of `traced`.

use std::path::Path;
use std::rc::Rc;

use anyhow::bail;

use super::tally::Tally;

const ELSEWHERE: &str = "transfers are counted on Linux for x86-64 alone";

/// There are none.
pub enum Machine {}

/// There are none.
pub enum Files {}

/// What a run has found.
pub struct Run {
    /// What moved.
    pub tally: Tally,
    /// The names of what it was.
    pub files: Files,
    /// What the program has printed.
    pub printed: String,
}

impl Machine {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: &Path, _: &[&str], _: usize, _: u64) -> anyhow::Result<Machine> {
        bail!(ELSEWHERE)
    }

    /// Is never called.
    ///
    /// # Errors
    /// None.
    pub fn run(self) -> anyhow::Result<Run> {
        match self {}
    }
}

impl Files {
    /// Is never called.
    pub fn function(&self, _: u64) -> Rc<str> {
        match *self {}
    }

    /// Is never called.
    pub fn data(&self, _: u64) -> Option<(String, u64)> {
        match *self {}
    }
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn begin(_: &[String]) -> anyhow::Result<()> {
    bail!(ELSEWHERE)
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn stop() -> anyhow::Result<()> {
    bail!(ELSEWHERE)
}

/// Does nothing.
///
/// # Errors
/// None.
pub fn stay_on_a_core(_: usize) -> anyhow::Result<()> {
    Ok(())
}

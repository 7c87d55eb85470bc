//! What moved in a run.

use std::collections::HashMap;

use super::lines::Kind;

/// What has been counted.
#[derive(Default)]
pub struct Tally {
    /// Transfers.
    pub moved: HashMap<Moved, u64>,
    /// Instructions of all threads.
    pub instructions: u64,
    /// Barriers that interrupt all cores.
    pub barriers: u64,
    /// Threads that another thread has woken.
    pub wakes: u64,
}

/// What a transfer is counted by.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Moved {
    /// What for.
    pub kind: Kind,
    /// The instruction.
    pub code: u64,
    /// The instruction that wrote the line last.
    pub written_by: Option<u64>,
    /// What lies there.
    pub place: Place,
}

/// A place in memory.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Place {
    /// In an allocated block.
    Heap {
        /// The code that has allocated it.
        allocated_by: u64,
        /// The block's length.
        size: u64,
        /// Where in the block.
        offset: u64,
    },
    /// A static or a stack.
    Other(u64),
}

impl Tally {
    /// Counts one.
    pub fn add(&mut self, moved: Moved) {
        *self.moved.entry(moved).or_default() += 1;
    }

    /// All transfers of a kind.
    pub fn transfers(&self, kind: Kind) -> u64 {
        let of_kind = self.moved.iter().filter(|(moved, _)| moved.kind == kind);
        of_kind.map(|(_, count)| count).sum()
    }
}

//! Ranks the cowns of a run by the order of their creation, since their addresses differ between
//! runs.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// The cowns and leaders of groups that a run has created, by address.
#[derive(Default)]
pub(super) struct CreationOrder(RefCell<CreationRanks>);

#[derive(Default)]
struct CreationRanks {
    /// A later cown at the same address replaces an earlier one.
    of: BTreeMap<usize, usize>,
    last: usize,
}

impl CreationRanks {
    fn next(&mut self) -> usize {
        self.last += 1;
        self.last
    }
}

impl CreationOrder {
    pub(super) fn made(&self, cown: usize) {
        let mut known = self.0.borrow_mut();
        let next = known.next();
        known.of.insert(cown, next);
    }

    /// Returns the rank of a cown, if it has one.
    pub(super) fn find(&self, cown: usize) -> Option<usize> {
        self.0.borrow().of.get(&cown).copied()
    }

    /// A cown created before the run ranks behind those asked for earlier.
    pub(super) fn of(&self, cown: usize) -> usize {
        let mut known = self.0.borrow_mut();
        if let Some(rank) = known.of.get(&cown) {
            return *rank;
        }
        let next = known.next();
        known.of.insert(cown, next);
        next
    }
}

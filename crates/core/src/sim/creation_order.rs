//! The order of cowns in a run: that in which they are made. Their addresses would differ from one run to the next.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// The cowns, and leaders of groups, that a run has made, by address.
#[derive(Default)]
pub(super) struct CreationOrder(RefCell<Known>);

#[derive(Default)]
struct Known {
    /// Whoever had an address before is gone.
    of: BTreeMap<usize, usize>,
    last: usize,
}

impl Known {
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

    /// One that was made before the run comes behind those that were looked at.
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

//! The table by itself: it follows no pointer of a cown of other runtimes. Tables are never freed,
//! like their rows.

use std::ptr::NonNull;

use super::{BATCH, CownTable, ROW, TableEntry};
use crate::queue::live_cown::LiveCown;
use crate::runtime_ids::RuntimeId;

/// A nonexistent cown.
fn cown(number: usize) -> LiveCown {
    let cown = NonNull::new(std::ptr::without_provenance_mut((number + 1) * 64)).unwrap();
    // SAFETY: it is never dereferenced.
    unsafe { LiveCown::new(cown) }
}

fn take(table: &CownTable) -> Vec<&'static TableEntry> {
    let mut entries = Vec::new();
    table.take_spare(&mut entries);
    entries
}

fn rows(table: &CownTable) -> usize {
    table.rows.lock().len()
}

#[test]
fn entries_are_used_again() {
    static TABLE: CownTable = CownTable::new();
    let home = RuntimeId::from_raw(7);
    for round in 0..3 {
        let mut taken: Vec<_> = (0..ROW / BATCH).flat_map(|_| take(&TABLE)).collect();
        assert_eq!((taken.len(), rows(&TABLE)), (ROW, 1), "round {round}");
        for (number, entry) in taken.iter().enumerate() {
            entry.fill(cown(number), home);
        }
        taken.iter().for_each(|entry| TABLE.empty(entry));
        TABLE.give_spare(taken.drain(..));
    }
}

#[test]
fn no_entry_is_given_to_two() {
    static TABLE: CownTable = CownTable::new();
    let mut taken: Vec<_> = (0..3 * ROW / BATCH).flat_map(|_| take(&TABLE)).collect();
    assert_eq!(rows(&TABLE), 3);
    taken.sort_unstable_by_key(|entry| std::ptr::from_ref(*entry).addr());
    assert!(taken.windows(2).all(|two| !std::ptr::eq(two[0], two[1])));
}

#[test]
fn cowns_of_other_runtimes_are_not_touched() {
    static TABLE: CownTable = CownTable::new();
    for (number, entry) in take(&TABLE).into_iter().enumerate() {
        entry.fill(cown(number), RuntimeId::from_raw(7));
    }
    assert!(
        TABLE
            .find(&[crate::sched::runtime_handle::RuntimeHandle(RuntimeId::from_raw(8))])
            .is_empty()
    );
}

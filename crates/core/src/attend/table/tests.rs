//! The shard by itself: it follows no pointer.

use super::{KEPT, NOWHERE, Shard};
use crate::cown::header::CownHeader;
use crate::runtime::RuntimeId;
use std::ptr::NonNull;

/// The table follows no pointer by itself.
fn cown(number: usize) -> NonNull<CownHeader> {
    NonNull::new(std::ptr::without_provenance_mut((number + 1) * 64)).unwrap()
}

#[test]
fn free_entries_are_used_again() {
    let mut shard = Shard::new();
    let home = RuntimeId::from_raw(7);
    let entries: Vec<_> = (0..4).map(|number| shard.insert(cown(number), home)).collect();
    assert_eq!(entries, [0, 1, 2, 3]);
    shard.remove(1);
    shard.remove(3);
    assert_eq!(shard.homes[1], RuntimeId::NONE);
    assert_eq!([shard.insert(cown(8), home), shard.insert(cown(9), home)], [3, 1]);
    assert_eq!(shard.insert(cown(10), home), 4);
    assert_eq!(shard.cowns[1], cown(9).as_ptr());
}

#[test]
fn a_large_table_is_given_back_when_it_is_empty() {
    let mut shard = Shard::new();
    let home = RuntimeId::from_raw(1);
    let entries: Vec<_> = (0..=KEPT).map(|number| shard.insert(cown(number), home)).collect();
    entries.into_iter().for_each(|entry| shard.remove(entry as usize));
    assert_eq!((shard.cowns.capacity(), shard.homes.capacity(), shard.free), (0, 0, NOWHERE));
    assert_eq!(shard.insert(cown(1), home), 0);
}

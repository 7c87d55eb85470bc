//! What happens to counts that only leaked handles could make as large.

use coact_sync::shim::atomic::AtomicU64;

use super::{HandleCounts, MAX, ONE_WEAK};
use crate::tests::assert_aborts;

/// Counts as they are when all but one of the handles that are allowed exist.
fn almost_full() -> HandleCounts {
    HandleCounts(AtomicU64::new((MAX * ONE_WEAK) | MAX))
}

#[test]
fn a_strong_handle_too_many_aborts() {
    let counts = almost_full();
    counts.add();
    assert_eq!(counts.strong() as u64, MAX + 1);
    let test = concat!(module_path!(), "::a_strong_handle_too_many_aborts");
    assert_aborts(test, || counts.add());
}

#[test]
fn a_weak_handle_too_many_aborts() {
    let counts = almost_full();
    counts.add_weak();
    assert_eq!(counts.strong() as u64, MAX);
    assert_aborts(concat!(module_path!(), "::a_weak_handle_too_many_aborts"), || counts.add_weak());
}

#[test]
fn an_upgrade_too_many_aborts() {
    let counts = almost_full();
    assert!(counts.retain());
    let test = concat!(module_path!(), "::an_upgrade_too_many_aborts");
    assert_aborts(test, || _ = counts.retain());
}

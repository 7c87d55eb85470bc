//! What happens to counts that only leaked guards could make as large.

use coact_sync::shim::atomic::AtomicU64;

use super::{BEGUN, MAX, OutstandingWork};
use crate::tests::assert_aborts;

#[test]
fn a_guard_too_many_aborts() {
    let outstanding = OutstandingWork(AtomicU64::new(3 * BEGUN + u64::from(MAX)));
    outstanding.begin_guard();
    assert_eq!((outstanding.current(), outstanding.begun()), (MAX + 1, 4));
    let test = concat!(module_path!(), "::a_guard_too_many_aborts");
    assert_aborts(test, || outstanding.begin_guard());
}

#[test]
fn what_has_begun_is_counted_after_its_end() {
    let outstanding = OutstandingWork::new();
    outstanding.begin();
    outstanding.begin_guard();
    assert!(!outstanding.end());
    assert!(outstanding.end());
    assert_eq!((outstanding.current(), outstanding.begun()), (0, 2));
}

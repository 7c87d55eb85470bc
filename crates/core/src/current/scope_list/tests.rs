//! What is lent, and who sees it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{from_ref, null};
use std::sync::Arc;

use coact_sync::current_stack::{StackState, set_current};

use super::{EntryGuard, ScopeEntry};
use crate::current::{NestedBody, on_behalf_of, principal, scoped, with_scoped};

/// The number that is lent here.
fn lent() -> Option<u32> {
    scoped(|value| value.and_then(|value| value.downcast_ref().copied()))
}

#[test]
fn a_value_is_seen_until_its_call_ends() {
    assert_eq!(lent(), None);
    with_scoped(&1_u32, || {
        assert_eq!(lent(), Some(1));
        with_scoped(&2_u32, || assert_eq!(lent(), Some(2)));
        assert_eq!(lent(), Some(1));
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            with_scoped(&3_u32, || panic!("it ends like this"));
        }));
        assert!(unwound.is_err());
        assert_eq!(lent(), Some(1));
    });
    assert_eq!(lent(), None);
}

#[test]
fn a_body_that_is_called_inline_sees_nothing_of_its_callers() {
    with_scoped(&1_u32, || {
        on_behalf_of(&(Arc::new(()) as _), || {
            let nested = NestedBody::enter();
            assert_eq!(lent(), None);
            assert!(principal().is_none());
            with_scoped(&2_u32, || assert_eq!(lent(), Some(2)));
            drop(nested);
            assert_eq!(lent(), Some(1));
            assert!(principal().is_some());
        });
    });
}

#[test]
fn what_is_lent_on_one_stack_is_not_seen_on_another() {
    let other = StackState::new();
    // SAFETY: the state outlives the frames that are said to be on its stack, and is the current
    // one only as long as they run.
    let switch = |to: *const StackState| unsafe { set_current(to) };
    with_scoped(&1_u32, || {
        let own = switch(&raw const other);
        assert_eq!(lent(), None);
        with_scoped(&2_u32, || {
            on_behalf_of(&(Arc::new(()) as _), || {
                assert_eq!(lent(), Some(2));
                assert!(principal().is_some());
                switch(own);
                assert_eq!(lent(), Some(1));
                assert!(principal().is_none());
                switch(&raw const other);
            });
        });
        assert_eq!(lent(), None);
        switch(own);
        assert_eq!(lent(), Some(1));
    });
}

#[test]
fn entries_leave_their_list_in_any_order() {
    let entry = |older: *const ()| ScopeEntry { value: None, bodies: 0, older: Cell::new(older) };
    let place = |entry: &ScopeEntry| from_ref(entry).cast::<()>();
    let first = entry(null());
    let second = entry(place(&first));
    let third = entry(place(&second));
    let newest = Cell::new(place(&third));
    drop(EntryGuard { newest: &newest, entry: &second });
    assert_eq!((newest.get(), third.older.get()), (place(&third), place(&first)));
    drop(EntryGuard { newest: &newest, entry: &first });
    assert_eq!((newest.get(), third.older.get()), (place(&third), null()));
    drop(EntryGuard { newest: &newest, entry: &third });
    assert!(newest.get().is_null());
}

//! What is lent, and who sees it.

use crate::current::{NestedBody, on_behalf_of, principal, scoped, with_scoped};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

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

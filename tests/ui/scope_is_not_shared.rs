//! Two behaviours of a scope may run at the same time: they cannot both change one borrow.

use coact::prelude::*;

fn main() {
    let (a, b, mut last) = (Cown::new(1), Cown::new(2), 0);
    scope(|s| {
        s.when(&a, |n| last = *n);
        s.when(&b, |n| last = *n);
    });
    assert!(last > 0);
}

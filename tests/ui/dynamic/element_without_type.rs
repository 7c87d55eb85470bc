//! Tuples have elements of any types, so that a pattern says which.

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        ("push", x) => drop(x),
    };
}

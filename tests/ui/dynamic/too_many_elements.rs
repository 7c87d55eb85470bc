//! Tuples have up to twelve elements.

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13) => (),
    };
}

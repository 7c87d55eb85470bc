//! Cases with the same types are one `match`.

#![deny(unreachable_patterns)]

use coact::dynamic::{Cases, atom, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        (atom!("add"), _: i32) => (),
        (atom!("sub"), _: i32) => (),
        (atom!("add"), 5) => (),
    };
}

//! Cases own what they bind.

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        (ref x: i32) => drop(x),
    };
}

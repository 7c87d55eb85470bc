//! It would not be clear where the second begins.

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        (.., _: i32, ..) => (),
    };
}

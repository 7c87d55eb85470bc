//! Patterns of tuples are in parentheses.

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        "push" => (),
    };
}

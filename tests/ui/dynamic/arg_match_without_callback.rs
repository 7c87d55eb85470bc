//! `arg_match` has its types from a callback.

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        ("add", arg_match) => (),
    };
}

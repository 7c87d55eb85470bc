//! `after` is what is done if none of the cases is.

use std::time::Duration;

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        after Duration::from_secs(1) => (),
        (_: i32) => (),
    };
}

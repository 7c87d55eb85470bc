//! A callback runs at once.

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), i32> = cases! {
        (_: i32) >> async |n: i32| n + 1,
    };
}

//! A guard needs the names of the pattern.

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        (x: i32) if x > 0 >> |_: i32| (),
    };
}

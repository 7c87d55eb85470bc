//! A callback has the elements of its pattern.

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        (_: i32, ..) >> |_: i32, _: i32| (),
    };
}

//! Arguments are skipped on the left only.

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        (_: i32, _: i32, _: f32) >> |_: i32| (),
    };
}

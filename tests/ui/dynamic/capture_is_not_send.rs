//! Cases go where their actor goes.

use std::rc::Rc;

use coact::dynamic::{Cases, cases};

fn main() {
    let count = Rc::new(1);
    let _: Cases<'_, (), i32> = cases! {
        (n: i32) => n + *count,
    };
}

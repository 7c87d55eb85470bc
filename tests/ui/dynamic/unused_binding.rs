//! What is bound should be used.

#![deny(unused_variables)]

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        (n: i32) => (),
    };
}

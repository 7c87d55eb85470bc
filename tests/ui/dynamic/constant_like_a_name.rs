//! What binds is a name, and constants have capitals.

#![allow(non_upper_case_globals, unreachable_patterns)]

use coact::dynamic::{Cases, cases};

const limit: i32 = 5;

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        (limit: i32) => (),
        (_: i32) => (),
    };
}

//! An actor outlives what its cases would borrow.

use coact::dynamic::{Cases, cases};

/// As actors need them, which outlive the code that makes them.
fn behave(_: Cases<'static, (), ()>) {}

fn main() {
    let local = 5;
    let seen = &local;
    behave(cases! {
        (n: i32) if n == *seen => (),
    });
}

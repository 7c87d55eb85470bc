//! A reader gets a shared reference.

use coact::prelude::*;

fn main() {
    let balance = Cown::new(100);
    when(balance.read(), |balance| *balance += 1);
}

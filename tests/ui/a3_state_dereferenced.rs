//! A handle is no pointer to the state.

use coact::prelude::*;

fn main() {
    let balance = Cown::new(100);
    *balance += 1;
}

//! Readers run in parallel: a state that is read must be `Sync`.

use std::cell::Cell;

use coact::prelude::*;

fn main() {
    let counter = Cown::new(Cell::new(0));
    when(counter.read(), |counter| counter.set(1));
}

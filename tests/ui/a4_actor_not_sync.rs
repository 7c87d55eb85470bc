//! Readers run in parallel: an actor that is read must be `Sync`. What is wrong is told once.

use std::cell::Cell;

use coact::prelude::*;

struct Counter(Cell<u32>);

impl Actor for Counter {}

fn main() {
    let counter = spawn(Counter(Cell::new(0)));
    when(counter.read(), |counter| counter.0.set(1));
    let all = [counter];
    when(read_all(&all), |_| ());
}

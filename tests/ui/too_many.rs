//! Tuples go up to eight; beyond that there are slices and nested tuples.

use coact::prelude::*;

fn main() {
    let c = Cown::new(1);
    when((&c, &c, &c, &c, &c, &c, &c, &c, &c), |_| ());
}

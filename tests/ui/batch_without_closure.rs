//! What is filled elsewhere is a `Batch`.

use coact::prelude::*;

fn main() {
    let a = Cown::new(1);
    batch().when(&a, |a| *a += 1).spawn();
}

//! The closure of `batch` returns the batch.

use coact::prelude::*;

fn main() {
    let (a, b) = (Cown::new(1), Cown::new(2));
    batch(|batch| {
        batch.when(&a, |a| *a += 1);
        batch.when(&b, |b| *b += 1);
    });
}

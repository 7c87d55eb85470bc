//! A scoped behaviour cannot borrow what does not outlive its scope.

use coact::prelude::*;

fn main() {
    let cown = Cown::new(1);
    scope(|s| {
        let mut inside = 0;
        s.when(&cown, |n| inside = *n);
    });
}

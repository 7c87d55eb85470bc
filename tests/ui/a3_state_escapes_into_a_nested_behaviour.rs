//! A nested behaviour runs after its spawner has let its cowns go.

use coact::prelude::*;

fn main() {
    let (a, b) = (Cown::new(1), Cown::new(2));
    when(&a, move |a| {
        when(&b, move |b| *b += *a);
    });
}

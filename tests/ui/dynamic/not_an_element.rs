//! A type says that it is an element.

use coact::dynamic::AnyTuple;

#[derive(Clone, Debug)]
struct Point;

fn main() {
    let _ = AnyTuple::new(("move", Point));
}

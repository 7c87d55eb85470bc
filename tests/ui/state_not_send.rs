//! The state of a cown goes from worker to worker: it must be `Send`.

use std::rc::Rc;

use coact::prelude::*;

fn main() {
    let _shared = Cown::new(Rc::new(3));
}

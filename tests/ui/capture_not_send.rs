//! A behaviour runs on any worker: what it captures must be `Send`.

use std::rc::Rc;

use coact::prelude::*;

fn main() {
    let fee = Rc::new(3);
    let balance = Cown::new(100);
    when(&balance, move |balance| *balance -= *fee);
}

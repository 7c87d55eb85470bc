//! A behaviour may run when its spawner is gone: it cannot borrow from it.

use coact::prelude::*;

fn main() {
    let fee = 3;
    let balance = Cown::new(100);
    when(&balance, |balance| *balance -= fee);
}

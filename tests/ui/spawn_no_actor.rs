//! A state that is no actor.

use coact::prelude::*;

struct Account(i64);

fn main() {
    spawn(Account(7));
}

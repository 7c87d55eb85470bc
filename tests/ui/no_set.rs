//! A set is made of cowns.

use coact::prelude::*;

fn main() {
    let number = 3;
    when(&number, |_| ());
}
